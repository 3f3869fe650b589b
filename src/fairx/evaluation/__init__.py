"""Off-policy evaluation: what another policy would have brought, and whom it would have shown."""

from .bounded import doubly_robust_sequence, self_normalised_sequence
from .evaluating import evaluate
from .evaluating_slates import evaluate_slates
from .fairness import Fairness
from .logged import Logged
from .reading import from_table
from .reading_slates import slates_of
from .result import Evaluation
from .sequences import Looks, confidence_sequence
from .slates import LoggedSlates
from .spans import mean_rewards, split
from .support import Diagnostics

__all__ = [
    "Diagnostics",
    "Evaluation",
    "Fairness",
    "Logged",
    "LoggedSlates",
    "Looks",
    "confidence_sequence",
    "doubly_robust_sequence",
    "evaluate",
    "evaluate_slates",
    "from_table",
    "mean_rewards",
    "self_normalised_sequence",
    "slates_of",
    "split",
]
