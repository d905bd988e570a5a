"""The trainer: data sets, batches, the training loop and its reports.

It knows a model only as a training step (`Step`) and a function that gives class scores, so that
it trains whatever `stcompile.train_step` compiles. What it needs beyond NumPy is installed by
``pip install "stcompile[train]"``, and imported only when it is used.
"""

from stcompile.train.data import DataSet, load
from stcompile.train.initialise import glorot_uniform
from stcompile.train.loop import DivergedError, Step, train
from stcompile.train.options import TrainingOptions, at_least, parse, positive, training_parser
from stcompile.train.program import program, run
from stcompile.train.results import Epoch, Results

__all__ = [
    "DataSet",
    "DivergedError",
    "Epoch",
    "Results",
    "Step",
    "TrainingOptions",
    "at_least",
    "glorot_uniform",
    "load",
    "parse",
    "positive",
    "program",
    "run",
    "train",
    "training_parser",
]
