"""Bilingual mark-up: TMX, XLIFF 1.2 and 2, the XML of the WMT news tasks, and the SGML before it.

Texts are what the elements hold; tags inside a segment (placeholders, emphasis) are left out unless a request wants
them. Entities of a file's own are refused, so that no document can grow as it is read.
"""

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

from babelquake.data.dataset import Dataset, Request
from babelquake.data.streams import label, opened, stem, whole_bytes
from babelquake.data.table import Table, dataset_of
from babelquake.errors import UserError
from babelquake.languages import Language, LanguagePair, language_named
from babelquake.limits import reading

LANG = "{http://www.w3.org/XML/1998/namespace}lang"
PLACEHOLDERS = frozenset({"ph", "bpt", "ept", "it", "x", "bx", "ex", "sub", "ut"})
NOT_TAGS = frozenset({"mrk", "hi", "source", "target", "seg"})
"""Elements that mark text for people or programs and that a translation need not have."""
SGM_SEGMENT = re.compile(r"<seg[^>]*?id\s*=\s*\"?([^\s\">]+)\"?[^>]*>(.*?)</seg>", re.IGNORECASE | re.DOTALL)
SGM_SET = re.compile(r"<(src|ref|tst)set\b([^>]*)>", re.IGNORECASE)
SGM_DOC = re.compile(r"<doc\b([^>]*)>(.*?)</doc>", re.IGNORECASE | re.DOTALL)
ATTRIBUTE = re.compile(r"(\w+)\s*=\s*\"([^\"]*)\"")


def read_tmx(request: Request) -> Dataset:
    """Translation memories: the header's source language, or the pair that the user names, decides the direction."""
    root = _root(request)
    header = root.find("{*}header")
    named = (header.get("srclang") if header is not None else None) or ""
    wanted = LanguagePair(request.language_pair) if request.language_pair else None
    columns: dict[str, list[Any]] = {"source": [], "reference": [], "language_pair": []}
    names, skipped = list[str | None](), 0
    for unit in inside(root, "tu"):
        texts = {
            Language.known(variant.get(LANG) or variant.get("lang") or ""): _text(
                variant.find("{*}seg"), request.inline_tags
            )
            for variant in unit.findall("{*}tuv")
        }
        known = [lang for lang in texts if lang is not None]
        pair = wanted or _direction(Language.known(named), known)
        source = next((lang for lang in known if pair and lang.code == pair.source.code), None)
        target = next((lang for lang in known if pair and lang.code == pair.target.code), None)
        if pair is None or source is None or target is None:
            skipped += 1
            continue
        columns["source"].append(texts[source])
        columns["reference"].append(texts[target])
        columns["language_pair"].append(str(pair))
        names.append(unit.get("tuid"))
    lost = [f"{stem(request.path)}: {skipped} translation units without both languages were left out"]
    return _dataset(request, _as_asked(request, columns, names), lost if skipped else [])


def read_xliff(request: Request) -> Dataset:
    """XLIFF 1.2 (`trans-unit`) and 2 (`unit` and `segment`); units without a target have no reference.

    Vendors who translate the same file return the same units, so that a unit's id names its segment, or its place where
    ids are not distinct.
    """
    root = _root(request)
    second = "srcLang" in root.attrib
    places = inside(root, "segment") if second else inside(root, "trans-unit")
    columns: dict[str, list[Any]] = {"source": [], "reference": [], "language_pair": []}
    pair = _pair(root.get("srcLang"), root.get("trgLang"))
    files = list(inside(root, "file"))
    by_unit, names = {}, {}
    for file in files:
        prefix = f"{file.get('original') or file.get('id') or ''}:" if len(files) > 1 else ""
        for unit in inside(file, "unit" if second else "trans-unit"):
            by_unit[unit] = _pair(file.get("source-language"), file.get("target-language"))
            parts = list(inside(unit, "segment")) if second else [unit]
            for number, part in enumerate(parts, 1):
                within = f":{part.get('id') or number}" if len(parts) > 1 else ""
                names[part] = f"{prefix}{unit.get('id')}{within}" if unit.get("id") else None
    ids = []
    for unit in places:
        target = unit.find("{*}target")
        columns["source"].append(_text(unit.find("{*}source"), request.inline_tags))
        columns["reference"].append(None if target is None else _text(target, request.inline_tags))
        columns["language_pair"].append(by_unit.get(unit, pair))
        ids.append(names.get(unit))
    return _dataset(request, _as_asked(request, columns, ids), [])


def read_wmt_xml(request: Request) -> Dataset:
    """The XML of WMT21 and later: documents with `src`, `ref` by translator and `hyp` by system."""
    root = _root(request)
    columns: dict[str, list[Any]] = {name: [] for name in ("id", "source", "reference", "translation", "system")}
    columns["language_pair"] = []
    for document in root.iter("doc"):
        source = document.find("src")
        sources = _segments(source)
        references = [(part.get("lang"), _segments(part)) for part in document.findall("ref")]
        systems = [(part.get("system") or "", _segments(part)) for part in document.findall("hyp")]
        target = next((lang for lang, _ in references), None) or next(
            (part.get("lang") for part in document.findall("hyp")), None
        )
        pair = _pair(source.get("lang") if source is not None else None, target)
        for number, text in sources.items():
            found = [texts[number] for _, texts in references if number in texts]
            for system, translations in systems or [("", {})]:
                columns["id"].append(f"{document.get('id')}:{number}")
                columns["source"].append(text)
                columns["reference"].append(found or None)
                columns["translation"].append(translations.get(number) if systems else None)
                columns["system"].append(system or None)
                columns["language_pair"].append(pair)
    return _dataset(request, columns, [])


