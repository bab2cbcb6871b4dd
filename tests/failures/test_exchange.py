"""What only the one who asked can tell: an answer of another form, lines that are missing, lines that nobody sent."""

from babelquake.failures import DETECTORS, Exchange, Pair, cards_for, failures_in


def found(exchange: Exchange | None) -> dict[str, str]:
    cards = cards_for(None, None, sources=False, exchanged=True, lines=True)
    return {failure.kind: failure.evidence for failure in failures_in(Pair(None, "x", exchange=exchange), cards)}


def test_each_kind_is_seen_in_what_was_sent_and_answered() -> None:
    assert found(Exchange("the answer is not JSON")) == {"misfit": "the answer is not JSON"}
    assert found(Exchange(lines=((4, 4), (3, 2)))) == {"sentence-omitted": "2 lines for 3 sentences"}
    assert found(Exchange(lines=((4, 5),))) == {"context-leaked": "5 lines for 4 sentences"}
    assert found(Exchange(lines=((4, 4),), foreign="Never sent.")) == {"context-leaked": "Never sent."}
    assert found(Exchange(lines=((4, 4),))) == {} == found(None)


def test_nobody_else_is_asked_about_it() -> None:
    kinds = {kind for kind in DETECTORS.names() if "exchange" in DETECTORS.get(kind).needs}
    assert kinds == {"misfit", "sentence-omitted", "context-leaked"}
    assert not kinds & {card.kind for card in cards_for(None, None)}
    plain = {card.kind for card in cards_for(None, None, exchanged=True)}
    assert plain & kinds == {"misfit"}, "lines are those of documents"
