from __future__ import annotations

import argparse
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairx import Exponential, FairXEG, FairXLinEG
from fairx.command import yahoo as command
from fairx.errors import BrokenFile
from fairx.replay import replay, yahoo
from fairx.replay.yahoo import cache, lines, reading
from fairx.replay.yahoo.synthetic import made_up

ONE = "|109510 2:0.1 3:0.2 4:0.3 5:0.4 6:0.0 1:1.000000"
TWO = "|109513 1:1.000000 6:0.5 5:0.5 4:0 3:0 2:0"  # in another order
USER = "|user 2:0.000012 3:0.000000 4:0.000006 5:0.000023 6:0.999959 1:1.000000"
LINE = f"1241160900 109513 0 {USER} {ONE} {TWO}\n"
OLD_TIME = 1_241_160_900


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path / "cache" / "code")


def parsed(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "log"
    path.write_bytes(text.encode())
    return yahoo.parse(path)


def skipped(log: Any) -> dict[str, int]:
    return {kind[9:]: n for kind, n in log.counts.items() if kind.startswith("skipped: ")}


def same(left: Any, right: Any, *parts: str) -> None:
    for part in parts or yahoo.TodayLog._fields:
        np.testing.assert_equal(getattr(left, part), getattr(right, part), err_msg=part)


def test_a_line(tmp_path: Path) -> None:
    log = parsed(tmp_path, LINE + LINE.replace("109513 0", "109510 1").replace("900", "901"))
    assert log.times.tolist() == [OLD_TIME, OLD_TIME + 1]
    assert log.articles == (109510, 109513)
    assert log.displayed.tolist() == [1, 0]
    assert log.clicks.tolist() == [0, 1]
    assert (log.pools, log.pool.tolist()) == (((0, 1),), [0, 0])
    assert log.features.tolist() == [[1, 0.1, 0.2, 0.3, 0.4, 0], [1, 0, 0, 0, 0.5, 0.5]]
    user = np.array([1, 0.000012, 0, 0.000006, 0.000023, 0.999959], np.float32)
    np.testing.assert_array_equal(log.users, [user, user])
    assert log.counts == {"lines": 2, "events": 2}
    assert not log.about.synthetic


def test_the_article_without_features(tmp_path: Path) -> None:
    """Wherever it is among the others, and whoever is displayed."""
    bare = "|109528 7:1.000000 "
    for pool in (f"{bare}{ONE} {TWO}", f"{ONE} {bare}{TWO}", f"{ONE} {TWO} {bare}"):
        log = parsed(tmp_path, 3 * f"1241160900 109528 1 {USER} {pool}\n" + LINE)
        assert log.articles == (109510, 109513, 109528)
        assert log.features[2].tolist() == [1, 0, 0, 0, 0, 0]
        assert log.displayed.tolist() == [2, 2, 2, 1]
        assert log.pools == ((0, 1, 2), (0, 1))
        assert log.counts["article: missing features, filled up"] == 1
        assert log.counts["article: unknown features, ignored"] == 1
        assert log.counts["events"] == 4


@pytest.mark.parametrize(
    ("user", "features", "kinds"),
    [
        ("|user 1:1 2:0.5 3:0.5 4:0 5:0 6:0", [1, 0.5, 0.5, 0, 0, 0], []),
        ("|user 2:0.5", [1, 0.5, 0, 0, 0, 0], ["missing features, filled up"]),
        ("|user", [1, 0, 0, 0, 0, 0], ["missing features, filled up"]),
        (
            f"{USER} 7:3",
            [1, 0.000012, 0, 0.000006, 0.000023, 0.999959],
            ["unknown features, ignored"],
        ),
        ("|user 2:1e-1 3:.25 4:0 5:0 6:1 1:1", [1, 0.1, 0.25, 0, 0, 1], []),
    ],
)
def test_users(tmp_path: Path, user: str, features: list[float], kinds: list[str]) -> None:
    log = parsed(tmp_path, LINE.replace(USER, user))
    np.testing.assert_array_equal(log.users, np.array([features], np.float32))
    assert {k: n for k, n in log.counts.items() if k.startswith("user")} == {
        f"user: {kind}": 1 for kind in kinds
    }


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("\n", "blank line"),
        (" \t\r\n", "blank line"),
        (LINE.replace("109513 0", "109514 0"), "displayed article not in its pool"),
        (LINE.replace("109513 0", "109513 2"), "click that is neither 0 nor 1"),
        (LINE.replace("109513 0", "109513"), "no event"),
        (LINE.replace("1241160900", "yesterday"), "no event"),
        (LINE.replace("1241160900", "9" * 30), "no event"),
        (LINE.replace("|user", "|reader"), "no event"),
        (LINE.replace("|user", "user"), "no event"),
        (LINE.replace("|109510", "|"), "no event"),
        (LINE.replace("|109510", "||"), "no event"),
        ("what is this\n", "no event"),
        (f"1241160900 109513 0 {USER}\n", "no event"),
        (LINE.replace(ONE, f"{ONE} {ONE}"), "article twice in its pool"),
        (LINE.replace("2:0.000012", "2:nan"), "user features that are no numbers"),
        (LINE.replace("2:0.000012", "2:1e99"), "user features that are no numbers"),
        (LINE.replace("2:0.000012", "2:"), "user features that are no numbers"),
        (LINE.replace("2:0.000012", "3:0.000012"), "user feature twice"),
        (LINE.replace("2:0.1", "2:inf"), "article features that are no numbers"),
        (LINE.replace("2:0.1", "two:0.1"), "article features that are no numbers"),
        (LINE.replace("2:0.1", "3:0.1"), "article feature twice"),
    ],
)
def test_lines_that_are_no_event_are_counted_by_kind(tmp_path: Path, line: str, kind: str) -> None:
    log = parsed(tmp_path, LINE + line + LINE)
    assert skipped(log) == {kind: 1}
    assert log.counts["lines"] == 3
    assert log.counts["events"] == log.times.size == 2
    assert log.articles == (109510, 109513)
    assert len(log.pools) == 1


