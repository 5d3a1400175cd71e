"""One layer of a network by itself, the others as they are: a local optimum, or a global one?"""
