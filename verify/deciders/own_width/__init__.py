"""The best networks of a width: a bracket with certificates, better networks, or a proof that none is better."""
