"""Is the network a Clarke KKT point, exactly or nearly?"""
