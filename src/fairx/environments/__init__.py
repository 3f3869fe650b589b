"""Problems to play on: where rewards come from."""

from .base import Environment, MovingEnvironment, Prior, World
from .bernoulli import Bernoulli
from .labelled import Labelled
from .linear import Linear, LinearPrior
from .logistic import LogisticLinear, LogisticPrior
from .lower_bounds import lipschitz_pair, minimum_merit_pair
from .normal import Normal, NormalPrior

__all__ = [
    "Bernoulli",
    "Environment",
    "Labelled",
    "Linear",
    "LinearPrior",
    "LogisticLinear",
    "LogisticPrior",
    "MovingEnvironment",
    "Normal",
    "NormalPrior",
    "Prior",
    "World",
    "lipschitz_pair",
    "minimum_merit_pair",
]
