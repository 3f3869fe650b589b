"""One algorithm per module, its code in the order of the paper's pseudo-code."""

from .base import Kernel, Policy
from .beta_ts import BetaTS
from .discounted import Discounted
from .discounted_ridge import DiscountedRidge
from .eg import EG
from .ellipsoid import Ascent
from .exposing import Scoring, SlatePolicy
from .fair_beta_ts import FairXBetaTS
from .fair_eg import FairXEG
from .fair_gamma_ts import FairXGammaTS
from .fair_gradient import FairXGradient
from .fair_lin_eg import FairXLinEG
from .fair_lin_ts import FairXLinTS
from .fair_lin_ucb import FairXLinUCB
from .fair_logistic_ts import FairXLogisticTS
from .fair_logistic_ucb import FairXLogisticUCB
from .fair_ts import FairXTS
from .fair_ucb import FairXUCB
from .fixed import OptimalFair, Uniform
from .floor import Floor
from .gamma_ts import GammaTS
from .gradient import Gradient
from .groups import Groups
from .intervals import Bernstein, Hoeffding, KullbackLeibler
from .lin_eg import LinEG
from .lin_ts import LinTS
from .lin_ucb import LinUCB
from .optimism import Exact
from .radius import Confidence, Constant
from .rivals import (
    SDTS,
    Boltzmann,
    Chaining,
    DelayedFairXTS,
    DelayedFairXUCB,
    Exp3,
    FairLearn,
    FairSDTS,
    GuaranteedRevenue,
    NashUCB,
)
from .ts import TS
from .ucb import UCB
from .windowed import Windowed

__all__ = [
    "EG",
    "SDTS",
    "TS",
    "UCB",
    "Ascent",
    "Bernstein",
    "BetaTS",
    "Boltzmann",
    "Chaining",
    "Confidence",
    "Constant",
    "DelayedFairXTS",
    "DelayedFairXUCB",
    "Discounted",
    "DiscountedRidge",
    "Exact",
    "Exp3",
    "FairLearn",
    "FairSDTS",
    "FairXBetaTS",
    "FairXEG",
    "FairXGammaTS",
    "FairXGradient",
    "FairXLinEG",
    "FairXLinTS",
    "FairXLinUCB",
    "FairXLogisticTS",
    "FairXLogisticUCB",
    "FairXTS",
    "FairXUCB",
    "Floor",
    "GammaTS",
    "Gradient",
    "Groups",
    "GuaranteedRevenue",
    "Hoeffding",
    "Kernel",
    "KullbackLeibler",
    "LinEG",
    "LinTS",
    "LinUCB",
    "NashUCB",
    "OptimalFair",
    "Policy",
    "Scoring",
    "SlatePolicy",
    "Uniform",
    "Windowed",
]
