"""Problems in which only the hidden layer is trained: for given output weights each choice of sides is a convex program
in the hidden weights, with a rational optimum.

Source: `docs/mathematics.md`, 12 "Own width, and only the hidden layer trained".
"""
