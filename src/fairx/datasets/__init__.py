"""Multi-label data sets: rows of features, and for each label whether the row has it."""

from .dataset import Dataset
from .fetching import fetch
from .known import KNOWN, Known, names, path_of
from .loading import load
from .splitting import split

__all__ = ["KNOWN", "Dataset", "Known", "fetch", "load", "names", "path_of", "split"]
