"""The best value of any network: a certified bracket, better networks, or a proof that none fits."""
