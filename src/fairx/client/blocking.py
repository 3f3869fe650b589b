"""The client that waits for its answers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import wraps
from itertools import chain
from typing import Any, Concatenate, ParamSpec, Self

import httpx

from ..files import replaced
from ..rules import count
from . import calls, deciding, feedback, service_calls
from .answers import Action, Experiment, NewToken, Reward, Rewarded, Shown, Token
from .call import Call, T
from .connection import ending, refuse_torn, request, settings
from .exchange import Outcome, answer, pause, waits

P = ParamSpec("P")


class Client:
    """A connection to the decision service, safe to share between threads.

    Parameters
    ----------
    url
        Where the service is, with a prefix if it has one.
    token
        A bearer token, if the service asks for one.
    timeout
        Seconds for each step of a try: to connect, to send, to wait for the next bytes.
    retries
        How often to try again: see `fairx.client.exchange`.
    transport, sleep
        How to send and how to wait, for tests.

    Examples
    --------
    >>> Client("localhost:8000")
    Traceback (most recent call last):
    ValueError: url must begin with http:// or https:// and a host, not 'localhost:8000'
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 5.0,
        retries: int = 5,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._retries = count("retries", retries, low=0)
        self._sleep = sleep
        self._http = httpx.Client(transport=transport, **settings(url, token, timeout))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def experiment(self, name: str) -> Handle:
        """Return a handle of one experiment, which need not exist yet; nothing is sent."""
        return Handle(self, name)

    def experiments(self) -> tuple[Experiment, ...]:
        """Return all experiments."""
        return self.send(service_calls.experiments())

    def actions(self) -> tuple[Action, ...]:
        """Return the record of administrative actions."""
        return self.send(service_calls.actions())

    def tokens(self) -> tuple[Token, ...]:
        """Return all tokens, without their secrets."""
        return self.send(service_calls.tokens())

    def create_token(self, name: str, role: str, experiment: str | None = None) -> NewToken:
        """Make a token for one experiment or, without it, for all."""
        return self.send(service_calls.create_token(name, role, experiment))

    def delete_token(self, token_id: str) -> None:
        """Revoke a token."""
        self.send(service_calls.delete_token(token_id))

    def send(self, call: Call[T]) -> T:
        """Send a call, again where that is safe, and read its answer."""
        return self._settled(call, lambda: self._http.request(**request(call)))

    def download(self, call: Call[T], path: str | os.PathLike[str]) -> T:
        """Send a call and put a Parquet file that it answers at `path`, whole or not at all."""
        return self._settled(call, lambda: self._stored(call, path))

    def _settled(self, call: Call[T], attempt: Callable[[], httpx.Response]) -> T:
        for wait in waits(self._retries):
            outcome = _outcome(attempt)
            seconds = pause(call, outcome, wait)
            if seconds is None:
                break
            self._sleep(seconds)
        return answer(call, outcome)

    def _stored(self, call: Call[Any], path: str | os.PathLike[str]) -> httpx.Response:
        with self._http.stream(**request(call)) as response:
            if not response.is_success:
                response.read()
                return response
            end = b""
            with replaced(path) as file:
                for chunk in response.iter_bytes():
                    file.write(chunk)
                    end = ending(end, chunk)
                refuse_torn(end)
        return httpx.Response(response.status_code)  # its content is in the file


def _outcome(attempt: Callable[[], httpx.Response]) -> Outcome:
    try:
        return attempt()
    except httpx.RequestError as error:
        return error


def _sent(
    build: Callable[Concatenate[str, P], Call[T]],
) -> Callable[Concatenate[Handle, P], T]:
    """Make a method of a call: the handle gives the experiment's name."""

    @wraps(build)
    def method(self: Handle, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.client.send(build(self.name, *args, **kwargs))

    return method


class Handle:
    """One experiment of a client. Its methods are the functions of `calls`, `deciding` and `feedback`."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name

    create = _sent(calls.create)
    get = _sent(calls.get)
    delete = _sent(calls.delete)
    pause = _sent(calls.pause)
    resume = _sent(calls.resume)
    arms = _sent(calls.arms)
    decide = _sent(deciding.decide)
    decision = _sent(deciding.decision)
    slate = _sent(deciding.slate)
    reward = _sent(feedback.reward)
    status = _sent(calls.status)
    audit = _sent(calls.audit)
    audit_slates = _sent(calls.audit_slates)
    erase = _sent(calls.erase)

    def shown(
        self, decisions: str | Iterable[str], places: int | Iterable[int] | None = None
    ) -> tuple[Shown, ...]:
        """Tell that one or several decisions were shown; of slates, at which `places`, from 1."""
        parts = map(self.client.send, feedback.shown(self.name, decisions, places))
        return tuple(chain.from_iterable(parts))

    def rewards(self, rewards: Iterable[Reward]) -> tuple[Rewarded, ...]:
        """Give rewards, each once by its decision and id."""
        parts = map(self.client.send, feedback.rewards(self.name, rewards))
        return tuple(chain.from_iterable(parts))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the decision log to a Parquet file, whole or not at all."""
        self.client.download(calls.export(self.name), path)