def read_sgm(request: Request) -> Dataset:
    """One side of an older WMT test set: sources, references, or a system's translations."""
    text = _sgm(request.what)
    found = SGM_SET.search(text)
    attributes = dict(ATTRIBUTE.findall(found.group(2))) if found else {}
    side = {"src": "source", "ref": "reference", "tst": "translation"}[found.group(1).lower() if found else "src"]
    columns: dict[str, list[Any]] = {"id": [], side: [], "language_pair": []}
    pair = _pair(attributes.get("srclang"), attributes.get("trglang"))
    systems: list[str] = []
    for given, body in SGM_DOC.findall(text):
        about = dict(ATTRIBUTE.findall(given))
        for number, segment in SGM_SEGMENT.findall(body):
            columns["id"].append(f"{about.get('docid', '')}:{number}")
            columns[side].append(_plain(segment))
            columns["language_pair"].append(pair)
            systems.append(about.get("sysid", stem(request.path)))
    if side == "translation":
        columns["system"] = list(systems)
    return _dataset(request, columns, [])


def inside(element: ET.Element, name: str) -> Iterator[ET.Element]:
    """Every element of that name below, whatever its namespace."""
    return (found for found in element.iter() if str(found.tag).rpartition("}")[2] == name)


def sgm_segments(path: str) -> list[str]:
    """The segments of an SGML file, in order: for files that belong together line by line."""
    return [_plain(segment) for _, segment in SGM_SEGMENT.findall(_sgm(path))]


def is_wmt_xml(what: str) -> bool:
    """Whether an XML file is a WMT test set."""
    try:
        with opened(what) as stream:
            return b"<dataset" in stream.read(4096)
    except (UserError, OSError, EOFError):
        return False


def is_markup(start: bytes) -> bool:
    """Whether a file begins like mark-up of any kind: such a file is never read as sentences."""
    head = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:512].lower()
    return bool(re.match(rb"<(\?xml|!doctype|html|tmx|xliff|dataset|srcset|refset|tstset|mteval|doc\b|sgml)", head))


def _root(request: Request) -> ET.Element:
    content = whole_bytes(request.path, "markup")
    if b"<!ENTITY" in content[: 1 << 20]:
        raise UserError(f"{label(request.path)} declares its own entities, which are not supported.")
    with reading(label(request.path), "well-formed mark-up"):
        return ET.fromstring(content)  # noqa: S314 – entities were refused above


def _sgm(path: str) -> str:
    text = whole_bytes(path, "markup").decode("utf-8", "replace")
    if not SGM_SEGMENT.search(text):
        raise UserError(f"{label(path)} has no <seg id=…> in it: it is not a WMT test set.")
    return text


def _text(element: ET.Element | None, tags: bool = False) -> str:
    """The text of an element without what placeholders hold, on one line; with the tags in it, or without."""
    return "" if element is None else " ".join("".join(_pieces(element, tags)).split())


def _pieces(element: ET.Element, tags: bool) -> Iterator[str]:
    """Without recursion: a document may be nested more deeply than Python's stack."""
    yield element.text or ""
    below = [(element, iter(element))]
    while below:
        parent, inside = below[-1]
        if (inner := next(inside, None)) is None:
            below.pop()
            if below:
                yield (_tag(parent, "</{}>") if tags else "") + (parent.tail or "")
        elif inner.tag.rpartition("}")[2] in PLACEHOLDERS:
            yield (_tag(inner, "<{}/>") if tags else "") + (inner.tail or "")
        else:
            yield (_tag(inner, "<{}>") if tags else "") + (inner.text or "")
            below.append((inner, iter(inner)))


def _tag(element: ET.Element, form: str) -> str:
    """A tag inside a segment with its number, where a translation has to have it too."""
    name = str(element.tag).rpartition("}")[2]
    number = element.get("id") or element.get("i") or element.get("x")
    told = f'{name} id="{number}"' if number and not form.startswith("</") else name
    return "" if name in NOT_TAGS else form.format(told)


def _plain(segment: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", segment)).split())


def _segments(part: ET.Element | None) -> dict[str, str]:
    return {} if part is None else {str(found.get("id")): _text(found) for found in part.iter("seg")}


def _pair(source: str | None, target: str | None) -> str | None:
    first, second = language_named(source or ""), language_named(target or "")
    return str(LanguagePair.of(first, second)) if first and second else None


def _direction(source: Language | None, known: list[Language]) -> LanguagePair | None:
    first = next((lang for lang in known if source and lang.code == source.code), known[0] if known else None)
    others = [lang for lang in known if first and lang.code != first.code]
    return LanguagePair.of(first, others[0]) if first and others else None


def _as_asked(request: Request, columns: dict[str, list[Any]], names: list[str | None]) -> dict[str, list[Any]]:
    """Targets as references, or as the translations of the vendor whose name the file has; segments have their names
    in the file where these are distinct."""
    if request.targets == "reference":
        return columns
    targets = columns.pop("reference")
    known = len({name for name in names if name}) == len(names)
    numbers = names if known else [f"segment {place}" for place in range(1, len(targets) + 1)]
    return {
        **columns,
        "id": numbers,
        "translation": targets,
        "system": [request.vendor or stem(request.path)] * len(targets),
    }


def _dataset(request: Request, columns: dict[str, list[Any]], notes: list[str]) -> Dataset:
    count = len(columns["language_pair"])
    if not count:
        raise UserError(f"{label(request.path)} has no readable segments.")
    if all(pair is None for pair in columns["language_pair"]):
        del columns["language_pair"]
    table = Table(label(request.path), stem(request.path), dict(columns), range(1, count + 1), "segment", notes)
    return dataset_of(request, table)
