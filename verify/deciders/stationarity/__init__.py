"""Is the network a Clarke KKT point, exactly or nearly?"""

from verify.deciders.stationarity.deciding import exact_hidden_point, exactly_refuted, stationarity
from verify.deciders.stationarity.losses import loss_refuted_exactly, loss_stationarity

__all__ = ["exact_hidden_point", "exactly_refuted", "loss_refuted_exactly", "loss_stationarity", "stationarity"]
