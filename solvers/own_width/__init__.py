"""The best networks of a given width, both layers trained: branch and bound over states of the neurons."""
