"""Subword vocabularies, learnt with SentencePiece on source and target together (one joint vocabulary).

Character coverage is .99999: at .9998 "!" and "Ö" fall out of a German-English vocabulary. The model file is all that
the runtime needs to segment and to put text back together.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babelquake.errors import UserError
from babelquake.train.corpus import read_pairs, split_file

UNKNOWN, BEGIN, END = 0, 1, 2
EVERY = 3
"""Vocabularies are learnt on every third sentence pair, which changes little and saves time."""


def vocabulary(kind: str, size: int, data: Path, cache: Path) -> Path:
    """Path of the `bpe` or `unigram` model of the given size, learnt from the training split unless already there."""
    path = cache / f"{kind}-{size}.model"
    if not path.is_file():
        import sentencepiece

        cache.mkdir(parents=True, exist_ok=True)
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=_sentences(split_file(data, "train")),
                model_prefix=str(path.with_suffix(".partial")),
                model_type=kind,
                vocab_size=size,
                character_coverage=0.99999,
                unk_id=UNKNOWN,
                bos_id=BEGIN,
                eos_id=END,
                pad_id=-1,
                num_threads=4,
                minloglevel=2,
            )
        except RuntimeError as error:
            raise UserError(f"no {kind} vocabulary of {size} could be learnt from {data}: {error}") from error
        path.with_suffix(".partial.vocab").unlink()
        path.with_suffix(".partial.model").replace(path)
    return path


def processor(path: Path) -> Any:
    """The SentencePiece processor of a model file."""
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def _sentences(path: Path) -> Iterator[str]:
    for number, pair in enumerate(read_pairs(path)):
        if number % EVERY == 0:
            yield from pair
