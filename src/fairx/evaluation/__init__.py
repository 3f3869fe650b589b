"""Off-policy evaluation: what another policy would have brought, and whom it would have shown."""

from .evaluating import Evaluation, evaluate
from .logged import Logged
from .reading import from_table
from .sequences import Looks, confidence_sequence
from .spans import mean_rewards, split
from .support import Diagnostics

__all__ = [
    "Diagnostics",
    "Evaluation",
    "Logged",
    "Looks",
    "confidence_sequence",
    "evaluate",
    "from_table",
    "mean_rewards",
    "split",
]
