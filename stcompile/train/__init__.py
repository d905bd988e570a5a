"""The trainer: data sets, batches, the training loop and its reports.

It knows a model only as a training step (`Step`) and a function whose outputs a metric judges, so
that it trains whatever `stcompile.transforms.train_step` compiles. Its dependences beyond NumPy are
installed by ``pip install "stcompile[train]"``, and imported only when they are used.
"""

from stcompile.train.checkpoint import CheckpointError
from stcompile.train.data import DataSet, load
from stcompile.train.keeper import Checkpoints
from stcompile.train.loop import DivergedError, train
from stcompile.train.metric import ACCURACY, RECONSTRUCTION_ERROR, Metric
from stcompile.train.options import TrainingOptions, choice, count, pixels_per_step
from stcompile.train.pictures import write_pairs
from stcompile.train.program import Program, program, run
from stcompile.train.results import Epoch, Results
from stcompile.train.state import Step
from stcompile.train.team import Team

__all__ = [
    "ACCURACY",
    "RECONSTRUCTION_ERROR",
    "CheckpointError",
    "Checkpoints",
    "DataSet",
    "DivergedError",
    "Epoch",
    "Metric",
    "Program",
    "Results",
    "Step",
    "Team",
    "TrainingOptions",
    "choice",
    "count",
    "load",
    "pixels_per_step",
    "program",
    "run",
    "train",
    "write_pairs",
]
