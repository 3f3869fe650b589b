"""The client in TypeScript: made from the OpenAPI document of today, and tried with Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import unavailable
from serving import server
from typescript_client import CLIENT, digest

TOKEN = "t" * 48
pytestmark = pytest.mark.skipif(
    not CLIENT.exists(), reason="clients are not part of the sdist: use a clone"
)


@pytest.mark.parametrize("name", ["fairx.ts", "fairx.mjs"])
def test_it_is_of_the_document_of_today(name: str) -> None:
    first = (CLIENT / name).read_text().partition("\n")[0]
    assert first.endswith(f" {digest()}"), "run scripts/typescript-client"


def test_it_asks_the_service(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        unavailable("needs Node: apt-get install nodejs")
    with server(tmp_path, FAIRX_ADMIN_TOKEN=TOKEN) as running:
        done = subprocess.run(
            [node, str(CLIENT / "example.mjs"), running.url, TOKEN],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["first"]["arm"] in ("a", "b")
    assert found["again"] == found["first"]
    assert found["results"] == [{"decision": found["first"]["decision"], "status": "accepted"}]
    assert found["answers"][0] == {"status": 200, "body": found["first"]}
    assert found["answers"][1]["status"] == 422
    assert (found["refused"]["status"], found["refused"]["code"]) == (422, "unknown_arm")
    assert found["decisions"] == 1
