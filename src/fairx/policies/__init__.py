"""One algorithm per module, its code in the order of the paper's pseudo-code."""

from .base import Kernel, Policy
from .eg import EG
from .ellipsoid import Ascent
from .exposing import Scoring, SlatePolicy
from .fair_eg import FairXEG
from .fair_lin_eg import FairXLinEG
from .fair_lin_ts import FairXLinTS
from .fair_lin_ucb import FairXLinUCB
from .fair_logistic_ts import FairXLogisticTS
from .fair_logistic_ucb import FairXLogisticUCB
from .fair_ts import FairXTS
from .fair_ucb import FairXUCB
from .fixed import OptimalFair, Uniform
from .gradient import Gradient
from .intervals import Bernstein, Hoeffding, KullbackLeibler
from .lin_eg import LinEG
from .lin_ts import LinTS
from .lin_ucb import LinUCB
from .optimism import Exact
from .radius import Confidence, Constant
from .ts import TS
from .ucb import UCB

__all__ = [
    "EG",
    "TS",
    "UCB",
    "Ascent",
    "Bernstein",
    "Confidence",
    "Constant",
    "Exact",
    "FairXEG",
    "FairXLinEG",
    "FairXLinTS",
    "FairXLinUCB",
    "FairXLogisticTS",
    "FairXLogisticUCB",
    "FairXTS",
    "FairXUCB",
    "Gradient",
    "Hoeffding",
    "Kernel",
    "KullbackLeibler",
    "LinEG",
    "LinTS",
    "LinUCB",
    "OptimalFair",
    "Policy",
    "Scoring",
    "SlatePolicy",
    "Uniform",
]
