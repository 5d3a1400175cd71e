"""Does the network fit: exactly, within a tolerance, or after a repair?"""
