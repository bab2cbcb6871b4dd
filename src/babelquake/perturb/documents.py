"""Documents: sentences in another order, one missing, one twice, one from elsewhere, lines merged or cut.

A document is a text of several lines, one sentence each; nothing here applies to a single line. In `mt --unit document`
every other perturbation changes a document sentence by sentence, so that its level means what it means for sentences.
"""

from functools import partial

from babelquake.languages import Language
from babelquake.perturb.card import perturbation
from babelquake.randomness import Stream

FOREIGN = {
    "fi": "Kirjasto avataan maanantaina kello kymmenen.",
    "de": "Die Bibliothek öffnet am Montag um zehn Uhr.",
    "fr": "La bibliothèque ouvre lundi à dix heures.",
    "es": "La biblioteca abre el lunes a las diez.",
    "en": "The library opens on Monday at ten o'clock.",
}
"""One sentence that has nothing to do with any document."""

document = partial(perturbation, family="document", side="source")


def _lines(text: str) -> list[str] | None:
    lines = text.split("\n")
    return lines if len(lines) > 1 else None


@document("document-shuffle", meaning="altering", label="sentences shuffled")
def shuffle(text: str, rng: Stream) -> str | None:
    """All sentences in another order. Skipped for a single line."""
    lines = _lines(text)
    if lines is None or len(set(lines)) < 2:
        return None
    order = rng.shuffled(lines)
    return "\n".join(order if order != lines else [*lines[1:], lines[0]])


@document("document-drop", meaning="altering", label="one sentence dropped")
def drop(text: str, rng: Stream) -> str | None:
    """One sentence less. Skipped for a single line."""
    lines = _lines(text)
    if lines is None:
        return None
    place = rng.below(len(lines))
    return "\n".join([*lines[:place], *lines[place + 1 :]])


@document("document-repeat", meaning="altering", label="one sentence repeated")
def repeat(text: str, rng: Stream) -> str | None:
    """One sentence twice, the second time right after the first. Skipped for a single line."""
    lines = _lines(text)
    if lines is None:
        return None
    place = rng.below(len(lines))
    return "\n".join([*lines[: place + 1], *lines[place:]])


@document("document-insert", meaning="altering", label="foreign sentence inserted")
def insert(text: str, rng: Stream, lang: Language | None) -> str | None:
    """A sentence in another language and about something else, between two sentences. Skipped for a single line."""
    lines = _lines(text)
    if lines is None:
        return None
    here = lang.code if lang is not None else ""
    foreign = [sentence for code, sentence in FOREIGN.items() if code != here]
    place = 1 + rng.below(len(lines) - 1)
    return "\n".join([*lines[:place], rng.choice(foreign), *lines[place:]])


@document("document-merge", meaning="preserving", label="two lines merged")
def merge(text: str, rng: Stream) -> str | None:
    """Two sentences on one line. Skipped for a single line."""
    lines = _lines(text)
    if lines is None:
        return None
    place = rng.below(len(lines) - 1)
    return "\n".join([*lines[:place], f"{lines[place]} {lines[place + 1]}", *lines[place + 2 :]])


@document("document-cut", meaning="altering", label="cut in mid-sentence")
def cut(text: str) -> str | None:
    """The last sentence breaks off in the middle. Skipped for a single line."""
    lines = _lines(text)
    if lines is None or len(lines[-1]) < 2:
        return None
    words = lines[-1].split()
    half = " ".join(words[: len(words) // 2]) if len(words) > 1 else lines[-1][: len(lines[-1]) // 2]
    return "\n".join([*lines[:-1], half])
