"""Inputs from bits, and evaluations from raw outputs as `network/decoding.py` has them in numpy."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

from tengen.features.feature_set import FeatureSet
from tengen.features.kernels.katago import SUPERKO, TERRITORY
from tengen.network.decoding import score_numbers
from tengen.network.network_data import Scaling
from tengen.network.torch.model import Outputs


def unpack_inputs(
    features: FeatureSet, bits: Tensor, packed: Tensor, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Planes and globals from bits[batch, height, width] of int32 and packed[batch, globals].

    As `FeatureSet.unpacked`, on the device of the tensors. The planes of a point are next to each
    other in memory (channels last), as convolutions want. Nothing is copied from the host, so that
    a CUDA graph can hold it.
    """
    shifts = torch.arange(len(features.planes), dtype=bits.dtype, device=bits.device)
    planes = ((bits[..., None] >> shifts) & 1).to(dtype)  # [batch, height, width, planes]
    own = len(features.globals)
    if features.uniform:
        numbers = torch.ones(len(bits), len(features.planes), dtype=dtype, device=bits.device)
        for k, plane in enumerate(features.uniform_planes):
            numbers[:, plane] = packed[:, own + k]
        planes = planes * numbers[:, None, None]
    return planes.permute(0, 3, 1, 2), packed[:, :own]


def decode(outputs: Outputs, globals_: Tensor, scaling: Scaling) -> tuple[Tensor, Tensor, Tensor]:
    """Turn outputs into probabilities and points as the numpy `decode` does, without ownership.

    Returns policy [batch, moves], value [batch, 3] and [6, batch] of score, spread, lead, variance
    time, value error and score error.
    """
    logits = outputs.value.float()
    never = torch.zeros_like(logits)
    if globals_.shape[1] > SUPERKO:  # other feature sets do not include the rules
        decided = (globals_[:, SUPERKO] > 0) & (globals_[:, TERRITORY] == 0)
        never[:, 2] = torch.where(decided, -torch.inf, 0.0)
    value = torch.softmax(logits + never, 1)
    numbers = score_numbers(outputs.score.float(), 1 - value[:, 2], scaling, softplus)
    return outputs.policy[:, 0].float(), value, torch.stack(numbers)
