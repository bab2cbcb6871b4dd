import base64
import json
import re
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from babelquake.errors import UserError
from babelquake.report import html
from babelquake.report.examples import choose, example_columns, packed
from babelquake.report.html import render, write_html
from babelquake.report.images import write_images
from babelquake.report.pages import views
from babelquake.runs.run import Run


def test_a_report_needs_a_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="at least one run"):
        write_html([], tmp_path / "report.html")


def test_the_page_names_no_address_to_fetch_from(runs: dict[str, Run]) -> None:
    page = render([runs["mt"]])
    own = page.replace(html._vega(), "")
    assert not re.findall(r"https?://", own)
    assert "default-src &#39;none&#39;" in own


def test_hostile_names_and_notes_are_escaped(tmp_path: Path, runs: dict[str, Run]) -> None:
    run = Run(runs["mt"].folder, runs["mt"].info.model_copy(deep=True))
    run.info.notes = ["<script>alert(1)</script>\u202e"]
    run.info.config["system"] = ["<marquee>"]
    page = render([run])
    assert "&lt;script&gt;alert(1)&lt;/script&gt;⟨U+202E⟩" in page
    assert "<marquee>" not in page.replace(html._vega(), "")


def test_packed_data_is_base64_of_deflated_json() -> None:
    text = packed({"a": "</script>\u2028"})
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", text)
    assert json.loads(zlib.decompress(base64.b64decode(text))) == {"a": "</script>\u2028"}


def test_examples_that_do_not_fit_are_half_the_worst_and_half_drawn() -> None:
    drops = np.arange(1000.0)
    groups = pl.Series(["a", "b"] * 500)
    rows = np.arange(1000)
    chosen = choose(groups, rows, drops, 100)
    assert len(chosen) == len(set(chosen)) == 100
    assert set(range(950, 1000)) <= set(chosen)
    assert chosen == choose(groups, rows, drops, 100)
    others = [place for place in chosen if place < 950]
    assert 300 < np.mean(others) < 650


def test_every_system_keeps_its_worst_examples() -> None:
    drops = np.concatenate([np.full(500, 90.0), np.linspace(0, 1, 500)])
    chosen = choose(pl.Series(["big"] * 500 + ["small"] * 500), np.arange(1000), drops, 40)
    assert {999, 998, 997} <= set(chosen)


def test_the_page_says_how_many_examples_it_holds(runs: dict[str, Run]) -> None:
    columns = example_columns(runs["mt"], 10)
    assert (columns["total"], columns["shown"], len(columns["drop"])) == (2 * runs["mt"].variants.height, 10, 10)


def test_examples_give_way_until_the_data_fit_their_room(runs: dict[str, Run]) -> None:
    everything = html._packed(runs["large"], 50_000, 10_000_000)
    room = len(everything) * 9 // 10
    smaller = html._packed(runs["large"], 50_000, room)
    kept = json.loads(zlib.decompress(base64.b64decode(smaller)))["examples"]
    assert len(smaller) <= room
    assert 100 <= kept["shown"] < kept["total"] == 2 * runs["large"].variants.height


def test_missing_numbers_do_not_break_the_data(runs: dict[str, Run]) -> None:
    columns = example_columns(runs["metric"], 1000)
    assert json.loads(json.dumps(columns, allow_nan=False)) == columns


def test_every_kind_of_run_has_charts(runs: dict[str, Run]) -> None:
    for run in runs.values():
        assert all(view.charts for view in views(run))


@pytest.mark.slow
def test_images_are_written_for_every_chart(runs: dict[str, Run], tmp_path: Path) -> None:
    written = write_images([runs["qe"], runs["challenge"]], tmp_path / "images")
    assert len(written) == 2 * sum(len(view.charts) for kind in ("qe", "challenge") for view in views(runs[kind]))
    for path in written:
        start = path.read_bytes()[:8]
        assert start == b"\x89PNG\r\n\x1a\n" if path.suffix == ".png" else start.startswith(b"<svg")


def test_an_unknown_image_format_is_refused(runs: dict[str, Run], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="png or svg"):
        write_images([runs["qe"]], tmp_path, ["gif"])
