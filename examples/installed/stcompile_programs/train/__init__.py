"""The trainer: data sets, batches, the training loop and its reports.

It knows a model only as a training step (`Step`) and a function whose outputs a metric judges, so
that it trains whatever `stcompile.transforms.train_step` compiles. Its dependences beyond NumPy are
installed by ``pip install "stcompile[train]"``, and imported only when they are used.
"""

from stcompile_programs.train.checkpoint import CheckpointError
from stcompile_programs.train.data import DataSet, load
from stcompile_programs.train.keeper import Checkpoints
from stcompile_programs.train.loop import DivergedError, train
from stcompile_programs.train.metric import ACCURACY, RECONSTRUCTION_ERROR, Metric
from stcompile_programs.train.options import TrainingOptions, choice, count, pixels_per_step
from stcompile_programs.train.pictures import write_pairs
from stcompile_programs.train.program import Program, program, run
from stcompile_programs.train.results import Epoch, Results
from stcompile_programs.train.state import Step
from stcompile_programs.train.team import Team

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
