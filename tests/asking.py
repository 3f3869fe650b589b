"""The service in this process, with a clock of its own: requests go through ASGI, not a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from fairx.service import holding
from fairx.service.access import Access
from fairx.service.app import Application
from fairx.service.limits import Limits
from fairx.service.runtime import Runtime
from fairx.store import located

holding.COMPILED_IN = 60.0  # a busy machine is slow, not wrong
SECRET = b"s" * 32
ROOT = "fairx_root_" + "0" * 48
LIMITS = Limits()
NEVER = 1e9  # seconds: tests say when to fold
START = 1_000_000.0
E = "/v1/experiments"
POLICY = {
    "kind": "FairXTS",
    "merit": {"kind": "Exponential", "steepness": 3.0},
    "prior_std": 1.0,
    "reward_std": 0.5,
}
LINEAR = {
    "kind": "FairXLinTS",
    "merit": {"kind": "Exponential", "steepness": 3.0},
    "prior_std": 1.0,
    "reward_std": 0.5,
}


class Service:
    """A running service."""

    def __init__(self, path: Path | str, limits: Limits, auth: bool) -> None:
        self.path, self.now = path, START
        self.token: str | None = ROOT if auth else None
        access = Access(open_to_all=not auth, admin_token=ROOT if auth else None, rate=limits.rate)
        store = located(path if isinstance(path, str) else f"sqlite:///{path}")
        self.runtime = Runtime(store, SECRET, access, limits, NEVER, lambda: self.now)
        self.application = Application(self.runtime)
        self.runner = asyncio.Runner()

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """Send a request: a body of bytes as it is, any other as JSON."""
        return self.runner.run(self._ask(method, path, body, token or self.token, headers or {}))

    async def _ask(
        self, method: str, path: str, body: Any, token: str | None, headers: dict[str, str]
    ) -> httpx.Response:
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body)
        if token and "authorization" not in {name.lower() for name in headers}:
            headers = headers | {"Authorization": f"Bearer {token}"}
        transport = httpx.ASGITransport(self.application, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            return await client.request(method, path, content=content, headers=headers)

    def get(self, path: str, **kinds: Any) -> Any:
        """Return the answer to a request that must succeed."""
        return _good(self.ask("GET", path, **kinds))

    def post(self, path: str, body: Any = None, **kinds: Any) -> Any:
        """Return the answer to a request that must succeed."""
        return _good(self.ask("POST", path, body, **kinds))

    def create(self, name: str = "shop", arms: Any = ("a", "b", "c"), **settings: Any) -> Any:
        """Create an experiment."""
        policy = settings.pop("policy", POLICY)
        return self.post(E, {"name": name, "arms": list(arms), "policy": policy, **settings})

    def decide(self, key: str, name: str = "shop", **settings: Any) -> Any:
        """Ask for a decision."""
        return self.post(f"{E}/{name}/decide", {"key": key, **settings})

    def reward(self, decision: str, reward: float, name: str = "shop", **settings: Any) -> str:
        """Send one reward; return what became of it."""
        body = {"rewards": [{"decision": decision, "reward": reward, **settings}]}
        found: str = self.post(f"{E}/{name}/rewards", body)["results"][0]["status"]
        return found

    def later(self, seconds: float) -> None:
        """Let time go by, and fold."""
        self.now += seconds
        while self.runner.run(self.runtime.fold()):
            pass

    def start(self) -> None:
        """Open the store."""
        self.runner.run(self.runtime.start())

    def stop(self) -> None:
        """Close it."""
        self.application.audits.close()
        self.runner.run(self.runtime.stop())
        self.runner.close()


@contextmanager
def serving(path: Path | str, limits: Limits = LIMITS, auth: bool = False) -> Iterator[Service]:
    """Run a service on a store: a file, or an address."""
    service = Service(path, limits, auth)
    service.start()
    try:
        yield service
    finally:
        service.stop()


def failure(answer: httpx.Response, status: int, code: str) -> tuple[str, str | None]:
    """Check that an answer is a refusal in the one shape; return its message and field."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"code", "message", "field"}
    assert body["error"]["code"] == code, answer.text
    message: str = body["error"]["message"]
    assert message
    assert not message.endswith(".")
    return message, body["error"]["field"]


def _good(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    return answer.json()
