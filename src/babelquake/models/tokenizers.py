"""Tokenizers by name, for what counts tokens and asks no model: files, folders, and those of models that ship."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from babelquake.errors import UserError, setting
from babelquake.models.shipped import shipped
from babelquake.paths import install_line

SAY_NOTHING = ("model", "tokenizer")


class Tokenizer(Protocol):
    """Cuts texts into tokens."""

    name: str
    unknown: str

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of each text, without special ones such as [CLS]."""


class FromJson:
    """A tokenizer.json of the `tokenizers` library: WordPiece, BPE or unigram."""

    def __init__(self, path: Path) -> None:
        try:
            from tokenizers import Tokenizer as Fast
        except ImportError as error:
            raise UserError(f"{path} needs the package tokenizers: {install_line('neural')}.") from error
        self._fast: Any = Fast.from_file(str(path))
        self._fast.no_truncation()
        self._fast.no_padding()
        self.name = _name(path, "tokenizer.json")
        self.unknown = str(getattr(self._fast.model, "unk_token", None) or "[UNK]")

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """See `Tokenizer`."""
        return [found.tokens for found in self._fast.encode_batch(list(texts), add_special_tokens=False)]


class FromSentencePiece:
    """A SentencePiece model; pieces outside the vocabulary count as unknown."""

    def __init__(self, path: Path) -> None:
        from sentencepiece import SentencePieceProcessor

        self._pieces: Any = SentencePieceProcessor(model_file=str(path))
        self.name = _name(path, "sentencepiece.model")
        self.unknown = self._pieces.id_to_piece(self._pieces.unk_id())

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """See `Tokenizer`."""
        return [
            [self._pieces.id_to_piece(number) if number != self._pieces.unk_id() else self.unknown for number in found]
            for found in self._pieces.encode(list(texts))
        ]


def tokenizer(what: str) -> Tokenizer:
    """From a tokenizer.json, a folder that holds one, a SentencePiece .model file, or a model that ships."""
    path = Path(what) if Path(what).exists() else shipped().get(what, Path(what))
    if path.is_dir():
        found = [path / name for name in ("tokenizer.json", "sentencepiece.model") if (path / name).is_file()]
        if not found:
            raise UserError(
                f"{setting('tokenizers', what)}: the folder has no tokenizer.json and no sentencepiece.model."
            )
        path = found[0]
    expected = "Expected a tokenizer.json, a SentencePiece .model, or a model that ships, such as minilm-en."
    if not path.is_file():
        raise UserError(f"{setting('tokenizers', what)}: no such file. {expected}")
    try:
        return FromJson(path) if path.suffix == ".json" else FromSentencePiece(path)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{setting('tokenizers', what)}: this is not a tokenizer. {expected}") from error


def _name(path: Path, usual: str) -> str:
    """The file's own name, or where it has the usual one, that of the nearest folder that says something."""
    if path.name != usual:
        return path.stem
    folders = [path.parent.name, path.parent.parent.name]
    return next((name for name in folders if name and name not in SAY_NOTHING), path.stem)
