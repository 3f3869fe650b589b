"""Fair bandits of others, for comparison: each as its paper, or the code of its authors, has it."""

from .boltzmann import Boltzmann
from .calibrated import SDTS
from .chaining import Chaining
from .delayed import DelayedFairXUCB
from .delayed_ts import DelayedFairXTS
from .exp3 import Exp3
from .fair_calibrated import FairSDTS
from .fair_learn import FairLearn
from .nash import NashUCB
from .revenue import GuaranteedRevenue

__all__ = [
    "SDTS",
    "Boltzmann",
    "Chaining",
    "DelayedFairXTS",
    "DelayedFairXUCB",
    "Exp3",
    "FairLearn",
    "FairSDTS",
    "GuaranteedRevenue",
    "NashUCB",
]
