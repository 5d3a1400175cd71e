"""Gradient descent by plain steps."""
