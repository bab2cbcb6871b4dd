"""What went wrong between what a chat model was sent and what it answered: form, lines, context.

These cannot be seen in a translation alone: whoever asked says what was sent (`Pair.exchange`).
"""

from babelquake.failures.base import Failure, detector
from babelquake.failures.pair import Pair


@detector("misfit", family="exchange", needs=("exchange",))
def misfit(pair: Pair) -> Failure | None:
    """The answer of a chat model is not of the form that was declared, or was cut off."""
    exchange = pair.exchange
    return Failure("misfit", 1.0, exchange.misfit) if exchange is not None and exchange.misfit else None


@detector("sentence-omitted", family="exchange", needs=("exchange", "lines"))
def sentence_omitted(pair: Pair) -> Failure | None:
    """The translation of a document has fewer lines than were sent."""
    lines = pair.exchange.lines if pair.exchange is not None else ()
    return next((_lines("sentence-omitted", sent, said) for sent, said in lines if said < sent), None)


@detector("context-leaked", family="exchange", needs=("exchange", "lines"))
def context_leaked(pair: Pair) -> Failure | None:
    """The translation of a document says what was not sent, or was sent as context."""
    if pair.exchange is None:
        return None
    if pair.exchange.foreign:
        return Failure("context-leaked", 1.0, pair.exchange.foreign)
    return next((_lines("context-leaked", sent, said) for sent, said in pair.exchange.lines if said > sent), None)


def _lines(kind: str, sent: int, said: int) -> Failure:
    return Failure(kind, abs(said - sent) / max(said, sent), f"{said} lines for {sent} sentences")
