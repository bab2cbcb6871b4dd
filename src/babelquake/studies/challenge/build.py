"""A challenge set from a run: every perturbed translation beside the one it was made from.

Layouts:

- `wmt25`: the line files of the WMT25 evaluation task, `NAME.PAIR.src.txt`, `hyp-1`, `hyp-2`, `ref` and `meta`;
- `wmt26`: JSON lines with documents and hypotheses by name, as the general task's test sets of WMT25 and WMT26;
- `contrastive`: one TSV file with the columns of ACES, which has no place for changes that do no harm.

In the first two nobody can tell from the order which hypothesis is better: it is drawn per item. The key beside them
(`.key.tsv`) says it, and is not to be handed in.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from babelquake.data.challenge_sets import KEY, KEY_COLUMNS
from babelquake.errors import UserError, one_of, setting
from babelquake.files import store_bytes
from babelquake.randomness import Stream
from babelquake.runs.run import AnyRun, Run, opened
from babelquake.studies.cells import grouped

Layout = Literal["wmt25", "wmt26", "contrastive"]
ACES_COLUMNS = ("source", "good-translation", "incorrect-translation", "reference", "phenomena", "langpair")
BREAKS = ("\t", "\n", "\r", "\0")
WORSE, SAME = "worse", "same"
APART = "apart"
"""Nothing is expected: a challenge set compares translations of one source."""


class Item(NamedTuple):
    """A translation, a changed version of it, and what is expected of a metric."""

    language_pair: str
    source: str
    reference: str
    better: str
    other: str
    category: str
    expected: str
    domain: str
    document: str


def build_challenge(run: AnyRun, layout: Layout, out: str | Path, *, name: str = "challenge", seed: int = 0) -> int:
    """Write the perturbed translations of a `metric`, `qe` or `attack` run as a challenge set; how many items it has.

    Equal items are written once; unchanged texts, and texts that a line cannot hold, are left out and counted in the
    README.
    """
    one_of("format", layout, Layout)
    found, left_out = _checked(_items(opened(run)[0]), (WORSE,) if layout == "contrastive" else (WORSE, SAME))
    if not found:
        why = "; ".join(f"{what}: {n}" for what, n in left_out.items()) or "nothing was changed"
        raise UserError(f"the run has no translation for a challenge set in the layout {layout}. Left out: {why}.")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    writers = {"wmt25": _wmt25, "wmt26": _wmt26, "contrastive": _contrastive}
    writers[layout](found, folder, name, seed)
    _lines(folder / f"{name}.README.txt", _readme(found, left_out, name, layout).splitlines())
    return len(found)


def _items(run: Run) -> Iterable[Item]:
    if run.has("variants") and {"text", "translation"} <= set(run.segments.columns):
        return _of_variants(run)
    if run.has("attacks"):
        return _of_attacks(run.table("attacks"))
    raise UserError(f"{run.folder} has no perturbed translations. Use a run of metric, qe or attack.")


def _of_variants(run: Run) -> list[Item]:
    segments = run.segments
    if not segments["text"].eq_missing(segments["translation"]).all():
        raise UserError(
            f"{run.folder} perturbed sources or references. Use a run of metric with {setting('side', 'translation')}."
        )
    facts = run.info.facts
    rows = run.table("variants").drop_nulls("text").rename({"text": "changed_text"})
    both = rows.join(segments, on="row", how="left", maintain_order="left", suffix="_of_segment").to_dicts()
    made = {(row["row"], row["perturbation"], row["level"]): row for row in both}
    found = []
    for row in both:
        rule = facts.expectations.get(row["perturbation"])
        better, beside = row["text"], row.get("source")
        if rule is not None and rule.than is not None:
            before = made.get((row["row"], rule.than, row["level"] if rule.level is None else rule.level))
            better, beside = (before["changed_text"], _own(before, "source")) if before else (better, None)
        source, reference = (_own(row, side) for side in ("source", "reference"))
        expected = _expected(facts, row) if source == beside else APART
        facing = row | {"source": source, "references": [reference]}
        found.append(_item(facing, better, row["changed_text"], row["perturbation"], expected))
    return found


def _own(row: dict[str, Any], side: str) -> str | None:
    """The source or reference that a variant is judged beside: what it brings, or the segment's."""
    brought = row.get(f"own_{side}")
    if brought is not None:
        return str(brought)
    references = row.get("references") or [row.get("reference") or ""]
    return row.get("source") if side == "source" else references[0]


def _expected(facts: Any, row: dict[str, Any]) -> str:
    """Whether the changed text is worse, by what its suite expects or by what the change does to the meaning."""
    rule = facts.expectations.get(row["perturbation"])
    if rule is not None:
        return WORSE if rule.rule == "below" else SAME
    return SAME if facts.meaning.get(row["perturbation"]) == "preserving" else WORSE


def _of_attacks(table: pl.DataFrame) -> list[Item]:
    """Attacks keep the meaning, but for those that raise the score of what they spoil."""
    return [
        _item(row, row["original"], row["perturbed"], row["recipe"], WORSE if row["goal"] == "inflate" else SAME)
        for row in table.filter("success").to_dicts()
    ]


