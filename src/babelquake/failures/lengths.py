"""Length: far more or far less text than a translation between two languages has."""

from babelquake.failures.base import Failure, detector
from babelquake.failures.pair import Pair
from babelquake.languages import Language
from babelquake.paths import table_of_room

OF_ENGLISH: dict[str, float] = table_of_room("failures", "languages")["length"]
"""Characters of a language for one of English: medians over NTREX-128's 1,997 sentences."""
RUNAWAY, TRUNCATED = 2.4, 0.4
"""Times the usual length from which, and to which, a length is a failure; NTREX's extremes of 1,997 are 0.5 and 2.3."""
SHORTEST_SOURCE = 50
LEAST_TOO_MUCH = 60
"""Characters beyond the usual length that a runaway has at least: short texts vary."""


def usual_ratio(source: Language | None, target: Language | None) -> float | None:
    """Characters of a translation for one of its source; None for a language without a figure."""
    if source is None or target is None or source.code not in OF_ENGLISH or target.code not in OF_ENGLISH:
        return None
    return OF_ENGLISH[target.code] / OF_ENGLISH[source.code]


def relative_length(pair: Pair) -> float:
    """The length of a translation for one of the usual length; 1 where that is not known."""
    usual = usual_ratio(pair.source.language, pair.translation.language)
    if usual is None or not pair.source.whole:
        return 1.0
    return len(pair.translation.whole) / (usual * len(pair.source.whole))


LANGUAGES = tuple(OF_ENGLISH)


@detector("runaway", family="length", needs=("source", "source language", "target language"), languages=LANGUAGES)
def runaway(pair: Pair) -> Failure | None:
    """More than 2.4 times as long as translations between these languages are."""
    usual = usual_ratio(pair.source.language, pair.translation.language)
    if usual is None or not pair.source.words:
        return None
    expected = usual * len(pair.source.whole)
    length = len(pair.translation.whole)
    if length < RUNAWAY * expected or length - expected < LEAST_TOO_MUCH:
        return None
    return Failure("runaway", min(1.0, 1 - expected / length), f"{length} characters where {expected:.0f} are usual")


@detector("truncated", family="length", needs=("source", "source language", "target language"), languages=LANGUAGES)
def truncated(pair: Pair) -> Failure | None:
    """Less than 0.4 times as long as translations between these languages are."""
    usual = usual_ratio(pair.source.language, pair.translation.language)
    source = pair.source.whole
    if usual is None or len(source) < SHORTEST_SOURCE:
        return None
    length = len(pair.translation.whole.strip())
    if length > TRUNCATED * usual * len(source) or not length:
        return None
    expected = usual * len(pair.source.prose.strip())
    if length > TRUNCATED * expected or _is_padded(pair):
        return None
    return Failure("truncated", 1 - length / expected, f"{length} characters where {expected:.0f} are usual")


def _is_padded(pair: Pair) -> bool:
    """Whether much of the source is not a language: repeated signs, numbers, a long laugh."""
    letters = sum(map(len, pair.source.words))
    distinct = sum(map(len, pair.source.vocabulary))
    return letters < 0.5 * len(pair.source.whole) or distinct < 0.5 * letters
