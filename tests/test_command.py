from __future__ import annotations

import argparse
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_experiments import SMALL, rows_of, same, written

import fairx
from fairx.command import main, session
from fairx.command.main import COMMANDS
from fairx.compiled import interpreted
from fairx.experiments import Rows, opened, read
from fairx.experiments.problems import part
from fairx.experiments.progress import Progress

Capture = pytest.CaptureFixture[str]
SMALLEST = SMALL.replace("rounds = ", "rounds = 40 #")


def test_a_figure_is_reproduced(tmp_path: Path, capsys: Capture) -> None:
    """The smallest scale, of two policies only where each round is interpreted."""
    out = tmp_path / "out"
    if interpreted():
        assert main(["run", str(written(tmp_path, SMALLEST)), "--out", str(out)]) == 0
    else:
        assert main(["reproduce", "fig1", "--scale", "smoke", "--out", str(out)]) == 0
    page = out / "index.html"
    assert capsys.readouterr().out == f"report: {page.resolve()}\n"
    assert "<svg" in page.read_text("utf-8")
    begun, ended = [json.loads(line) for line in (out / "sessions.jsonl").read_text().splitlines()]
    assert (begun["begun"], ended["runs"]) == (0, len(rows_of(out)))


@pytest.mark.skipif(interpreted(), reason="plays a whole figure")
def test_runs_are_added_until_claims_are_decided(tmp_path: Path, capsys: Capture) -> None:
    """Looks at 2, 3, 4 runs and so on: an interruption and a report of what is there change nothing."""
    out = tmp_path / "out"
    command = ["reproduce", "fig2", "--scale", "smoke", "--out", str(out), "--decide", "8"]
    assert main(command) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said[:-1]] == [
        f"look {i} of 5 (fig2 {runs} runs)" for i, runs in enumerate((2, 3, 4, 6, 8), 1)
    ]
    found, rows = (out / "claims.json").read_text("utf-8"), rows_of(out)
    assert max(row["run"] for row in rows.values() if row["part"] == "test") == 7
    assert {claim["runs"] for claim in json.loads(found)} >= {0, 8}
    page = (out / "index.html").read_text("utf-8")
    assert (
        f"{len(rows)} in this folder: 115 that tune and 48 that test are in this report</dd>"
        in page
    )
    assert "99%: 95% for 5 looks" in " ".join(page.split())
    batch = next((out / "rows").glob("*.parquet"))
    batch.unlink()
    assert main(command) == 0
    assert same(rows_of(out), rows)
    assert (out / "claims.json").read_text("utf-8") == found
    assert main([*command, "--report-only"]) == 0
    assert (out / "claims.json").read_text("utf-8") == found
    capsys.readouterr()
    assert main([*command[:-1], "9", "--report-only"]) == 1  # it would look more often than it says
    assert f"--decide must be 8 in {out}, not 9: its claims were looked" in capsys.readouterr().err
    assert main([*command, "--seed", "3"]) == 1
    assert "whose seed is 2021, not 3: choose another --out" in capsys.readouterr().err
    assert same(rows_of(out), rows)


@pytest.mark.skipif(interpreted(), reason="plays a whole figure")
def test_another_seed_plays_all_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own: other streams, another split, and so other fair shares."""
    monkeypatch.chdir(tmp_path)
    command = ["reproduce", "fig2", "--scale", "smoke", "--seed", "3"]
    assert main(command) == 0
    out = tmp_path / "results" / "smoke-seed-3"
    rows = rows_of(out)
    seeds = {(row["part"], row["seed"]) for row in rows.values()}
    assert seeds == {("validation", 3), ("test", 4)}
    assert "<dt>Seed</dt><dd>3</dd>" in (out / "index.html").read_text("utf-8")
    assert any(claim["runs"] for claim in json.loads((out / "claims.json").read_text("utf-8")))
    (first,) = read("fig2", "smoke")
    shares = [part(first.problem, "test", seed).fair(first.merits[0]) for seed in (3, first.seed)]
    assert abs(shares[0] - shares[1]).max() > 0.001


@pytest.mark.skipif(interpreted(), reason="plays a whole figure")
def test_settings_are_chosen_by_runs_of_another_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """In a folder of its own, from which nothing gets into that of the figure's own length."""
    monkeypatch.chdir(tmp_path)
    command = ["reproduce", "fig2", "--scale", "smoke"]
    assert main([*command, "--tuning-rounds", "300"]) == 0
    out = tmp_path / "results" / "smoke-tuned-300"
    rounds = {(row["part"], row["rounds"]) for row in rows_of(out).values()}
    assert rounds == {("validation", 300), ("test", 2000)}
    assert "2,000; tuned for 300</dd>" in (out / "index.html").read_text("utf-8")
    capsys.readouterr()
    assert main([*command, "--out", str(out)]) == 1
    assert "whose tuning_rounds is 300, not 2000: choose another --out" in capsys.readouterr().err
    assert main([*command, "--tuning-rounds", "300", "--seed", "3"]) == 0
    assert (tmp_path / "results" / "smoke-tuned-300-seed-3" / "index.html").exists()


