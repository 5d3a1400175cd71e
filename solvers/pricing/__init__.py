"""Pricing: the largest value of |h(u)| on the unit ball, with a proof tree."""