@pytest.mark.parametrize(
    ("end", "events", "kinds"),
    [
        (LINE[:-1], 3, {}),  # whole, but for its end
        (LINE[:-9], 2, {"partial last line": 1}),
        (LINE[:150], 2, {"partial last line": 1}),
        (f"1241160900 109510 0 {USER} {ONE}", 2, {"partial last line": 1}),  # might pass for whole
        ("12", 2, {"partial last line": 1}),
        ("\n\n", 2, {"blank line": 2}),
        ("  ", 2, {"blank line": 1}),
    ],
)
def test_how_a_file_ends(tmp_path: Path, end: str, events: int, kinds: dict[str, int]) -> None:
    log = parsed(tmp_path, LINE + LINE + end)
    assert log.counts["events"] == events
    assert skipped(log) == kinds
    assert log.counts["lines"] == events + sum(kinds.values())


def test_features_that_change_are_counted(tmp_path: Path) -> None:
    later = LINE.replace("2:0.1", "2:0.15")
    log = parsed(tmp_path, LINE + 2 * later)
    assert log.features[0, 1] == 0.1
    assert log.counts["article: other features later, ignored"] == 1
    assert len(log.pools) == 1


def test_texts_of_pools_are_forgotten_but_not_the_pools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MANY", 2)
    spaced = [LINE.replace(f"{ONE} ", f"{ONE}{' ' * (i % 5)}") for i in range(1, 20)]
    log = parsed(tmp_path, "".join(spaced))
    assert log.counts["events"] == 19
    assert len(log.pools) == 1


