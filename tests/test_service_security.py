"""Who may do what, what cannot be forged, and what is kept of secrets."""

from __future__ import annotations

import ast
import base64
import json
import logging
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from asking import POLICY, ROOT, E, Service, failure, serving

import fairx
from fairx.service import access
from fairx.service.failures import Refused
from fairx.service.json_lines import JsonLines
from fairx.service.limits import Limits, checked
from fairx.service.routes import BATCH, ROUTES, Route
from fairx.service.running import Options, application
from fairx.service.secrecy import from_environment, secret_of
from fairx.store import located
from fairx.store.identity import is_ours, minted

SHOP = E + "/shop"
ROLES = ("decide", "reward", "read", "admin")
SOURCE = Path(fairx.__file__).parent


class Case(NamedTuple):
    """Tokens of each role: for the experiment, for another, for all."""

    service: Service
    tokens: dict[tuple[str, str | None], str]
    decision: str


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    with serving(tmp_path_factory.mktemp("store") / "store.db", auth=True) as service:
        for name in ("shop", "other"):
            service.create(name)
        tokens = {
            (role, where): service.post(
                "/v1/tokens", {"name": f"{role} of {where}", "role": role, "experiment": where}
            )["token"]
            for role in ROLES
            for where in ("shop", "other", None)
        }
        yield Case(service, tokens, service.decide("k")["decision"])


def _request(route: Route, decision: str) -> tuple[str, Any]:
    """Return a path and a body that the route can make sense of, and that change nothing."""
    path = route.path.format(name="shop", decision=decision, id="nobody")
    body = {
        "/decide": {"key": "k"}, "/shown": {"decisions": [decision]}, "/arms": {"pause": ["nobody"]},
        "/rewards": {"rewards": [{"decision": decision, "reward": 1}]}, "/erase": {"unit": "nobody"},
        "/experiments": {"name": "shop", "arms": ["a"], "policy": POLICY}, "/tokens": {"name": ""},
        "/batch": {"requests": [{"experiment": "shop", "route": "decide", "body": {"key": "k"}}]},
    }.get(path[path.rindex("/") :])  # fmt: skip
    return path, body


CASES = [
    (route, role, where) for route in ROUTES for role in ROLES for where in ("shop", "other", None)
]
CASES = [each for each in CASES if each[0].method != "DELETE" or each[0].path != E + "/{name}"]


@pytest.mark.parametrize(
    ("route", "role", "where"), CASES, ids=lambda x: getattr(x, "summary", str(x))
)
def test_each_role_may_do_its_own_and_no_more(
    case: Case, route: Route, role: str, where: str | None
) -> None:
    path, body = _request(route, case.decision)
    answer = case.service.ask(route.method, path, body, token=case.tokens[role, where])
    if route.path == BATCH:  # takes all tokens: each part is answered by what its own route needs
        (part,) = answer.json()["answers"]
        answer = httpx.Response(part["status"], json=part["body"])
    alone = "{name}" in route.path or (route.method, route.path) in (("GET", E), ("POST", BATCH))
    covered = where is None or (alone and (where == "shop" or route.path == E))
    if route.role is None or (role in (route.role, "admin") and covered):
        assert answer.status_code not in (401, 403, 429, 500)
    else:
        message, _ = failure(answer, 403, "forbidden")
        assert message.startswith("this needs the role")


def test_a_list_has_only_what_the_token_may_read(case: Case) -> None:
    def names(role: str, where: str | None) -> list[str]:
        found = case.service.get(E, token=case.tokens[role, where])
        return [each["name"] for each in found["experiments"]]

    assert names("read", "shop") == ["shop"]
    assert names("admin", "other") == ["other"]
    assert names("read", None) == ["other", "shop"]


