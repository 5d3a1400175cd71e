"""How many neurons does it take: does a width fit at all, and the best objective at each width, with proofs."""

from verify.widths.curve import WidthCurve, optimum_at_width, width_curve
from verify.widths.point import WidthPoint

__all__ = ["WidthCurve", "WidthPoint", "optimum_at_width", "width_curve"]
