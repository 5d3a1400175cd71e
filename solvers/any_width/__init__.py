"""The best value that networks of any width can reach: the outer loop and its master problem."""