def _item(row: dict[str, Any], better: str, other: str, category: str, expected: str) -> Item:
    references = row.get("references") or [row.get("reference") or ""]
    pair = row.get("language_pair")
    if not pair:
        raise UserError(f"the run does not say which languages it is about. Make it with {setting('language_pair')}.")
    texts = (str(pair), row.get("source") or "", references[0], better, other, category, expected)
    return Item(*texts, str(row.get("domain") or "general"), str(row.get("document") or row.get("id") or ""))


def _checked(items: Iterable[Item], wanted: Sequence[str]) -> tuple[list[Item], Counter[str]]:
    """Items worth a question, each once; what was left out, and how often."""
    kept: dict[tuple[str, ...], Item] = {}
    left_out: Counter[str] = Counter()
    for item in items:
        key = (item.language_pair, item.source, item.reference, item.better, item.other)
        if item.expected == APART:
            left_out["translations of another source than what they are compared with"] += 1
        elif item.expected not in wanted:
            left_out["harmless, so neither translation is incorrect"] += 1
        elif item.better == item.other:
            left_out["unchanged"] += 1
        elif any(mark in text for text in item for mark in BREAKS):
            left_out["with a tab or a line end"] += 1
        elif key in kept:
            left_out["repeated"] += 1
        else:
            kept[key] = item
    return list(kept.values()), left_out


def _ordered(item: Item, seed: int) -> tuple[str, tuple[str, str]]:
    """Which hypothesis is the better one, and both in order."""
    first = Stream(seed, "challenge", item.better, item.other).chance(0.5)
    return ("hyp-1", (item.better, item.other)) if first else ("hyp-2", (item.other, item.better))


def _wmt25(items: Sequence[Item], folder: Path, name: str, seed: int) -> None:
    for pair, here in grouped(items, lambda item: item.language_pair).items():
        start = folder / f"{name}.{pair}"
        ordered = [_ordered(item, seed) for item in here]
        _lines(f"{start}.src.txt", (item.source for item in here))
        _lines(f"{start}.ref.txt", (item.reference for item in here))
        _lines(f"{start}.meta.txt", (f"{item.domain}\t{item.document}" for item in here))
        for place in (0, 1):
            _lines(f"{start}.hyp-{place + 1}.txt", (texts[place] for _, texts in ordered))
        _key(Path(f"{start}{KEY}"), here, [better for better, _ in ordered])


def _wmt26(items: Sequence[Item], folder: Path, name: str, seed: int) -> None:
    counts: Counter[str] = Counter()
    ordered = [_ordered(item, seed) for item in items]
    lines = []
    for item, (_, texts) in zip(items, ordered, strict=True):
        counts[item.language_pair] += 1
        source, _, target = item.language_pair.partition("-")
        line = {
            "doc_id": f"{item.language_pair}_#_{item.domain}_#_{item.document}_#_{counts[item.language_pair]}",
            "src_lang": source,
            "tgt_lang": target,
            "src_text": item.source,
            "tgt_text": {"hyp-1": texts[0], "hyp-2": texts[1]},
            "refs": {"refA": {"ref": item.reference}} if item.reference else {},
        }
        lines.append(json.dumps(line, ensure_ascii=False))
    _lines(folder / f"{name}.jsonl", lines)
    _key(folder / f"{name}{KEY}", items, [better for better, _ in ordered])


def _contrastive(items: Sequence[Item], folder: Path, name: str, seed: int) -> None:
    rows = ((one.source, one.better, one.other, one.reference, one.category, one.language_pair) for one in items)
    _lines(folder / f"{name}.tsv", ["\t".join(ACES_COLUMNS), *("\t".join(row) for row in rows)])


def _key(path: Path, items: Sequence[Item], better: Sequence[str]) -> None:
    rows = zip((item.category for item in items), better, (item.expected for item in items), strict=True)
    _lines(path, ["\t".join(KEY_COLUMNS), *("\t".join(row) for row in rows)])


def _readme(items: Sequence[Item], left_out: Counter[str], name: str, layout: str) -> str:
    categories = Counter((item.language_pair, item.category, item.expected) for item in items)
    counted = "".join(f"- {pair}, {what} ({how}): {n}\n" for (pair, what, how), n in sorted(categories.items()))
    gone = "".join(f"- {what}: {n}\n" for what, n in left_out.items()) or "- nothing\n"
    key = "" if layout == "contrastive" else f"Keep the {KEY} files to yourself: they say which hypothesis is better.\n"
    return (
        f"# {name}\n\nA challenge set for metrics, made by babelquake from a run: {len(items)} items.\n{key}\n"
        "Team name:\nAffiliation:\nContact:\n\n"
        f"## Categories, and what the changed translation should score\n\n{counted}\n"
        f"## Left out\n\n{gone}"
    )


def _lines(path: str | Path, lines: Iterable[str]) -> None:
    store_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"), Path(path))
