"""Problems to play on: where rewards come from."""

from .base import Environment, MovingEnvironment, Prior, World
from .bernoulli import Bernoulli
from .labelled import Labelled
from .late import Late
from .linear import Linear, LinearPrior
from .logistic import LogisticLinear, LogisticPrior
from .lower_bounds import lipschitz_pair, minimum_merit_pair
from .moving import Cycle, RandomWalk, Switching
from .normal import Normal, NormalPrior
from .sleeping import Sleeping

__all__ = [
    "Bernoulli",
    "Cycle",
    "Environment",
    "Labelled",
    "Late",
    "Linear",
    "LinearPrior",
    "LogisticLinear",
    "LogisticPrior",
    "MovingEnvironment",
    "Normal",
    "NormalPrior",
    "Prior",
    "RandomWalk",
    "Sleeping",
    "Switching",
    "World",
    "lipschitz_pair",
    "minimum_merit_pair",
]
