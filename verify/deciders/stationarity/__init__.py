"""Is the network a Clarke KKT point, exactly or nearly?"""

from verify.deciders.stationarity.deciding import exactly_refuted, stationarity

__all__ = ["exactly_refuted", "stationarity"]
