"""Bandit problems from data sets, one for the validation and one for the test part."""

from __future__ import annotations

import functools
import threading
from typing import Any, NamedTuple

import numpy as np

from fairx import datasets
from fairx.environments import Bernoulli, Labelled, Linear
from fairx.features import fourier_features, linear_fit, median_distance
from fairx.merit import Merit
from fairx.types import Matrix, Vector

from .specification import Problem

YAHOO = ("yahoo", "yahoo-ten-days")
_one_at_a_time = threading.Lock()


class Part(NamedTuple):
    """A problem made of some of the examples."""

    environment: Any
    means: Matrix  # (examples, arms) by the judge; one row where there are no contexts
    dimension: int

    def arm_means(self) -> Vector:
        """Return the true mean reward of each arm, averaged over examples."""
        return np.asarray(self.means.mean(axis=0))

    def fair(self, merit: Merit) -> Vector:
        """Return the fair share of each arm, averaged over examples."""
        logs = np.vectorize(merit.log, otypes=[float])(self.means)
        merits = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares: Vector = (merits / merits.sum(axis=1, keepdims=True)).mean(axis=0)
        return shares


def dataset(problem: Problem, directory: str | None = None) -> datasets.Dataset:
    """Return the data of a problem."""
    if problem.data in YAHOO:
        raise FileNotFoundError(
            "the Yahoo! Today logs are played by replay, which this version does not have yet"
        )
    with _one_at_a_time:
        return _loaded(problem.data, directory, problem.labels)


def part(problem: Problem, which: str, seed: int, directory: str | None = None) -> Part:
    """Return the "validation" or the "test" part of a problem; split and features by `seed`."""
    found = dataset(problem, directory)
    with _one_at_a_time:  # not by two threads at once
        return _made(problem, which, seed, found.checksum, directory)


@functools.lru_cache(maxsize=4)
def _loaded(name: str, directory: str | None, labels: int | None) -> datasets.Dataset:
    return datasets.load(name, directory=directory, labels=labels)


@functools.lru_cache(maxsize=2)  # mediamill's two parts are 1.8 GB
def _made(problem: Problem, which: str, seed: int, checksum: str, directory: str | None) -> Part:
    found = _loaded(problem.data, directory, problem.labels)
    validation, test = datasets.split(len(found.labels), problem.validation, seed)
    rows = {"validation": validation, "test": test}[which]
    labels = found.labels[rows]
    if problem.setting == "mab":
        # Each round shows one example and pays one of its labels: with the examples sorted by
        # that label, this is to compare a uniform number with the label's frequency.
        frequencies = labels.mean(axis=0)
        return Part(Bernoulli(frequencies), frequencies[None], dimension=0)
    arms, bandwidth = labels.shape[1], problem.bandwidth
    if bandwidth == "median":
        bandwidth = median_distance(found.features, arms, seed=seed)
    contexts = fourier_features(
        found.features[rows], arms, seed=seed, dimension=problem.dimension, bandwidth=bandwidth
    )
    parameter = linear_fit(contexts, labels)
    environment: Any = Labelled(contexts, labels, parameter)
    if problem.setting == "well-specified":
        environment = Linear(contexts, parameter, problem.noise_std)
    return Part(environment, contexts @ parameter, problem.dimension)