def test_the_other_log_is_refused(tmp_path: Path) -> None:
    text = "1317513291 id-560620 0 |user 1 9 11 13 23 16 |id-552077 |id-555224 |id-555528\n"
    with pytest.raises(
        ValueError, match=r"must be a log of R6A \(ydata.*v1_0\), not of R6B \(ydata"
    ):
        parsed(tmp_path, text)
    with pytest.raises(ValueError, match="R6B"):
        parsed(tmp_path, LINE + text)
    path = tmp_path / "ydata-fp-td-clicks-v2_0.20111002.gz"
    with pytest.raises(ValueError, match=r"must be a log of R6A \(v1_0\), not of R6B \(v2_0\)"):
        yahoo.read(path)


@pytest.mark.parametrize("text", ["", "\n\n", "1,2,3\n4,5,6\n", "\x00\x01"])
def test_a_file_without_events_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BrokenFile, match="must have events of R6A, but has none"):
        parsed(tmp_path, text)


def test_a_torn_archive_is_refused(tmp_path: Path) -> None:
    (path,) = yahoo.make_yahoo(tmp_path, days=1, events=500, seed=1)
    content = path.read_bytes()
    for damaged in (content[:-20], content[:200] + b"xyz" + content[203:]):
        path.write_bytes(damaged)
        with pytest.raises(BrokenFile, match="is torn"):
            yahoo.read(path)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 10), st.integers(1, 60), st.integers(0, 2**32), st.integers(1, 5000))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, day: int, events: int, seed: int, piece: int
) -> None:
    """To the last bit, however the file is cut into pieces."""
    path, log = tmp_path_factory.mktemp("log") / "log.gz", made_up(day, events, seed)
    yahoo.write(path, log)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "PIECE", piece)
        found = yahoo.parse(path)
    bare = sum(not row[1:].any() for row in log.features)
    mended = {f"article: {kind}": bare for kind in lines.MENDED} if bare else {}
    same(found._replace(source=log.source), log._replace(counts={**log.counts, **mended}))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_damage_is_counted(data: st.DataObject) -> None:
    """Each line is an event or is skipped as one kind, whatever has happened to the file."""
    text = bytearray(LINE.encode() * 6)
    for _ in range(data.draw(st.integers(0, 8))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place] = data.draw(st.sampled_from(b"0129 :|.\nu-e"))
    reader = lines.Lines("damaged")
    *whole, rest = bytes(text).split(b"\n")
    reader.take(whole)
    reader.take_last(rest)
    log = reader.log()
    assert log.counts["lines"] == log.counts.get("events", 0) + sum(skipped(log).values())
    assert log.times.size == log.counts.get("events", 0)
    if log.times.size:
        made = log.log("linear")
        assert made.arms == len(log.articles)


def test_made_up_logs_have_every_quirk(tmp_path: Path) -> None:
    (path,) = yahoo.make_yahoo(tmp_path / "made", days=1, events=2000, seed=3)
    log = yahoo.read(path)
    assert log.counts == {
        "lines": 2003,
        "events": 2000,
        "skipped: displayed article not in its pool": 1,
        "skipped: blank line": 1,
        "skipped: partial last line": 1,
        "user: unknown features, ignored": 2,
        "user: missing features, filled up": 1,
        "article: missing features, filled up": 1,
        "article: unknown features, ignored": 1,
    }
    assert 109528 in log.articles
    assert log.about.synthetic
    assert "made up by fairx, from seed 3" in (tmp_path / "made" / "SYNTHETIC.txt").read_text()
    same(log, made_up(1, 2000, 3), "times", "pool", "displayed", "clicks", "pools", "articles")
    first = gzip.decompress(path.read_bytes()).splitlines()[1].decode()
    assert first.split("|")[1].split()[::6] == ["user", "1:1.000000"]


def test_made_up_logs_are_a_function_of_seed_and_day(tmp_path: Path) -> None:
    two = yahoo.make_yahoo(tmp_path / "two", days=2, events=300, seed=4)
    one = yahoo.make_yahoo(tmp_path / "one", days=1, events=300, seed=4)
    other = yahoo.make_yahoo(tmp_path / "other", days=1, events=300, seed=5)
    assert one[0].read_bytes() == two[0].read_bytes() != other[0].read_bytes()
    assert [path.name[-11:] for path in two] == ["20090501.gz", "20090502.gz"]


