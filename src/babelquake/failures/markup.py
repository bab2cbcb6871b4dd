"""Machinery: placeholders, tags, URLs, e-mail addresses and symbols that were lost, changed or added."""

import re
from collections import Counter

from babelquake.failures.base import Failure, detector, lost_and_added
from babelquake.failures.pair import Pair, Side, remembered
from babelquake.machinery import EMAIL, PLACEHOLDER, TAG, URL

NAME_OF_TAG = re.compile(r"</?\s*([A-Za-z][\w:.-]*)")
ICU = re.compile(r"\{\s*(\w+)\s*,\s*(\w+)")
ICU_BRANCH = re.compile(r"(=\d+|\w+)\s*\{")
NOTHING: frozenset[str] = frozenset()
NO_ITEMS: Counter[str] = Counter()
BRACKETED = re.compile(r"<[^<>\n]{1,80}>")
AUTOLINK = re.compile(r"<(?:www\.|https?:)", re.IGNORECASE)
HOST = re.compile(r"^(?:\w+://)?[^/?#]*")
SYMBOL = re.compile(
    "[\u2031\u2042\u2049\u2300-\u23ae\u23b0-\u23ff\u2600-\u27bf\u2b05-\u2b55\u2e00-\u2e39\u2e3c-\u2e7f\ua640-\ua69f"
    "\U00010330-\U0001034a\U0001f1e6-\U0001f1ff\U0001f300-\U0001f3fa\U0001f400-\U0001faff]"
)
"""Emoji, dingbats and rare signs; skin tones and joiners are left to the sign before them."""
EMOTICON = re.compile(r"[:;=x8][-'^]?[()DdPpOo3*/|\\\]\[]|<3|\^_?\^|[xX]D|[-o>T;]_+[-o<T;]|:\w{2,20}:|&#")
ELEMENT = re.compile(
    "<(?:a|abbr|address|area|article|aside|audio|b|base|bdi|bdo|blockquote|body|br|button|canvas|caption|center|cite|code"
    "|col|colgroup|data|dd|del|details|dfn|dialog|div|dl|dt|em|embed|fieldset|figcaption|figure|font|footer|form|h[1-6]"
    "|head|header|hr|html|i|iframe|img|input|ins|kbd|label|legend|li|link|main|map|mark|menu|meta|nav|noscript|object|ol"
    "|optgroup|option|output|p|param|picture|pre|progress|q|rp|rt|ruby|s|samp|script|section|select|small|source|span"
    "|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|time|title|tr|track|tt|u|ul"
    "|var|video|wbr|bpt|ept|g|it|ph|seg|x)>"
)
"""Tags of HTML and XLIFF; any other name alone in angle brackets may be a word: "Do you still go to <school>?"."""


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


@detector("symbol", family="markup", needs=("source",))
def symbol(pair: Pair) -> Failure | None:
    """Emoji or rare characters were lost, changed or added."""
    wanted, found = _symbols(pair.source), _symbols(pair.translation)
    if wanted == found:
        return None
    lost, added = sorted(wanted - found), sorted(found - wanted)
    if added and EMOTICON.search(pair.source.text):
        added = []
    if not lost and not added:
        return None
    spans = tuple(item.span() for item in SYMBOL.finditer(pair.translation.text) if item.group() in added[:20])[:20]
    return Failure("symbol", (len(lost) + len(added)) / len(wanted | found), lost_and_added(lost, added)[:240], spans)


def _compared(kind: str, pair: Pair, machine: str) -> Failure | None:
    if not pair.source.machinery and not pair.translation.machinery:
        return None
    wanted, found = _items(pair.source).get(machine, NO_ITEMS), _items(pair.translation).get(machine, NO_ITEMS)
    if wanted == found:
        return None
    lost = [item for item, times in wanted.items() if found[item] < times]
    added = [item for item, times in found.items() if wanted[item] < times]
    if machine in (URL, EMAIL) and all(item in pair.translation.text for item in lost):
        lost = []
    if machine in (URL, EMAIL):
        said = pair.source.text.lower()
        joined = "".join(said.split())
        added = [item for item in added if item.lower() not in joined and not _is_spelt_out(item, said)]
    if machine == TAG and _are_words(pair, [*lost, *added], wanted):
        return None
    if not lost and not added:
        return None
    share = (len(lost) + len(added)) / max(1, len(wanted | found))
    spans = tuple(
        (item.start, item.end)
        for item in pair.translation.machinery
        if item.kind == machine and _written(item.text, machine) in added[:20]
    )
    return Failure(kind, min(1.0, share), lost_and_added(lost, added)[:240], spans)


def _symbols(side: Side) -> frozenset[str]:
    return NOTHING if side.is_latin else frozenset(SYMBOL.findall(side.text))


def _are_words(pair: Pair, differing: list[str], wanted: Counter[str]) -> bool:
    """Whether angle brackets hold words that were translated, or an address, and no tags.

    Nothing there is a tag of HTML or XLIFF or closes another, and both texts have as many brackets.
    """
    if any(item.startswith("</") or ELEMENT.match(item) for item in (*differing, *wanted)):
        return False
    source, made = (
        [item for item in BRACKETED.findall(side.text) if not AUTOLINK.match(item)]
        for side in (pair.source, pair.translation)
    )
    return len(source) == len(made) and not any("=" in item or item.endswith("/>") for item in (*source, *made))


def _is_spelt_out(item: str, source: str) -> bool:
    """Whether a source says an address in words, as speech does: `jane at example dot org`."""
    name, _, domain = item.lower().partition("@")
    return bool(domain) and (name in source or domain.partition(".")[0] in source)


@remembered
def _items(side: Side) -> dict[str, Counter[str]]:
    """What has to survive, of each kind of machinery."""
    found: dict[str, Counter[str]] = {}
    for item in side.machinery:
        found.setdefault(item.kind, Counter())[_written(item.text, item.kind)] += 1
    return found


def _written(text: str, machine: str) -> str:
    """What has to survive: of a tag its name, of an ICU message its argument, type and branches, of an
    e-mail address its letters in either case, of others all."""
    if machine == TAG:
        name = NAME_OF_TAG.match(text)
        closing = "/" if text.startswith("</") else ""
        return f"<{closing}{name.group(1).lower()}>" if name else text
    if machine == PLACEHOLDER and (head := ICU.match(text)):
        branches = sorted(set(ICU_BRANCH.findall(text[head.end() :])) - OTHER_BRANCHES)
        return "{" + ", ".join([head.group(1), head.group(2), *branches]) + "}"
    if machine == PLACEHOLDER and text.startswith("{{"):
        return "{{" + text.strip("{} ") + "}}"
    if machine == URL:
        address = text.rstrip("/\ufeff\u200b")
        host = HOST.match(address)
        return address if host is None else host.group().lower() + address[host.end() :]
    return text.lower() if machine == EMAIL else text


OTHER_BRANCHES = frozenset({"zero", "one", "two", "few", "many", "other"})
"""Plural categories differ between languages: Czech has `few`, English has not."""
