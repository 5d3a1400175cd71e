"""Lower bounds for networks whose output weights are given, in floats: the relaxation of a state."""