def test_made_up_logs_look_like_the_real_one() -> None:
    """The click rate of 40,000 events within 5 standard errors, and displays uniform over the pool:
    a chi-square test of ten parts of it at the level of 1e-6.
    """
    log = made_up(2, 40_000, seed=6)
    assert abs(log.clicks.mean() - 0.03566) < 5 * np.sqrt(0.03566 / 40_000)
    sizes = np.array([len(pool) for pool in log.pools])
    assert 17 <= sizes.min() <= sizes[log.pool].mean() <= sizes.max() <= 21
    assert 35 < len(log.pools) < 100
    np.testing.assert_allclose(log.users[:, 1:].sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(
        log.features[:, 1:].sum(axis=1)[log.features[:, 1:].any(axis=1)], 1, atol=1e-5
    )
    assert len(np.unique(log.features, axis=0)) < len(log.articles)  # some share their features
    slots = np.array([log.pools[p].index(a) for p, a in zip(log.pool, log.displayed, strict=True)])
    tenths = np.floor(10 * (slots + np.random.default_rng(0).random(40_000)) / sizes[log.pool])
    shows = np.bincount(tenths.astype(int), minlength=10)
    assert stats.chisquare(shows).pvalue > 1e-6


def test_click_rates_drift() -> None:
    """Articles have other click rates ten hours later: without drift, the sum of the squares of as
    many normal numbers would be as large less than once in 10**9.
    """
    log = made_up(1, 800_000, seed=7)
    late, found = (log.times - log.times.min()) // 36_000, []
    for article in range(len(log.articles)):
        parts = [log.clicks[(log.displayed == article) & (late == part)] for part in (0, 1)]
        if min(part.size for part in parts) > 2000:
            error = np.sqrt(sum(part.var() / part.size for part in parts))
            found.append((parts[0].mean() - parts[1].mean()) / error)
    assert stats.chi2.sf(np.square(found).sum(), len(found)) < 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"days": 0}, "days must be a whole number of at least 1"),
        ({"days": 11}, "days must be a whole number from 1 to 10, not 11"),
        ({"events": 0}, "events must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_settings_are_refused(tmp_path: Path, options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        yahoo.make_yahoo(tmp_path, **({"days": 1, "events": 10, "seed": 0} | options))  # type: ignore[arg-type]


def test_logs_are_not_replaced(tmp_path: Path) -> None:
    plain = tmp_path / "ydata-fp-td-clicks-v1_0.20090502"
    plain.write_text(LINE)
    with pytest.raises(FileExistsError, match="choose another folder"):
        yahoo.make_yahoo(tmp_path, days=2, events=10, seed=0)
    assert [entry.name for entry in tmp_path.iterdir()] == [plain.name]


def test_days_are_joined(tmp_path: Path) -> None:
    yahoo.make_yahoo(tmp_path, days=3, events=400, seed=8)
    days = [yahoo.load([day], tmp_path) for day in (1, 2, 3)]
    both = yahoo.load([1, 2, 3], tmp_path)
    assert both.articles == tuple(sorted({name for day in days for name in day.articles}))
    assert both.counts["events"] == both.times.size == 1200
    start = 0
    for day in days:
        for event in range(0, 400, 37):
            at = start + event
            names = [day.articles[place] for place in day.pools[day.pool[event]]]
            assert [both.articles[place] for place in both.pools[both.pool[at]]] == names
            shown = day.displayed[event]
            assert both.articles[both.displayed[at]] == day.articles[shown]
            np.testing.assert_equal(both.features[both.displayed[at]], day.features[shown])
            np.testing.assert_equal(both.users[at], day.users[event])
        start += 400
    assert yahoo.about([1, 2, 3], tmp_path) == both.about
    assert len({both.checksum, *(day.checksum for day in days)}) == 4
    changed = days[1]._replace(features=days[1].features + 1)
    shared = len(set(days[0].articles) & set(days[1].articles))
    assert 0 < shared < len(days[0].articles)
    both = yahoo.joined([days[0], changed])
    assert both.counts["article: other features later, ignored"] == shared
    again = yahoo.joined([both, changed])
    assert again.counts["article: other features later, ignored"] == 2 * shared
    kept = np.isin(both.articles, days[0].articles)
    np.testing.assert_equal(both.features[kept], days[0].features)


def test_a_day_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = yahoo.make_yahoo(tmp_path, days=1, events=300, seed=9)
    first = yahoo.read(path)
    place = cache.path_for(path)
    assert place.exists()
    with monkeypatch.context() as patch:
        patch.setattr(reading, "parse", None)
        same(yahoo.read(path), first)
        patch.setattr(reading, "read", None)
        assert yahoo.about([1], tmp_path) == first.about
    for content in (b"", b"PAR1", place.read_bytes()[:-100], _foreign(place)):
        place.write_bytes(content)
        same(yahoo.read(path), first)  # parsed again, and kept again
        same(cache.kept(place), first)
        place.write_bytes(content)
        assert yahoo.about([1], tmp_path) == first.about
    path.write_bytes(path.read_bytes() + gzip.compress(b""))
    assert cache.path_for(path) != place


def _foreign(place: Path) -> bytes:
    table = pq.read_table(place)
    about = table.schema.metadata[b"fairx"].replace(b"version 1", b"version 0")
    about = about.replace(b"skipped", b"SKIPPED")  # what would be seen if it were believed
    pq.write_table(table.replace_schema_metadata({"fairx": about}), place)
    return place.read_bytes()


def test_where_nothing_can_be_kept_a_day_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = yahoo.make_yahoo(tmp_path, days=1, events=30, seed=9)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path / "file" / "code")
    assert yahoo.read(path).counts["events"] == 30


