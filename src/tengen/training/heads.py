"""Heads that only training looks at: more to learn from each position makes better trunks."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from tengen.network.architecture import Architecture
from tengen.network.torch.blocks import apply, convolution
from tengen.network.torch.model import Network, Outputs, PolicyHead, with_pass
from tengen.replay.rows import HORIZONS


class TrainingOutputs(NamedTuple):
    """What a network says besides its outputs while it learns, for the side to play."""

    reply: Tensor  # [batch, height * width + 1] logits of the opponent's next move
    soft_policy: Tensor  # [batch, height * width + 1] logits of the policy target made flatter
    soft_reply: Tensor  # [batch, height * width + 1] logits of the reply target made flatter
    short_term_value: Tensor  # [batch, HORIZONS, 3] logits of win, loss and no result
    short_term_score: Tensor  # [batch, HORIZONS] in the units of the score output


class TrainingNetwork(nn.Module):
    """A network with its training heads; `network` alone is what plays."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        a = architecture
        self.network = Network(a)
        self.policies = convolution(a.policy_mid, 3, 1)
        self.passes = nn.Linear(3 * a.policy_pool, 3, bias=False)
        self.values = nn.Linear(a.value_hidden, HORIZONS * 3)
        self.scores = nn.Linear(a.value_hidden, HORIZONS)

    def forward(self, planes: Tensor, globals: Tensor) -> tuple[Outputs, TrainingOutputs]:  # noqa: A002
        """All outputs; the trunk and what the heads share is computed once."""
        network = self.network
        x, boards = network.trunk(planes, globals)
        policy, value = network.policy, network.value
        assert isinstance(policy, PolicyHead)
        seen, pooled = policy.look(x, boards)
        inner, hidden = value.look(x, boards)
        with torch.autocast(x.device.type, enabled=False):  # as they are computed for playing
            outputs = Outputs(policy.logits(seen, pooled), *value.answers(inner, hidden))
            policies = with_pass(apply(self.policies, seen), apply(self.passes, pooled))
            values = apply(self.values, hidden).view(-1, HORIZONS, 3)
            scores = apply(self.scores, hidden)
        reply, soft_policy, soft_reply = torch.unbind(policies, 1)
        return outputs, TrainingOutputs(reply, soft_policy, soft_reply, values, scores)
