"""Inputs as a network takes them, from the bits in which they are stored and sent."""

from __future__ import annotations

import torch
from torch import Tensor

from tengen.features.feature_set import FeatureSet


def unpacked(
    features: FeatureSet, bits: Tensor, packed: Tensor, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Planes and globals from bits[batch, height, width] of int32 and packed[batch, globals].

    As `FeatureSet.unpacked`, on the device of the tensors. The planes of a point are next to each
    other in memory (channels last), as convolutions like it. Nothing is copied from the host, so
    that a CUDA graph can hold it.
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
