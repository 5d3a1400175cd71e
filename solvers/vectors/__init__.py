"""Networks with several outputs: convex programs on fixed directions, pricing of vectors, fans."""