def test_a_report_of_what_is_there(tmp_path: Path) -> None:
    path, out = written(tmp_path, SMALLEST), tmp_path / "out"
    command = ["run", str(path), "--out", str(out), "--jobs", "1"]
    assert main([*command, "--report-only"]) == 1
    assert not out.exists()
    assert main(command) == 0
    (out / "index.html").unlink()
    before = rows_of(out)
    assert main([*command, "--report-only"]) == 0
    assert same(rows_of(out), before)
    assert "<svg" in (out / "index.html").read_text("utf-8")
    assert main([*command, "--report-only", "--band", "interval", "--panels"]) == 0
    assert r"half a 95 \% interval" in (out / "tables.tex").read_text("utf-8")
    alone = {path.stem for path in out.glob("*-*.pdf")}
    assert {name.partition("-")[2] for name in alone} >= {"fairness-c4", "reward-c4"}, alone


def test_a_report_has_the_digests_of_its_rows(tmp_path: Path) -> None:
    """The same in another folder and for two jobs; another one where a number is another."""
    path, found = written(tmp_path, SMALLEST), []
    for jobs in ("1", "2"):
        out = tmp_path / jobs
        assert main(["run", str(path), "--out", str(out), "--jobs", jobs]) == 0
        found.append(json.loads((out / "rows.json").read_text("utf-8")))
    assert found[0] == found[1]
    (kinds,) = found[0].values()
    rows = Rows(out / "rows")
    tests = [key for key, row in rows.found.items() if row["part"] == "test"]
    assert kinds["test"] == {"runs": len(tests), "sha256": rows.digest(reversed(tests))}
    assert kinds["test"]["sha256"][:16] in (out / "index.html").read_text("utf-8")
    for name in ("fairness_regret", "pulls"):
        row = rows.found[tests[0]]
        rows.found[tests[0]] = {**row, name: row[name] + 1}
        assert rows.digest(tests) != kinds["test"]["sha256"]
        rows.found[tests[0]] = row


def test_runs_of_other_folders_are_taken_in(tmp_path: Path) -> None:
    """The same report, by the same rows, and its head says where they are from."""
    path, one, two = written(tmp_path, SMALLEST), tmp_path / "one", tmp_path / "two"
    assert main(["run", str(path), "--out", str(one)]) == 0
    there = {file.name: file.read_bytes() for file in (one / "rows").iterdir()}
    command = ["run", str(path), "--out", str(two), "--rows", str(one), "--report-only"]
    assert main(command) == 0
    assert same(rows_of(two), rows_of(one))
    assert (two / "rows.json").read_bytes() == (one / "rows.json").read_bytes()
    count = len(rows_of(one))
    page = (two / "index.html").read_text("utf-8")
    assert f"({count} runs brought from {one}, where there was: " in page
    assert "commands that were killed" not in page
    assert there == {file.name: file.read_bytes() for file in (one / "rows").iterdir()}
    assert main(command) == 0  # a second time there is nothing to take in
    assert len((two / "sessions.jsonl").read_text("utf-8").splitlines()) == 1


