"""Exact KKT points near trained networks: from floats to a box that holds one."""

from verify.deciders.enclosure.enclosing import Nearby, Sought, nearby_point

__all__ = ["Nearby", "Sought", "nearby_point"]
