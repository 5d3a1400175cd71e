"""Convex programs of one shape each: linear, conic, restricted to activation patterns."""
