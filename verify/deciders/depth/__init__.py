"""Networks of any depth and with shared weights: what is searched in floats, for `verify.checker.depth` to decide."""