def test_the_head_accounts_for_runs_of_commands_that_were_killed(tmp_path: Path) -> None:
    """A killed command leaves what it began with, and no end."""
    path, out, more = written(tmp_path, SMALLEST), tmp_path / "out", tmp_path / "more.toml"
    command = ["run", str(path), "--out", str(out)]

    def told() -> list[str]:
        page = (out / "index.html").read_text("utf-8")
        assert "or of Python" not in page
        return re.findall(r"<dd>[^<]*? \((\d+ runs .*?)\)</dd>", page)

    assert main(command) == 0
    first = len(rows_of(out))
    sessions = out / "sessions.jsonl"
    sessions.write_text(sessions.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    assert main([*command, "--report-only"]) == 0
    assert [line.partition(" on ")[0] for line in told()] == [f"{first} runs"]
    assert told()[0].endswith(", and was killed")
    more.write_text(path.read_text("utf-8").replace("runs = 2", "runs = 3"), "utf-8")
    more.replace(path)
    assert main(command) == 0
    assert len(rows_of(out)) > first
    assert [line.split()[0] for line in told()] == [str(first), str(len(rows_of(out)) - first)]
    assert told()[0].endswith(", and was killed")
    assert " minutes on " in told()[1]


@pytest.mark.once
@pytest.mark.parametrize(
    ("lines", "there", "told"),
    [
        ("b0 e4 b5 e85", 90, [5, 85]),  # interrupted between a file and its count
        ("b0 b5 b9", 9, [5, 4]),  # killed twice
        ("b0 r3 b10 r2 e8", 20, [3, 7, 2, 8]),
        ("e4 e6", 10, [4, 6]),  # as commands noted it before
        ("e4 b4 e6", 10, [4, 6]),
        ("r3", 3, [3]),
        ("b0 e4 r3 b7 e1", 8, [3, 4, 1]),
        ("b0 e4", 0, [4]),  # of a folder whose runs are not counted
        ("b0 e4 b2 e3", 5, [4, 3]),  # two were torn
    ],
)
def test_sessions_account_for_every_run(
    tmp_path: Path, lines: str, there: int, told: list[int]
) -> None:
    """b: begun with so many runs there, e: ended, having added some, r: brought some."""
    kinds: dict[str, Any] = {"b": "begun", "e": "runs", "r": "runs"}
    marks: dict[str, Any] = {"e": {"seconds": 1.0}, "r": {"brought": "from elsewhere"}, "b": {}}
    noted = [{kinds[one[0]]: int(one[1:]), **marks[one[0]]} for one in lines.split()]
    text = "".join(json.dumps(one) + "\n" for one in noted)
    (tmp_path / "sessions.jsonl").write_text(text, "utf-8")
    assert [one["runs"] for one in session._sessions(tmp_path, there)] == told


def test_a_report_says_that_a_gpu_played() -> None:
    asked = argparse.Namespace(cluster=None, device="cuda", jobs=2)
    assert ", a GPU, Python" in session._where(asked)
    asked.device = "cpu"
    assert ", 2 jobs, Python" in session._where(asked)


PAGES = """
name = "pages"
rounds = 20
merits = [{ kind = "Exponential", steepness = 4 }]
problem = { means = [0.2, 0.5, 0.8], weights = [1, 0.5] }
policies = [{ label = "EG", kind = "FairXEG", epsilon = 0.1 }]
"""


def test_pages_are_refused_on_a_gpu_by_the_name_of_their_figure(
    tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "out"
    command = ["run", str(written(tmp_path, PAGES)), "--out", str(out), "--device", "cuda"]
    assert main(command) == 1
    said = "--device cuda must be left out for pages: pages with places are played on a processor"
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_runs_that_are_not_what_they_say_are_refused(tmp_path: Path, capsys: Capture) -> None:
    path, one = written(tmp_path, SMALLEST), tmp_path / "one"
    assert main(["run", str(path), "--out", str(one)]) == 0
    first = next(iter(Rows(one / "rows").found.values()))

    def refused(folder: str, row: Any, message: str) -> None:
        made, out = tmp_path / folder, tmp_path / f"{folder}-out"
        Rows(made / "rows").add(row)
        out.mkdir()
        shutil.copytree(one / "rows", out / "rows")
        before = rows_of(out)
        command = ["run", str(path), "--out", str(out), "--rows", str(made), "--report-only"]
        assert main(command) == 1
        assert message in capsys.readouterr().err
        assert same(rows_of(out), before)

    refused("key", first | {"key": "0" * 24}, "has a row whose key is not that of its settings")
    refused(
        "pulls", first | {"pulls": first["pulls"] + 1}, f"another run of the key {first['key']}"
    )
    near = first | {"fairness_regret": first["fairness_regret"] * (1 + 1e-12)}  # as a GPU adds up
    Rows(tmp_path / "near" / "rows").add(near)
    assert main(["run", str(path), "--out", str(one), "--rows", str(tmp_path / "near")]) == 0
    torn = tmp_path / "torn" / "rows" / "batch-00001.parquet"
    torn.parent.mkdir(parents=True)
    torn.write_bytes(b"PAR1 no more")
    assert main(["run", str(path), "--out", str(one), "--rows", str(tmp_path / "torn")]) == 1
    assert "must be a file of rows, and is torn or none" in capsys.readouterr().err
    assert torn.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "fig22"], "did you mean 'fig2'?"),
        (["reproduce", "fig4"], "ydata-fp-td-clicks"),
        (["reproduce", "figA2", "--data", "nowhere"], "fairx data get mediamill"),
        (
            ["reproduce", "figA1", "--steepness", "7"],
            "must be one of 6, 8, 10, 12 for figA1, not 7",
        ),
        (
            ["reproduce", "tight-intervals", "--steepness", "4", "7"],
            "must be one of 4 for tight-intervals-yeast, not 7",
        ),
        (["run", "nowhere.toml"], "nowhere.toml"),
        (["run", "fig2"], "must be a file that ends in .toml, not fig2"),
        (["reproduce", "fig1", "--report-only"], "holds no results yet"),
        (
            ["reproduce", "fig1", "--decide", "10"],
            "cap of --decide must be a whole number of at least 14",
        ),
        (["reproduce", "figA1", "--decide", "--steepness", "6"], "given without --steepness"),
        (
            ["reproduce", "fig3", "figA4", "--tuning-rounds", "2000000"],
            "must be at most 200000, the rounds that figA4 is played for at this scale, not 2000000",
        ),
        (
            ["reproduce", "exploration", "--tuning-rounds", "100"],
            "must be left out for exploration: nothing of it is tuned",
        ),
        (["reproduce", "fig1", "--rows", "nowhere"], "must be a folder with results, not nowhere"),
        (["data", "get", "yaest"], "name must be one of mediamill, not 'yaest'"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, arguments: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FAIRX_DATA", raising=False)
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith("fairx: error: ")
    assert message in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())
    with pytest.raises((ValueError, OSError)):
        main(["--traceback", *arguments])


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["reproduce"],
        ["reproduce", "fig1", "--jobs", "0"],
        ["reproduce", "fig1", "--band", "sd"],
        ["reproduce", "fig1", "--seed", "-1"],
        ["reproduce", "fig1", "--tuning-rounds", "0"],
    ],
)
def test_usage(arguments: list[str], capsys: Capture) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "usage: fairx" in capsys.readouterr().err


