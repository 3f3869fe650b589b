from __future__ import annotations

import json
from typing import Any

import pytest
from cases import MERITS, POLICIES, name
from hypothesis import given
from strategies import merits

from fairx import FairXTS
from fairx.settings import build, describe


@pytest.mark.parametrize("policy", [p for p in POLICIES if "Custom" not in repr(p)], ids=name)
def test_policies_survive_json(policy: Any) -> None:
    assert repr(build(json.loads(json.dumps(describe(policy))))) == repr(policy)


@given(merits())
def test_merits_survive_json(merit: Any) -> None:
    assert repr(build(json.loads(json.dumps(describe(merit))))) == repr(merit)


def test_names_and_numbers_will_do_for_solver_and_beta() -> None:
    merit = {"kind": "Exponential", "steepness": 4}
    found = build(
        {"kind": "FairXLinUCB", "merit": merit, "beta": 1, "ridge": 1, "solver": "gradient"}
    )
    assert found.beta.beta == 1.0
    assert found.solver.steps == 10


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"kind": "FairXUBC"}, "unknown kind 'FairXUBC': did you mean 'FairXUCB'?"),
        ({"kind": "zzz"}, "unknown kind 'zzz': choose from Affine"),
        ({"steepness": 4}, "a record needs a kind, but one has only steepness"),
        ({"kind": "EG", "epsilom": 0.1}, "EG has no setting 'epsilom': did you mean 'epsilon'?"),
        ({"kind": "EG", "zzz": 0.1}, "EG has no setting 'zzz': choose from epsilon"),
        ({"kind": "LinEG", "epsilon": 0.1}, "LinEG needs a value for ridge"),
        ({"kind": "EG", "epsilon": 3}, "epsilon must be a number from 0 to 1"),
    ],
)
def test_bad_mappings_are_refused(mapping: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        build(mapping)


def test_what_cannot_be_written_down_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be written down"):
        describe(FairXTS(MERITS[-1], 1, 1))
