"""Files of users: read with care, written wholly or not at all."""
