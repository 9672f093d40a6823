"""Send the metrics of a training run to Weights & Biases, or to any other service.

    pip install wandb
    python examples/metrics_to_wandb.py RUN --minutes 30

A run calls each of its observers with every line of metrics.jsonl. TensorBoard needs no observer:
`tensorboard --logdir RUN`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict

import wandb

from tengen.runs.params import RunConfig, RunParams, Session
from tengen.runs.run import train

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", help="folder of the run, new or old")
    parser.add_argument("--minutes", type=float, default=30.0)
    arguments = parser.parse_args()

    config = RunConfig(run=RunParams(minutes=arguments.minutes))
    logger = wandb.init(project="tengen", config=asdict(config))

    def log(step: int, metrics: Mapping[str, float]) -> None:
        logger.log(dict(metrics), step=step)

    train(arguments.run, config, Session(observers=(log,)))
