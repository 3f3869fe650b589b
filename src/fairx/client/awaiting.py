"""The client of asyncio: `blocking`, awaited."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import wraps
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


class AsyncClient:
    """A connection to the decision service, for asyncio.

    Its parameters are those of `Client`.

    Examples
    --------
    >>> AsyncClient("localhost:8000")
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
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._retries = count("retries", retries, low=0)
        self._sleep = sleep
        self._http = httpx.AsyncClient(transport=transport, **settings(url, token, timeout))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def experiment(self, name: str) -> AsyncHandle:
        """Return a handle of one experiment, which need not exist yet; nothing is sent."""
        return AsyncHandle(self, name)

    async def experiments(self) -> tuple[Experiment, ...]:
        """Return all experiments."""
        return await self.send(service_calls.experiments())

    async def actions(self) -> tuple[Action, ...]:
        """Return the record of administrative actions."""
        return await self.send(service_calls.actions())

    async def tokens(self) -> tuple[Token, ...]:
        """Return all tokens, without their secrets."""
        return await self.send(service_calls.tokens())

    async def create_token(self, name: str, role: str, experiment: str | None = None) -> NewToken:
        """Make a token for one experiment or, without it, for all."""
        return await self.send(service_calls.create_token(name, role, experiment))

    async def delete_token(self, token_id: str) -> None:
        """Revoke a token."""
        await self.send(service_calls.delete_token(token_id))

    async def send(self, call: Call[T]) -> T:
        """Send a call, again where that is safe, and read its answer."""
        return await self._settled(call, lambda: self._http.request(**request(call)))

    async def download(self, call: Call[T], path: str | os.PathLike[str]) -> T:
        """Send a call and put a Parquet file that it answers at `path`, whole or not at all."""
        return await self._settled(call, lambda: self._stored(call, path))

    async def _settled(self, call: Call[T], attempt: Callable[[], Awaitable[httpx.Response]]) -> T:
        for wait in waits(self._retries):
            outcome = await _outcome(attempt)
            seconds = pause(call, outcome, wait)
            if seconds is None:
                break
            await self._sleep(seconds)
        return answer(call, outcome)

    async def _stored(self, call: Call[Any], path: str | os.PathLike[str]) -> httpx.Response:
        async with self._http.stream(**request(call)) as response:
            if not response.is_success:
                await response.aread()
                return response
            end = b""
            with replaced(path) as file:
                async for chunk in response.aiter_bytes():
                    file.write(chunk)
                    end = ending(end, chunk)
                refuse_torn(end)
        return httpx.Response(response.status_code)  # its content is in the file


async def _outcome(attempt: Callable[[], Awaitable[httpx.Response]]) -> Outcome:
    try:
        return await attempt()
    except httpx.RequestError as error:
        return error


def _sent(
    build: Callable[Concatenate[str, P], Call[T]],
) -> Callable[Concatenate[AsyncHandle, P], Coroutine[Any, Any, T]]:
    """Make a method of a call: the handle gives the experiment's name."""

    @wraps(build)
    async def method(self: AsyncHandle, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.client.send(build(self.name, *args, **kwargs))

    return method


class AsyncHandle:
    """One experiment of a client. Its methods are the functions of `calls`, `deciding` and `feedback`."""

    def __init__(self, client: AsyncClient, name: str) -> None:
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

    async def shown(
        self, decisions: str | Iterable[str], places: int | Iterable[int] | None = None
    ) -> tuple[Shown, ...]:
        """Tell that one or several decisions were shown; of slates, at which `places`, from 1."""
        asked = feedback.shown(self.name, decisions, places)
        parts = [await self.client.send(part) for part in asked]
        return tuple(each for part in parts for each in part)

    async def rewards(self, rewards: Iterable[Reward]) -> tuple[Rewarded, ...]:
        """Give rewards, each once by its decision and id."""
        parts = [await self.client.send(part) for part in feedback.rewards(self.name, rewards)]
        return tuple(each for part in parts for each in part)

    async def export(self, path: str | os.PathLike[str]) -> None:
        """Write the decision log to a Parquet file, whole or not at all."""
        await self.client.download(calls.export(self.name), path)
