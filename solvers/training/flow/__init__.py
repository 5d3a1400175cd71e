"""Gradient flow to its limit, along kinks where it slides."""