def test_where_files_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = yahoo.make_yahoo(tmp_path, days=1, events=30, seed=1)
    packed = yahoo.load([1], tmp_path)
    path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
    path.unlink()
    monkeypatch.setenv("FAIRX_DATA", str(tmp_path))
    plain = yahoo.load([1])
    same(plain._replace(source=""), packed._replace(source=""))
    with pytest.raises(FileNotFoundError, match=r"20090502.gz is not in .*fairx data make-yahoo"):
        yahoo.load([2])
    with pytest.raises(ValueError, match="days must be numbers from 1 to 10"):
        yahoo.load([])
    with pytest.raises(ValueError, match="day must be a whole number"):
        yahoo.load([0])


def test_logs_are_replayed() -> None:
    log, merit = made_up(1, 1000, seed=10), Exponential(10)
    bandit, linear = log.log("mab"), log.log("linear")
    assert (bandit.dimension, linear.dimension) == (0, 36)
    for article in range(len(log.articles)):
        shown = log.displayed == article
        rate = log.clicks[shown if shown.any() else ...].mean()
        np.testing.assert_allclose(np.asarray(bandit.means)[article], rate)
    for policy, made in ((FairXEG(merit, 0.01), bandit), (FairXLinEG(merit, 0.01, 1), linear)):
        found = replay(policy, made, merit, seed=1)
        assert found.accepted == made.horizon()
        np.testing.assert_allclose(found.result.exposure.sum(axis=1), 1)
    with pytest.raises(ValueError, match="setting must be one of mab, linear, not 'lin'"):
        log.log("lin")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    command.add_to(parser.add_subparsers())
    words = ["make-yahoo", str(tmp_path), "--days", "1", "--events", "50", "--seed", "3"]
    options = parser.parse_args(words)
    assert options.run(options) == 0
    assert capsys.readouterr().out.endswith("20090501.gz (0.0 MB, synthetic)\n")
    assert yahoo.load([1], tmp_path).counts["events"] == 50
