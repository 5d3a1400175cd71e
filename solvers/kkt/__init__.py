"""KKT points in floats: how nearly a network is one, and the way down to one."""
