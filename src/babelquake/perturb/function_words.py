"""Function words: determiners (Kanojia 2021, MPP3–4), negation (MAP1 and its reverse), the gender of pronouns.

Languages without word lists are not served, and the perturbations return None for them.
"""

from functools import partial
from typing import Literal

from babelquake.languages import Language
from babelquake.perturb.card import perturbation
from babelquake.perturb.linguistics import linguistics, named_lists, resource, word_lists
from babelquake.randomness import Stream
from babelquake.text import TOKEN, Span, is_punctuation, match_case, replaced, without, words

LISTED = ("en", "de", "fr", "es", "it", "pt", "nl", "ru", "uk")
"""Languages that have lists."""

VERB_FINAL = frozenset({"de", "nl"})
"""Where a clause may end in its auxiliary; the negator then goes before the word in front ('nicht kaufen kann')."""

MARKERS = frozenset({"no", "not"})
CONTRACTED = "n't"
"""The negation markers that the paper names: whole words between spaces, and a part of words."""
Markers = Literal["paper", "all"]

AFFIRMATIVE = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
"""English auxiliaries whose affirmative form is not just the rest of the word."""


function_word = partial(perturbation, family="function words")


@function_word(
    "det-remove",
    label="articles missing",
    paper="Kanojia 2021 §5.1 MPP3",
    meaning="preserving",
    side="translation",
    resource=resource,
)
def remove_determiners(text: str, lang: Language | None, protect: bool = True) -> str | None:
    """Remove every determiner but those that negate (`no`, `kein`), which go with `protect=none` where a tagger runs.

    Skipped where the text has none, nothing else, or its language no lists.
    """
    found = _determiners(text, lang, protect)
    changed = without(text, found) if found else ""
    return changed if changed.strip() else None


@function_word(
    "det-replace",
    label="articles replaced",
    paper="Kanojia 2021 §5.1 MPP4",
    meaning="preserving",
    level=1.0,
    unit="share of determiners",
    languages=LISTED,
    side="translation",
    replicates=20,
    resource=resource,
)
def replace_determiners(
    text: str, level: float, rng: Stream, lang: Language | None, protect: bool = True
) -> str | None:
    """Replace each determiner but those that negate, with probability `level`, by another of the language's list.

    Skipped where the text has no determiner or its language no list.
    """
    lists = word_lists(lang)
    found = _determiners(text, lang, protect)
    if not found or lists is None:
        return None
    edits = []
    for word in found:
        if rng.chance(level):
            others = [other for other in lists.replacements if other != word.text.lower()]
            space = "" if text[word.end : word.end + 1].isspace() else " "
            edits.append((word.start, word.end, match_case(rng.choice(others), word.text) + space))
    return replaced(text, edits)


def _determiners(text: str, lang: Language | None, protect: bool) -> list[Span]:
    """A text's determiners; where it is protected, without those that negate: a tagger calls `no` a determiner."""
    found = linguistics(lang).determiners(text)
    lists = word_lists(lang) if protect else None
    return found if lists is None else [word for word in found if lists.negation.find(word) is None]


@function_word(
    "negation-remove",
    label="negation removed",
    paper="Kanojia 2021 §5.2 MAP1",
    meaning="altering",
    languages=LISTED,
    side="translation",
    resource=named_lists,
)
def remove_negation(text: str, lang: Language | None, markers: Markers = "paper") -> str | None:
    """Remove every negation marker. Skipped where the text has no marker, or nothing else.

    `markers=paper` knows the words 'no' and 'not', with a space on both sides, and "n't", which it cuts out (`won't` →
    `wo`): so it applies to as many segments as in the paper. `markers=all` knows the language's whole list (never,
    nobody, without …) and gives auxiliaries their full form (`won't` → `will`). Languages other than English have one
    list.
    """
    lists = word_lists(lang)
    if lists is None:
        return None
    if lists.lang == "en" and markers == "paper":
        changed = without(text, _named_markers(text))
        return changed if changed != text and changed.strip() else None
    full: list[tuple[int, int, str]] = []
    if lists.lang == "en":
        for word in words(text):
            if auxiliary := AFFIRMATIVE.get(word.text.lower().replace("’", "'")):
                full.append((word.start, word.end, match_case(auxiliary, word.text)))
    restored = replaced(text, full)
    changed = without(restored, lists.negations(restored))
    return changed if changed != text and changed.strip() else None


def _named_markers(text: str) -> list[Span]:
    """The words 'no' and 'not' that stand between spaces, and the "n't" of others."""
    found = []
    for token in TOKEN.finditer(text):
        start, said = token.start(), token.group()
        place = said.find(CONTRACTED)
        if said.lower() in MARKERS:
            found.append(Span(start, token.end(), said))
        elif place >= 0:
            found.append(Span(start + place, start + place + len(CONTRACTED), CONTRACTED))
    return found


@function_word("negation-insert", label="negation added", meaning="altering", languages=LISTED, resource=named_lists)
def insert_negation(text: str, rng: Stream, lang: Language | None) -> str | None:
    """Negate one auxiliary, copula or modal verb, drawn at random.

    Skipped where the text has no such verb, or only in clauses (between punctuation marks) that are negated already.
    """
    lists = word_lists(lang)
    if lists is None:
        return None
    verbs = [
        (clause, place)
        for clause in _clauses(text)
        if not any(lists.negation.find(word) for word in clause)
        for place, word in enumerate(clause)
        if word.text.lower() in lists.negatable
    ]
    if not verbs:
        return None
    clause, place = rng.choice(verbs)
    verb = clause[place]
    if lists.lang in VERB_FINAL and 0 < place == len(clause) - 1:
        before = clause[place - 1].start
        return replaced(text, [(before, before, f"{lists.negator} ")])
    if lists.negator_position == "after":
        return replaced(text, [(verb.end, verb.end, f" {lists.negator}")])
    negated = f"{match_case(lists.negator, verb.text)} {verb.text.lower()}" if verb.start == 0 else None
    return replaced(text, [(verb.start, verb.end, negated or f"{lists.negator} {verb.text}")])


@function_word(
    "pronoun-gender", label="pronouns of the other gender", meaning="altering", languages=LISTED, resource=named_lists
)
def change_gender(text: str, lang: Language | None) -> str | None:
    """Turn masculine pronouns into feminine ones and the reverse. Skipped where the text has no gendered pronoun."""
    lists = word_lists(lang)
    if lists is None:
        return None
    edits = []
    for word in words(text):
        if other := lists.pronoun_gender.get(word.text.lower().replace("’", "'")):
            edits.append((word.start, word.end, match_case(other, word.text)))
    return replaced(text, edits) if edits else None


def _clauses(text: str) -> list[list[Span]]:
    """The words of a text, parted where a punctuation mark stands between them."""
    clauses: list[list[Span]] = []
    end = 0
    for word in words(text):
        if not clauses or any(map(is_punctuation, text[end : word.start])):
            clauses.append([])
        clauses[-1].append(word)
        end = word.end
    return clauses
