"""Contexts as clients know them: features by name, where the experiment declares some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairx.features.given import given_rows
from fairx.rules import InvalidValue
from fairx.store.arms import ACTIVE
from fairx.store.deciding import Decider

LONGEST = 500  # letters of what is said of a value


def encoded(decider: Decider, names: list[str] | None, contexts: Any) -> Any:
    """Return contexts as rows of numbers, one for each arm of these names, or of all that are active.

    Rows that come as numbers are those of a client that encodes by itself.
    """
    features = decider.snapshot.experiment.settings.features
    if features is None and isinstance(contexts, Mapping):
        raise InvalidValue("contexts", "be rows of numbers: this experiment declares no features")
    if features is None or not (contexts is None or isinstance(contexts, Mapping)):
        return contexts
    if names is None:
        names = [arm.name for arm in decider.snapshot.arms if arm.status == ACTIVE]
    try:
        return given_rows(features, contexts or {}, names)
    except InvalidValue as refused:
        said = f"{refused.name} must {refused.rule}"
        raise InvalidValue("contexts", f"fit the features: {said[:LONGEST]}") from None
