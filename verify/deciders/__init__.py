"""Floats guess, rationals are written, the checker accepts: one folder for each question."""