def test_a_mistake_leaves_no_folder_behind(tmp_path: Path) -> None:
    """After the file is mended, the same command works."""
    out = tmp_path / "out"
    command = ["run", str(written(tmp_path, SMALLEST.replace("[0.01,", "[-1,"))), "--out", str(out)]
    assert main(command) == 1
    assert not out.exists()
    written(tmp_path, SMALLEST)
    assert main(command) == 0


def test_everything_leaves_out_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Nothing is played here: the folder has no rows, and stays so."""
    with opened(tmp_path / "out", "fairx reproduce --scale smoke", []):
        pass
    arguments = ["reproduce", "all", "--scale", "smoke", "--report-only", "--data", str(tmp_path)]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "figA2 is left out: mediamill is not at" in said
    assert "fig4-mab is left out: " in said
    assert "figA2, left out" in (tmp_path / "out" / "index.html").read_text("utf-8")


def test_version(capsys: Capture) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"fairx {fairx.__version__}\n"


def test_a_closed_pipe_is_no_mistake() -> None:
    command = f"{sys.executable} -m fairx data list | head -1; exit ${{PIPESTATUS[0]}}"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert found.returncode == 0
    assert found.stderr == ""


def test_progress_without_a_terminal_is_lines(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("fairx.experiments.progress.time.monotonic", lambda: now[0])
    with Progress("fig2, fig3", runs=3, rounds=3000) as progress:
        for _ in range(3):
            now[0] += 11.0
            progress.add_rounds(1000)
            progress.add_runs(1)
    assert capsys.readouterr().err.splitlines() == [
        "fig2, fig3: 1 of 3 runs, 91 rounds/s, 22 s left",
        "fig2, fig3: 2 of 3 runs, 91 rounds/s, 11 s left",
        "fig2, fig3: 3 of 3 runs, 91 rounds/s, 0 s left",
        "fig2, fig3: 3 of 3 runs, 91 rounds/s",
    ]


def test_progress_is_live_on_a_terminal() -> None:
    pty = pytest.importorskip("pty", reason="this system has no terminals to pretend")
    import termios

    code = """
import time
from fairx.experiments import opened
from fairx.experiments.progress import Progress
with Progress("fig2", 9, 9000) as progress:
    for _ in range(9):
        progress.add_rounds(1000)
        progress.add_runs(1)
        time.sleep(0.2)
"""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    process = subprocess.Popen([sys.executable, "-c", code], stderr=theirs)
    shown, late = b"", time.monotonic() + 30
    while b"of 9 runs" not in shown[200:] and time.monotonic() < late:
        if select.select([ours], [], [], 1.0)[0]:
            shown += os.read(ours, 1000)
    process.kill()
    process.wait()
    os.close(ours)
    os.close(theirs)
    assert b"fig2:" in shown
    assert b"rounds/s" in shown
    assert b"of 9 runs" in shown


def test_help_names_every_subcommand(capsys: Capture) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    words = capsys.readouterr().out
    for name, (_, about) in COMMANDS.items():
        assert f"{name} " in words
        assert about in words