def test_an_admin_of_one_experiment_deletes_that_one_only(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", auth=True) as service:
        service.create("shop")
        tokens = {
            where: service.post("/v1/tokens", {"name": "a", "role": "admin", "experiment": where})[
                "token"
            ]
            for where in ("shop", "other")
        }
        failure(service.ask("DELETE", SHOP, token=tokens["other"]), 403, "forbidden")
        assert service.ask("DELETE", SHOP, token=tokens["shop"]).status_code == 204


BAD_HEADERS = [
    "", "Bearer", "Bearer ", "bearer x", f"Bearer {ROOT}x", f"Bearer {ROOT[:-1]}", f"Token {ROOT}", ROOT,
    "Basic", "Basic ???", "Basic " + base64.b64encode(b"no colon").decode(), "Basic é",
    "Basic " + base64.b64encode(b"user:wrong").decode(), "Basic " + base64.b64encode(b"\xff:\xff").decode(),
    "Basic " + base64.b64encode(ROOT.encode() + b":").decode(), "Bearer fairx__", "Bearer fairx", "Bearer é",
    "Digest username=x", f"Bearer {access.PREFIX}_admin_{'0' * 48}", "Bearer " + "x" * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("header", BAD_HEADERS, ids=lambda header: header[:40])
def test_what_is_no_token_is_401(case: Case, header: str) -> None:
    for method, path, body in (("GET", SHOP, None), ("POST", SHOP + "/decide", {"key": "k"})):
        answer = case.service.ask(method, path, body, headers={"Authorization": header.encode()})  # type: ignore[dict-item]
        failure(answer, 401, "unauthorized")
        asked = answer.headers["www-authenticate"]
        assert "Bearer" in asked
        assert "Basic realm=" in asked


def test_no_header_is_401_also_where_nothing_is(case: Case) -> None:
    case.service.token = None
    try:
        for route in ROUTES:
            path, body = _request(route, case.decision)
            answer = case.service.ask(route.method, path.replace("shop", "nowhere"), body)
            if route.role is not None:
                failure(answer, 401, "unauthorized")
        assert case.service.ask("GET", "/healthz").status_code == 200
        assert case.service.ask("GET", "/readyz").status_code == 200
        assert case.service.ask("GET", "/openapi.json").status_code == 200
    finally:
        case.service.token = ROOT


def test_basic_is_the_token_as_password(case: Case) -> None:
    for user in (b"", b"anyone"):
        token = case.tokens["read", "shop"].encode()
        header = {"Authorization": "Basic " + base64.b64encode(user + b":" + token).decode()}
        assert case.service.ask("GET", SHOP, headers=header).status_code == 200
        failure(case.service.ask("POST", SHOP + "/pause", headers=header), 403, "forbidden")


def test_pages_of_other_sites_cannot_act_in_a_users_name(case: Case) -> None:
    """A browser sends its Basic password along with whatever form another site has it post."""
    header = {"Authorization": "Basic " + base64.b64encode(b"me:" + ROOT.encode()).decode()}
    for method, path, body in (
        ("POST", SHOP + "/pause", None), ("POST", SHOP + "/decide", {"key": "k"}), ("DELETE", SHOP, None),
    ):  # fmt: skip
        for origin in (
            "http://evil.example",
            "null",
            "http://service.evil.example",
            "http://service:81",
        ):
            answer = case.service.ask(method, path, body, headers=header | {"Origin": origin})
            failure(answer, 403, "forbidden")
    own = header | {"Origin": "http://service"}
    assert case.service.ask("POST", SHOP + "/decide", {"key": "k"}, headers=own).status_code == 200
    answer = case.service.ask("GET", SHOP, headers=header | {"Origin": "http://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    answer = case.service.ask("OPTIONS", SHOP, headers={"Origin": "http://evil.example"})
    failure(answer, 405, "method_not_allowed")
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_revoked_token_is_refused_at_once_and_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", auth=True) as service:
        service.create()
        made = service.post("/v1/tokens", {"name": "t", "role": "read"})
        assert service.ask("GET", SHOP, token=made["token"]).status_code == 200
        assert service.ask("DELETE", f"/v1/tokens/{made['id']}").status_code == 204
        failure(service.ask("GET", SHOP, token=made["token"]), 401, "unauthorized")
    with serving(tmp_path / "store.db", auth=True) as service:
        failure(service.ask("GET", SHOP, token=made["token"]), 401, "unauthorized")


def test_a_token_does_not_outlive_its_experiment(tmp_path: Path) -> None:
    """Else who could read an experiment could read the next one of the same name."""
    with serving(tmp_path / "store.db", auth=True) as service:
        service.create()
        made = service.post("/v1/tokens", {"name": "t", "role": "read", "experiment": "shop"})
        every = service.post("/v1/tokens", {"name": "t", "role": "read"})
        service.ask("DELETE", SHOP)
        service.create()
        failure(service.ask("GET", SHOP, token=made["token"]), 401, "unauthorized")
        assert service.ask("GET", SHOP, token=every["token"]).status_code == 200


def test_tokens_are_hashed_at_rest(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", auth=True) as service:
        token = service.post("/v1/tokens", {"name": "t", "role": "read"})["token"]
        secret = token.rpartition("_")[2]
        stored = {path: path.read_bytes() for path in tmp_path.iterdir()}
    stored |= {path: path.read_bytes() for path in tmp_path.iterdir()}
    kept = b"".join(stored.values())
    assert access.digest_of(token).encode() in kept
    assert secret.encode() not in kept
    assert ROOT.encode() not in kept
    assert len(secret) * 4 == 192


def test_tokens_are_compared_in_constant_time(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(first: str, second: str) -> bool:
        compared.append((first, second))
        return first == second

    monkeypatch.setattr("fairx.service.access.hmac.compare_digest", compare)
    token = case.tokens["read", None]
    assert case.service.ask("GET", SHOP, token=token).status_code == 200
    assert (access.digest_of(token),) * 2 in compared
    failure(case.service.ask("GET", SHOP, token=token[:-1] + "x"), 401, "unauthorized")
    assert {len(digest) for pair in compared for digest in pair} <= {64, 8}


def test_an_unknown_token_is_refused_even_if_digests_were_not_compared(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is known of it: there is no grant that a mistake further on could hand out."""
    monkeypatch.setattr("fairx.service.access.hmac.compare_digest", lambda *_: True)
    known = access.Access(open_to_all=False, admin_token=None, rate=1e6)
    known._tokens = case.service.runtime.access._tokens
    assert known.admit(f"Bearer {case.tokens['read', None]}".encode(), "read", "shop")
    for token in (f"{access.PREFIX}_{'0' * 12}_{'0' * 48}", f"{access.PREFIX}__", "x"):
        with pytest.raises(Refused) as refused:
            known.admit(f"Bearer {token}".encode(), "read", "shop")
        assert refused.value.status == 401


def test_the_grant_of_everyone_is_given_only_where_no_token_is_asked_for() -> None:
    assert not any(access.NOBODY.allows(role, access.ANY) for role in ROLES)
    uses = [
        (path.name, function.name)
        for path in (SOURCE / "service").rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        and "EVERYONE" in ast.unparse(function)
    ]
    assert uses == [("access.py", "admit")]


SQL = re.compile(r"\b(SELECT\s|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)")


@pytest.mark.parametrize("package", ["service", "command"])
def test_sql_is_in_the_store_alone(package: str) -> None:
    assert SQL.search((SOURCE / "store/tokens.py").read_text("utf-8"))
    for path in (SOURCE / package).rglob("*.py"):
        text = path.read_text("utf-8")
        assert not SQL.search(text), path
        assert not re.search(r"\.(insert_new|executemany|execute)\(|database\.rows\b", text), path


def test_no_module_compares_secrets_by_equality() -> None:
    """`==` on digests, tokens or tags would take as long as their common beginning."""
    for name in ("service/access.py", "store/identity.py", "store/tokens.py"):
        tree = ast.parse((SOURCE / name).read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
                words = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                assert not words & {"digest", "kept", "token", "tag"}, ast.unparse(node)


@pytest.mark.parametrize("package", ["store", "service"])
def test_nothing_is_pickled_or_evaluated(package: str) -> None:
    banned = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
    for path in (SOURCE / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in names} & banned, path
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in ("eval", "exec", "np.load", "numpy.load"), path
                assert "allow_pickle" not in [word.arg for word in node.keywords], path


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def test_altered_decision_ids_are_refused(case: Case) -> None:
    altered = [
        case.decision[:place] + letter + case.decision[place + 1 :]
        for place in range(len(case.decision))
        for letter in LETTERS
        if letter != case.decision[place]
    ]
    secret = case.service.runtime.secret
    assert is_ours(secret, 1, case.decision)
    assert not [each for each in altered if is_ours(secret, 1, each)]
    others = [
        case.decision + "A", case.decision[:-1], case.decision + "=", case.decision + "\u00e9", "A" * 24,
        case.decision.swapcase(), " " + case.decision, minted(b"another secret", 1, "k", 0),
        minted(secret, 2, "k", 0), *altered[:: len(LETTERS) - 1],
    ]  # fmt: skip
    for each in others:
        for path, body in (
            ("/rewards", {"rewards": [{"decision": case.decision, "reward": 3, "id": "x"}, {"decision": each, "reward": 1}]}),
            ("/shown", {"decisions": [each]}),
        ):  # fmt: skip
            _, field = failure(case.service.ask("POST", SHOP + path, body), 422, "forged_decision")
            assert field == "decision"
        failure(case.service.ask("GET", f"{SHOP}/decisions/{each}"), 404, "not_found")
    found = case.service.get(f"{SHOP}/decisions/{case.decision}")
    assert "x" not in [reward["id"] for reward in found["rewards"]]


def test_a_decision_of_another_experiment_is_refused(case: Case) -> None:
    other = case.service.decide("k", "other")["decision"]
    assert other != case.decision
    body = {"rewards": [{"decision": other, "reward": 1}]}
    failure(case.service.ask("POST", SHOP + "/rewards", body), 422, "forged_decision")
    failure(
        case.service.ask("POST", SHOP + "/shown", {"decisions": [other]}), 422, "forged_decision"
    )
    failure(case.service.ask("GET", f"{SHOP}/decisions/{other}"), 404, "not_found")


def test_too_many_requests_are_429_for_each_token_alone(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits(rate=5), auth=True) as service:
        token = service.post("/v1/tokens", {"name": "t", "role": "read"})["token"]
        answers = [service.ask("GET", E, token=token) for _ in range(20)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert 10 <= len(refused) <= 15
        for answer in refused:
            message, _ = failure(answer, 429, "too_many_requests")
            assert "5 a second" in message
            assert answer.headers["retry-after"] == "1"
        service.runtime.access._buckets.clear()
        assert service.ask("GET", E, token=token).status_code == 200
        assert service.ask("GET", E).status_code == 200
        assert service.ask("GET", "/healthz").status_code == 200


def test_a_body_is_read_no_further_than_its_limit(tmp_path: Path) -> None:
    read = 0

    async def body() -> Any:
        nonlocal read
        for _ in range(1000):
            read += 1000
            yield b" " * 1000

    with serving(tmp_path / "store.db", Limits(body_bytes=10_000)) as service:
        service.create()
        parts = body()

        async def receive() -> Any:
            return {"type": "http.request", "body": await anext(parts), "more_body": True}

        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http", "method": "POST", "path": SHOP + "/decide", "headers": [], "query_string": b"",
        }  # fmt: skip
        service.runner.run(service.application(scope, receive, send))
        assert sent[0]["status"] == 413
        assert read == 11_000
        service.runner.run(parts.aclose())


def test_without_tokens_only_on_loopback(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    for host in ("0.0.0.0", "::", "192.168.0.1", "example.com", ""):
        with pytest.raises(ValueError, match="--no-auth must"):
            application(Options(store, host=host, auth=False))
    assert list(tmp_path.iterdir()) == []  # refused before anything is made
    for host in ("127.0.0.1", "localhost", "::1"):
        application(Options(store, host=host, auth=False))


def test_the_secret_is_the_owners_alone_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FAIRX_SECRET", "FAIRX_SECRET_FILE"):
        monkeypatch.delenv(name, raising=False)
    store = located(f"sqlite:///{tmp_path}/store.db")
    first = secret_of(store, None)
    kept = tmp_path / "store.db.secret"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert secret_of(store, None) == first
    assert len(kept.read_text().strip()) == 64
    file = tmp_path / "given"
    file.write_text("x" * 16)
    assert secret_of(store, file) != first
    monkeypatch.setenv("FAIRX_SECRET", "x" * 16)
    assert secret_of(store, None) == secret_of(store, file)
    monkeypatch.setenv("FAIRX_SECRET", "short")
    with pytest.raises(ValueError, match="at least 16"):
        secret_of(store, None)
    monkeypatch.delenv("FAIRX_SECRET")
    with pytest.raises(ValueError, match="FAIRX_SECRET must be set"):
        secret_of(located("postgresql://localhost/x"), None)


def test_the_first_token_is_shown_once_and_only_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FAIRX_ADMIN_TOKEN", raising=False)
    options = Options(f"sqlite:///{tmp_path}/store.db")
    application(options)
    said = capsys.readouterr().err
    token = said.strip().rpartition(" ")[2]
    assert token.startswith("fairx_")
    application(options)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FAIRX_ADMIN_TOKEN", "from the environment")
    application(Options(f"sqlite:///{tmp_path}/other.db"))
    assert capsys.readouterr().err == ""
    (tmp_path / "file").write_text("from a file\n")
    monkeypatch.delenv("FAIRX_ADMIN_TOKEN")
    monkeypatch.setenv("FAIRX_ADMIN_TOKEN_FILE", str(tmp_path / "file"))
    assert from_environment("FAIRX_ADMIN_TOKEN") == "from a file"


def test_secrets_are_not_in_the_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    formatter = JsonLines()

    def broken(*_: Any) -> Any:
        raise KeyError("ours")

    with serving(tmp_path / "store.db", auth=True) as service:
        service.create()
        token = service.post("/v1/tokens", {"name": "t", "role": "read"})["token"]
        service.ask("GET", SHOP, token=token + "x")
        monkeypatch.setattr("fairx.service.views.status", broken)
        failure(service.ask("GET", SHOP + "/status", token=token), 500, "internal")
    lines = [formatter.format(record) for record in caplog.records]
    assert any("ours" in line for line in lines)
    for line in lines:
        assert json.loads(line)["level"]
        assert not any(secret in line for secret in (token, ROOT, access.digest_of(token)))


@pytest.mark.parametrize("name", Limits._fields)
def test_limits_let_something_through(name: str) -> None:
    for bad in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"^{name} must be"):
            checked(Limits()._replace(**{name: bad}))  # type: ignore[arg-type]
