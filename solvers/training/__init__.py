"""Training as the papers did it: losses, initialisations, descent and flow."""
