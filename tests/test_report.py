"""The page: one file, well formed, that loads nothing and escapes everything."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from outcomes import Made, panel, played, regrets

from fairx import Exponential
from fairx.report import claims, rows, write_report

ABOUT = {"Command": "fairx run <all> & more", "Machine": "two cores"}
VOID = {"meta", "link", "br", "img", "input", "hr"}
NASTY = '<script>alert("1")</script>'


class Page(HTMLParser):
    """Collects tags and refuses those that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += " " + " ".join(data.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = {"UCB": Made(9000, 1, -900), "TS": Made(9000, 1), NASTY: Made(500)}
    made |= dict.fromkeys(("FairX-UCB (gradient)", "FairX-TS", "FairX-EG"), Made(1000))
    made |= {"FairX-TS": Made(1100)}
    first, second = played(), regrets("figA1", panel(made, 6), panel(made, 10))
    merits = (*second.experiment.merits, Exponential(12))
    second = second._replace(experiment=second.experiment._replace(merits=merits, title=NASTY))
    return write_report(
        {"mine": first, "figA1": second}, tmp_path_factory.mktemp("deep") / "er", ABOUT
    ).parent


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "index.html").read_text(encoding="utf-8"))


def test_files(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    pictures = {f"{name}.{kind}" for name in ("mine", "figA1") for kind in ("svg", "pdf", "png")}
    assert names == {"index.html", "claims.json", "tables.csv", "tables.tex"} | pictures


def test_the_page_loads_nothing(page: Page, folder: Path) -> None:
    for tag, attributes in page.tags:
        assert tag not in {"script", "iframe", "object", "embed", "base", "image"}
        assert "src" not in attributes
        for name in ("href", "xlink:href"):
            link = attributes.get(name) or "#"
            beside = tag == "a" and (folder / link).is_file()  # which is loaded by a click alone
            assert beside or link.startswith(("#", "data:")), attributes
        for value in attributes.values():
            assert all(found == "#" for found in re.findall(r"url\((.)", value or ""))
    policy = next(a for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_addresses_are_names_of_schemas_only(folder: Path) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    found = re.findall(r'(\S+)="https?://', text)
    assert set(found) <= {"xmlns", "xmlns:xlink"}
    assert len(found) == len(re.findall("https?://", text))


def test_ids_are_unique_and_links_lead_somewhere(page: Page) -> None:
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in page.tags:
        for name in ("href", "xlink:href"):
            link = attributes.get(name) or ""
            assert not link.startswith("#") or link[1:] in ids


def test_figures_and_tables_have_names(page: Page) -> None:
    images = [a for _, a in page.tags if a.get("role") == "img"]
    assert len(images) == 2
    assert all(a["aria-label"] for a in images)
    tags = [tag for tag, _ in page.tags]
    assert (
        tags.count("table") == tags.count("caption") == 5
    )  # claims run and not, two of regrets, one search
    assert tags.count("h1") == 1


def test_words_from_outside_are_escaped(page: Page) -> None:
    assert NASTY in page.text
    assert "fairx run <all> & more" in page.text


def test_the_page_says_what_is_missing_and_what_scale_it_is(page: Page) -> None:
    assert "Not played yet: c = 12." in page.text
    assert "This is not the paper's scale." in page.text
    assert "at smoke scale" in page.text.replace("  ", " ")


def test_paper_scale_has_no_warning(tmp_path: Path) -> None:
    found = regrets("fig2", panel({"FairX-TS": Made(10)}))
    text = write_report({"fig2": found}, tmp_path, {}).read_text(encoding="utf-8")
    assert "not the paper's scale" not in text
    assert "Not played yet" not in text


def test_an_outcome_without_panels_has_no_figure(tmp_path: Path) -> None:
    found = regrets("fig2")
    found = found._replace(experiment=found.experiment._replace(merits=(Exponential(10),)))
    text = write_report({"fig2": found}, tmp_path, {}).read_text(encoding="utf-8")
    assert "Not played yet" in text
    assert "<svg" not in text
    assert not (tmp_path / "fig2.svg").exists()


def test_figures_and_tables_can_be_taken_along(page: Page) -> None:
    links = {attributes.get("href") for tag, attributes in page.tags if tag == "a"}
    assert {"mine.pdf", "mine.svg", "mine.png", "figA1.pdf", "tables.csv", "tables.tex"} <= links


def test_panels_and_bands_are_those_asked_for(tmp_path: Path) -> None:
    found = regrets("my figure", panel({"FairX-TS": Made(1000)}))
    path = write_report({"my figure": found}, tmp_path, {}, band="se", panels=True)
    page = Page(path.read_text(encoding="utf-8"))
    for view in ("fairness-c10", "reward-c10", "fairness-log-c10"):
        for kind in ("svg", "pdf", "png"):
            assert (tmp_path / f"my figure-{view}.{kind}").is_file()
            assert ("a", {"href": f"my%20figure-{view}.{kind}"}) in page.tags
    assert "mean ± one standard error" in page.text
    assert "1,000 ± 3.54" in page.text  # 1% of ±1, ±1/2, 0, over the root of 5
    assert r"$1{,}000.0 \pm 3.5$" in (tmp_path / "tables.tex").read_text(encoding="utf-8")


def test_one_run_has_no_band(tmp_path: Path) -> None:
    found = regrets("fig2", panel({"FairX-TS": Made(1000)}, runs=1), runs=1)
    page = Page(write_report({"fig2": found}, tmp_path, {}, "interval").read_text(encoding="utf-8"))
    assert "1,000 ±" not in page.text
    assert r"& $990$ &" in (tmp_path / "tables.tex").read_text(encoding="utf-8")


def test_unknown_bands_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="band must be one of std, se, interval, not 'sd'"):
        write_report({"fig2": played()}, tmp_path / "out", {}, "sd")
    assert not (tmp_path / "out").exists()


def test_verdicts_are_in_words(page: Page) -> None:
    for words in ("✓ holds", "✗ contradicted", "? undecided", "– not run"):  # noqa: RUF001
        assert words in page.text
    counted = re.findall(
        r"holds: (\d+), contradicted: (\d+), undecided: (\d+), not run: (\d+)\.", page.text
    )
    assert [sum(map(int, each)) for each in counted] == [len(claims({}))] * 2  # plain, and Holm's


def test_claims_are_data_too(folder: Path) -> None:
    found = json.loads((folder / "claims.json").read_text("utf-8"))
    assert len(found) == len(claims({}))
    wanted = {"claim", "figures", "verdict", "statistic", "rule", "value", "low", "high", "runs", "paired", "holm"}  # fmt: skip
    assert all(wanted <= set(claim) for claim in found)
    well = next(claim for claim in found if "surprisingly well" in claim["claim"])
    assert well["figures"] == ["fig2", "figA1"]
    assert (well["verdict"], well["rule"], well["paired"]) == ("holds", "below 2", True)
    assert well["low"] <= well["value"] <= well["high"]
    larger = next(claim for claim in found if "much larger" in claim["claim"])
    assert (larger["verdict"], larger["paired"]) == ("not run", None)  # c = 8 and 12 are not there
    unplayed = next(claim for claim in found if claim["verdict"] == "not run")
    assert unplayed["value"] is unplayed["low"] is None


def test_the_page_begins_with_figures_and_ends_with_what_was_not_run(folder: Path) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    places = [
        text.index(words) for words in ("<figure>", 'id="claims"', "claims that were not run")
    ]
    assert places == sorted(places)
    folded = text[text.rindex("<details>") :]
    assert folded.count("– not run</span>") == text.count("– not run</span>") > 10  # noqa: RUF001


def test_tables_hold_the_final_regrets(folder: Path) -> None:
    with (folder / "tables.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert len(found) == 2 + 2 * 6
    row = next(r for r in found if r["policy"] == "UCB" and r["merit"] == "c = 6")
    assert float(row["fairness_mean"]) == pytest.approx(9000)
    assert float(row["fairness_std"]) == pytest.approx(90 * (2.5 / 4) ** 0.5)  # 1% of ±1, ±1/2, 0
    assert float(row["reward_mean"]) == pytest.approx(-900)
    assert (row["rounds"], row["runs"]) == ("2000", "5")
    assert (row["settings"], row["at_edge"]) == ("width 0.01", "width")


def test_settings_inside_their_grid_are_not_at_the_edge() -> None:
    found = panel({"UCB": Made(9)})
    inner = found.curves[0]._replace(settings={"width": 0.1})
    assert rows(regrets("fig2", found._replace(curves=(inner,))))[0].at_edge == ""


def test_the_search_is_folded_and_marks_the_chosen(folder: Path) -> None:
    folded = (folder / "index.html").read_text(encoding="utf-8").split("<details>")[1]
    folded = folded.split("</details>")[0]
    assert folded.count("<td>chosen</td>") == 2 * 6


@pytest.mark.parametrize("name", ["../evil", "a/b", "", "a\\b"])
def test_names_are_file_names(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="name must be a plain file name"):
        write_report({name: played()}, tmp_path / "out", {})


def test_claims_are_about_the_papers_figures_alone(tmp_path: Path) -> None:
    found = regrets("mine", panel({"FairX-TS": Made(1000)}))
    page = write_report({"mine": found}, tmp_path, {}).read_text("utf-8")
    assert "Claims" not in page
    assert "Claims" in write_report({"fig2": found}, tmp_path, {}).read_text("utf-8")
