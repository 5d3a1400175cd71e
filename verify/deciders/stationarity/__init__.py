"""Is the network a Clarke KKT point, exactly or nearly?"""

from verify.deciders.stationarity.deciding import exact_hidden_point, exactly_refuted, stationarity

__all__ = ["exact_hidden_point", "exactly_refuted", "stationarity"]
