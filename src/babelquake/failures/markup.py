"""Machinery: placeholders, tags, URLs and e-mail addresses that were lost, changed or added."""

import re
from collections import Counter

from babelquake.failures.base import Failure, detector
from babelquake.failures.pair import Pair, Side
from babelquake.machinery import EMAIL, PLACEHOLDER, TAG, URL

NAME_OF_TAG = re.compile(r"</?\s*([A-Za-z][\w:.-]*)")
ICU = re.compile(r"\{\s*(\w+)\s*,\s*(\w+)")
ICU_BRANCH = re.compile(r"(=\d+|\w+)\s*\{")


@detector("placeholder", family="markup", needs=("source",))
def placeholder(pair: Pair) -> Failure | None:
    """Placeholders such as {name}, %s or {{count}} were lost, changed or added."""
    return _compared("placeholder", pair, PLACEHOLDER)


@detector("tag", family="markup", needs=("source",))
def tag(pair: Pair) -> Failure | None:
    """Tags such as <b> were lost, changed or added."""
    return _compared("tag", pair, TAG)


@detector("url", family="markup", needs=("source",))
def url(pair: Pair) -> Failure | None:
    """A URL was lost, changed or added."""
    return _compared("url", pair, URL)


@detector("email", family="markup", needs=("source",))
def email(pair: Pair) -> Failure | None:
    """An e-mail address was lost, changed or added."""
    return _compared("email", pair, EMAIL)


def _compared(kind: str, pair: Pair, machine: str) -> Failure | None:
    if not pair.source.machinery and not pair.translation.machinery:
        return None
    wanted, found = _items(pair.source, machine), _items(pair.translation, machine)
    if wanted == found:
        return None
    lost = [item for item, times in wanted.items() if found[item] < times]
    added = [item for item, times in found.items() if wanted[item] < times]
    if machine in (URL, EMAIL) and all(item in pair.translation.text for item in lost):
        lost = []
    if machine in (URL, EMAIL):
        said = pair.source.text.lower()
        added = [item for item in added if item.lower() not in said and not _is_spelt_out(item, said)]
    if not lost and not added:
        return None
    share = (len(lost) + len(added)) / max(1, len(wanted | found))
    evidence = "; ".join(
        [*(["lost: " + " ".join(lost[:5])] if lost else []), *(["added: " + " ".join(added[:5])] if added else [])]
    )
    spans = tuple(
        (item.start, item.end)
        for item in pair.translation.machinery
        if item.kind == machine and item.text in added[:20]
    )
    return Failure(kind, min(1.0, share), evidence[:240], spans)


def _is_spelt_out(item: str, source: str) -> bool:
    """Whether a source says an address in words, as speech does: `jane at example dot org`."""
    name, _, domain = item.lower().partition("@")
    return bool(domain) and (name in source or domain.partition(".")[0] in source)


def _items(side: Side, machine: str) -> Counter[str]:
    return Counter(_written(item.text, machine) for item in side.machinery if item.kind == machine)


def _written(text: str, machine: str) -> str:
    """What has to survive: of a tag its name, of an ICU message its argument, type and branches, of others all."""
    if machine == TAG:
        name = NAME_OF_TAG.match(text)
        closing = "/" if text.startswith("</") else ""
        return f"<{closing}{name.group(1).lower()}>" if name else text
    if machine == PLACEHOLDER and (head := ICU.match(text)):
        branches = sorted(set(ICU_BRANCH.findall(text[head.end() :])) - OTHER_BRANCHES)
        return "{" + ", ".join([head.group(1), head.group(2), *branches]) + "}"
    if machine == PLACEHOLDER and text.startswith("{{"):
        return "{{" + text.strip("{} ") + "}}"
    return text.rstrip("/") if machine == URL else text


OTHER_BRANCHES = frozenset({"zero", "one", "two", "few", "many", "other"})
"""Plural categories differ between languages: Czech has `few`, English has not."""
