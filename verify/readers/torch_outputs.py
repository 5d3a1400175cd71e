"""What a module computes on a few points, compared with what was read: a guard against what a recorded graph misses.

A graph is recorded with stand-ins for the inputs, and a forward may go another way for these than for tensors.
"""

from __future__ import annotations

import warnings
from typing import Any

from verify.readers.chains import Chain

POINTS = 16
TOLERANCE, COARSE_TOLERANCE = 1e-3, 0.05  # of the sum of the sizes of all terms; coarse for 16 bits and quantisation


def agrees(module: Any, chain: Chain, torch: Any) -> bool:
    """Whether the module computes what the chain does, to float rounding; True when it takes no points in rows."""
    parameters = [tensor for tensor in (*module.parameters(), *module.buffers()) if tensor.is_floating_point()]
    like = parameters[0] if parameters else torch.zeros(())
    inputs = chain.layers[0].shape[1]
    points = torch.randn(POINTS, inputs, generator=torch.Generator().manual_seed(0)).to(like)
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = module(points.reshape(POINTS, *(chain.input_shape or (inputs,))))
    except Exception:  # noqa: BLE001 (the forward runs, whatever it does; it may want images, or points in columns)
        return True
    expected = _outputs(chain, points.double().cpu(), torch)
    if not isinstance(found, torch.Tensor) or found.numel() != expected.numel():
        return True
    if not bool(torch.isfinite(found).all() and torch.isfinite(expected).all()):
        return True  # which weight it is, is said later
    size = _outputs(chain, points.double().cpu(), torch, is_size=True).max()
    is_coarse = found.dtype in (torch.float16, torch.bfloat16) or any("quantisation" in note for note in chain.notes)
    allowed = (COARSE_TOLERANCE if is_coarse else TOLERANCE) * max(float(size), 1e-300)
    return bool((found.double().cpu().reshape(expected.shape) - expected).abs().max() <= allowed)


def _outputs(chain: Chain, values: Any, torch: Any, *, is_size: bool = False) -> Any:
    """The outputs of the chain, in double precision; or the sums of the sizes of all terms in them."""
    for layer, slope in zip(chain.layers, (*(chain.slopes or ()), 1), strict=True):
        weights, bias = (
            torch.tensor([[float(number) for number in row] for row in rows], dtype=torch.float64)
            for rows in (layer.weights, [layer.bias or [0] * len(layer.weights)])
        )
        if is_size:
            values = values.abs() @ weights.abs().T + bias.abs()
        else:
            values = values @ weights.T + bias
            values = torch.where(values > 0, values, float(slope) * values)
    if is_size:
        return values.clamp(min=1) if chain.head else values
    heads = {"Sigmoid": torch.sigmoid, "Softmax": lambda z: z.softmax(1), "LogSoftmax": lambda z: z.log_softmax(1)}
    return heads[chain.head](values) if chain.head else values
