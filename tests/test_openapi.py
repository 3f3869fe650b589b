"""The OpenAPI document tells the truth: about routes, bodies, answers and refusals."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from asking import LINEAR, POLICY, ROOT, E, Service, serving
from conftest import imported
from serving import server
from starlette.routing import Route

from fairx.service.app import FAST
from fairx.service.openapi import document
from fairx.version import __version__

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SHOP = E + "/shop"
UNLISTED = {("get", "/openapi.json")}  # the document itself
# Positive data are refused for what a schema cannot say (a signature, a sum); hence not that check.
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,negative_data_rejection,unsupported_method,allow_header_conformance,"
    "ignored_auth"
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path / "store.db", auth=True) as running:
        yield running


def operations() -> dict[tuple[str, str], Any]:
    return {
        (method, path): operation
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def test_the_document_is_valid_openapi() -> None:
    schemathesis = imported("schemathesis", "pip install schemathesis")
    schemathesis.openapi.from_dict(document()).validate()
    for schema in document()["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema | {"$schema": DRAFT})
    names = [operation["operationId"] for operation in operations().values()]
    assert len(set(names)) == len(names)
    assert document()["info"]["version"] == __version__


def test_every_reference_leads_somewhere_and_every_schema_is_used() -> None:
    found = document()
    text = json.dumps(found)
    used = set(re.findall(r'"#/components/schemas/(\w+)"', text))
    assert used == set(found["components"]["schemas"])


def test_it_lists_exactly_the_routes_that_are_served(service: Service) -> None:
    served = {
        (method.lower(), route.path)
        for route in service.application._rest.routes
        if isinstance(route, Route)
        for method in route.methods or ()
        if method != "HEAD"
    }
    fast = {("post", f"{E}/{{name}}/{last}") for last in FAST}
    assert served - UNLISTED == set(operations())
    assert fast <= set(operations())
    assert service.get("/openapi.json") == document()


def test_a_service_without_tokens_asks_for_none(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        found = service.get("/openapi.json")
    assert found == document(tokens=False)
    for methods in found["paths"].values():
        for operation in methods.values():
            assert operation["security"] == []
            assert "401" not in operation["responses"]


def test_what_needs_a_token_says_so() -> None:
    for (_, path), operation in operations().items():
        public = path in ("/healthz", "/readyz")
        assert operation["security"] == ([] if public else [{"token": []}])
        assert ("401" in operation["responses"]) is not public


class Session:
    """Asks, and compares each answer with what the document says of it."""

    def __init__(self, service: Service) -> None:
        self.service, self.seen = service, set[tuple[str, str, int]]()
        self.document = document()

    def ask(self, method: str, path: str, body: Any = None, **kinds: Any) -> Any:
        answer = self.service.ask(method, path, body, **kinds)
        template = self._template(path.partition("?")[0])
        operation = self.document["paths"][template][method.lower()]
        assert str(answer.status_code) in operation["responses"], (method, path, answer.text)
        self.seen.add((method.lower(), template, answer.status_code))
        described = operation["responses"][str(answer.status_code)].get("content", {})
        if not described:
            assert answer.content == b""
            return None
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in described
        if kind != "application/json":
            return answer.content
        self._check(described[kind]["schema"], answer.json())
        if answer.is_success and body is not None:
            self._check(operation["requestBody"]["content"]["application/json"]["schema"], body)
        return answer.json()

    def _template(self, path: str) -> str:
        (found,) = (
            each
            for each in self.document["paths"]
            if re.fullmatch(re.sub(r"{\w+}", "[^/]+", each), path)
        )
        return str(found)

    def _check(self, schema: Any, value: Any) -> None:
        whole = schema | {"components": self.document["components"]}
        jsonschema_rs.Draft202012Validator(whole).validate(value)


def _experiments(session: Session) -> None:
    ask = session.ask
    body: Any
    for name, settings in (
        ("shop", {"policy": POLICY, "reward_window_s": 10}), ("none", {"policy": {"kind": "Uniform"}}),
        ("news", {"policy": LINEAR, "dimension": 2, "reward_range": [0, 1], "missing_reward": None}),
    ):  # fmt: skip
        ask("POST", E, {"name": name, "arms": ["a", "b"], **settings})
    for body in (
        b"{",
        {"name": "x"},
        {"name": "shop", "arms": ["a"], "policy": POLICY},
        b" " * 5_000_000,
    ):
        ask("POST", E, body)
    for action in ("pause", "resume"):
        ask("POST", f"{SHOP}/{action}")
        ask("POST", f"{E}/nowhere/{action}")
    for body in ({"add": ["c"]}, {"add": ["c"]}, {"pause": ["x"]}, {"pause": [1]}, b""):
        ask("POST", SHOP + "/arms", body)
    ask("GET", E)
    ask("GET", SHOP)
    ask("GET", E + "/nowhere")


def _decisions(session: Session) -> None:
    ask = session.ask
    body: Any
    made = ask("POST", SHOP + "/decide", {"key": "k", "probabilities": True, "unit": "u"})
    ask("POST", SHOP + "/arms", {"pause": ["b"]})
    for body in (
        {"key": "k"}, {"key": "n", "count": 2}, {"key": "l", "candidates": ["a", "b"]}, {"key": "l", "candidates": ["b"]},
        {"key": "z", "candidates": ["z"]}, {}, b"[", {"key": "c", "contexts": [[1]]}, b" " * 5_000_000,
    ):  # fmt: skip
        ask("POST", SHOP + "/decide", body)
    rows = [[1.0, 2.0], [3.0, 4.0]]
    linear = ask("POST", E + "/news/decide", {"key": "k", "contexts": rows})
    page = E + "/news"
    asked = {
        "key": "page",
        "places": [1, 0.5],
        "contexts": rows,
        "probabilities": True,
        "unit": "u",
    }
    slate = {"decision": ask("POST", page + "/decide", asked)["decision"], "place": 2}
    ask("POST", page + "/rewards", {"rewards": [slate | {"reward": 1.0}]})
    ask("POST", page + "/shown", {"decisions": [slate]})
    assert len(ask("GET", f"{page}/decisions/{slate['decision']}")["slate"]) == 2
    assert "exposure" in ask("GET", page + "/status")["arms"][0]
    number = made["decision"]
    for path in (
        f"{SHOP}/decisions/{number}",
        f"{E}/news/decisions/{linear['decision']}",
        SHOP + "/decisions/x",
    ):
        ask("GET", path)
    for reward in (1, 1, 2, "x"):
        ask("POST", SHOP + "/rewards", {"rewards": [{"decision": number, "reward": reward}]})
    ask("POST", SHOP + "/rewards", {"rewards": [{"decision": "forged", "reward": 1}]})
    for shown in (number, number, "forged", 3):
        ask("POST", SHOP + "/shown", {"decisions": [shown]})
    for path in ("/audit", "/audit?alpha=2", "/audit?x=1"):
        ask("GET", SHOP + path)
    session.service.later(20)
    ask("POST", SHOP + "/rewards", {"rewards": [{"decision": number, "reward": 1, "id": "late"}]})
    ask("GET", f"{SHOP}/decisions/{number}")


def _around(session: Session) -> None:
    ask = session.ask
    for path in ("/status", "/audit", "/audit?alpha=0.1&low=0&high=2", "/export", "/export?x=1"):
        ask("GET", SHOP + path)
        ask("GET", E + "/nowhere" + path)
    ask("POST", SHOP + "/erase", {"unit": "u"})
    ask("POST", SHOP + "/erase", {"unit": ""})
    for path in ("/healthz", "/readyz", "/metrics", "/v1/actions", "/v1/tokens"):
        ask("GET", path)
        ask("GET", path + "?x=1")
    token = ask("POST", "/v1/tokens", {"name": "t", "role": "decide", "experiment": "shop"})
    ask("POST", "/v1/tokens", {"name": "t", "role": "x"})
    ask("GET", "/v1/tokens")
    for method, path in (
        ("GET", SHOP),
        ("DELETE", SHOP),
        ("GET", "/metrics"),
        ("GET", "/v1/actions"),
    ):
        ask(method, path, token=token["token"])
        ask(method, path, token="nobody")
    part = {"experiment": "shop", "route": "decide", "body": {"key": "of a batch"}}
    ask("POST", "/v1/batch", {"requests": [part, part | {"experiment": "nothing"}]})
    ask("POST", "/v1/batch", {"requests": [part | {"route": "x"}]})
    ask("POST", f"/v1/tokens/{token['id']}/rotate", {"lifetime_s": 60})
    ask("POST", "/v1/tokens/nothing/rotate", {})
    ask("DELETE", f"/v1/tokens/{token['id']}")
    ask("DELETE", f"/v1/tokens/{token['id']}")
    ask("DELETE", SHOP)
    ask("DELETE", SHOP)


def test_every_answer_of_a_session_is_as_described(service: Service) -> None:
    _whole_session(service)


@pytest.mark.service
def test_with_postgresql_too(database_url: str) -> None:
    with serving(database_url, auth=True) as service:
        _whole_session(service)


def _whole_session(service: Service) -> None:
    session = Session(service)
    _experiments(session)
    _decisions(session)
    _around(session)
    succeeded = {(method, path) for method, path, status in session.seen if status < 300}
    assert succeeded == set(operations())  # each at least once
    assert {status for *_, status in session.seen} == {
        200,
        201,
        204,
        400,
        401,
        403,
        404,
        409,
        413,
        422,
    }


def test_a_schema_that_is_wrong_would_be_found(service: Service) -> None:
    session = Session(service)
    session.document["components"]["schemas"]["Health"]["properties"]["status"]["type"] = "number"
    with pytest.raises(Exception, match="is not of type"):
        session.ask("GET", "/healthz")


def _fuzzed(url: str, folder: Path, *options: str) -> None:
    """Run schemathesis, without chance; fail with what it says."""
    program = Path(sys.executable).with_name("schemathesis")
    command: list[str | Path] = [
        program, "--config-file", folder / "schemathesis.toml", "run", url + "/openapi.json",
        "--header", f"Authorization: Bearer {ROOT}", "--phases", "examples,coverage,fuzzing",
        "--generation-deterministic", "--no-shrink", "--seed", "1",
        "--continue-on-failure", "--checks", CHECKS, *options,
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
    assert passed, done.stdout
    assert int(passed[1]) > 500


def _compiled(client: httpx.Client, body: dict[str, Any]) -> Any:
    """Decide, and ask again while code is compiled: 503 is then no mistake."""
    while (answer := client.post(SHOP + "/decide", json=body, timeout=60)).status_code == 503:
        time.sleep(0.2)
    return answer.raise_for_status().json()


@pytest.mark.service
def test_fuzzing_finds_no_mistake_of_ours(tmp_path: Path) -> None:
    """Once over experiments that do not exist, or that fuzzing made; once over one that does."""
    imported("schemathesis", "pip install schemathesis")
    settings = tmp_path / "schemathesis.toml"
    with server(tmp_path, FAIRX_ADMIN_TOKEN=ROOT) as running:
        with httpx.Client(
            base_url=running.url, headers={"Authorization": f"Bearer {ROOT}"}, timeout=60
        ) as client:
            body = {"name": "shop", "arms": ["a", "b"], "policy": POLICY, "reward_window_s": 0.1}
            client.post(E, json=body).raise_for_status()
            made = _compiled(client, {"key": "k"})
            _compiled(client, {"key": "page", "places": 3})
        known = f'"path.name" = "shop"\n"path.decision" = "{made["decision"]}"\n'
        settings.write_text("[parameters]\n" + known)
        still = ("--exclude-method", "DELETE", "--exclude-path-regex", "/pause$")
        _fuzzed(running.url, tmp_path, "--max-examples", "60", *still)
        settings.write_text("")
        _fuzzed(running.url, tmp_path, "--max-examples", "30")
    lines = running.log.read_text().splitlines()
    said = [json.loads(line) for line in lines if not line.startswith("fairx: compiling")]
    assert not [line for line in said if line["level"] == "error"]
