"""Small architectures, and boards for them."""

from __future__ import annotations

import torch
from torch import Tensor

SMALL = ["b2c32", "b2c32nbt", "b1c32h2tf"]


def random_boards(batch: int, height: int, width: int) -> tuple[Tensor, Tensor]:
    planes = torch.randint(0, 2, (batch, 22, height, width)).float()
    planes[:, 0] = 1
    return planes, torch.randn(batch, 19)
