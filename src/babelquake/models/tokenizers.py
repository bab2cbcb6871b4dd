"""Tokenizers: as checkpoints have them, word by word, and by name for what counts tokens and asks no model.

A checkpoint's `tokenizer.json` is taken word for word: some transformers classes rebuild parts of it from their own
idea of the model, and other tokens are other scores. Where a checkpoint has none, the class makes one of the
vocabulary.

Tokenizers that cut texts at spaces first give a word the same tokens in every text. Variants of one sentence share all
words but a few, so each word is tokenised once and remembered: some ten times faster than whole texts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from babelquake.errors import UserError, setting
from babelquake.models.loading import offline
from babelquake.models.shipped import shipped
from babelquake.paths import install_line, table_of_room


def fast_tokenizer(where: str, kind: str) -> Any:
    """The fast tokenizer of a folder or hub name; `kind` is the class to use where there is no `tokenizer.json`."""
    import transformers

    marks = table_of_room("models", "tokenizers")[kind]
    verbatim: Any = transformers.PreTrainedTokenizerFast
    try:
        found = verbatim.from_pretrained(where, local_files_only=offline(), **marks)
        if found.get_vocab():
            return found
    except (OSError, ValueError, TypeError, AttributeError):
        pass
    return getattr(transformers, kind).from_pretrained(where, local_files_only=offline())


def started(backend: Any) -> None:
    """Start a compiled tokenizer's threads while a model is loaded.

    Where they find no memory later on, the library ends the process or waits for threads that never came.
    """
    try:
        backend.encode_batch_fast(["", ""])
    except BaseException as error:  # what a panic of the library is
        if type(error).__name__ != "PanicException":
            raise
        raise MemoryError("out of memory: the tokenizer's threads cannot be started") from None


def cut_pair(first: Sequence[int], second: Sequence[int], room: int) -> tuple[list[int], list[int]]:
    """Two texts cut to a common length, token by token from whichever is longer, from the second where they are equal.

    So does BERT's own code, and with it BLEURT and TransQuest.
    """
    a, b = len(first), len(second)
    surplus = a + b - room
    if surplus > 0:
        longer = min(surplus, abs(a - b))
        a, b = (a - longer, b) if a > b else (a, b - longer)
        rest = surplus - longer
        b -= (rest + 1) // 2
        a -= rest // 2
    return list(first[:a]), list(second[:b])


def beginning(tokenizer: Any, text: str, tokens: int) -> str:
    """The part of a text that its first tokens stand for.

    A tokenizer that cuts a pair also keeps what it cuts off, in every combination of windows: two texts of 100,000
    characters would take some ten gigabytes.
    """
    if not tokenizer.is_fast:
        return text
    spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)["offset_mapping"]
    return text[: spans[tokens - 1][1]] if len(spans) > tokens else text


SAY_NOTHING = ("model", "tokenizer")


@dataclass(frozen=True)
class Tokenizer:
    """Cuts texts into tokens."""

    name: str
    unknown: str
    tokens: Callable[[Sequence[str]], list[list[str]]]
    """The tokens of each text, without special ones such as [CLS]; pieces outside the vocabulary count as unknown."""


def _of_json(path: Path) -> Tokenizer:
    """A tokenizer.json of the `tokenizers` library: WordPiece, BPE or unigram."""
    try:
        from tokenizers import Tokenizer as Fast
    except ImportError as error:
        raise UserError(f"{path} needs the package tokenizers: {install_line('neural')}.") from error
    fast: Any = Fast.from_file(str(path))
    fast.no_truncation()
    fast.no_padding()

    def tokens(texts: Sequence[str]) -> list[list[str]]:
        return [found.tokens for found in fast.encode_batch(list(texts), add_special_tokens=False)]

    unknown = str(getattr(fast.model, "unk_token", None) or "[UNK]")
    return Tokenizer(_name(path, "tokenizer.json"), unknown, tokens)


def _of_sentencepiece(path: Path) -> Tokenizer:
    """A SentencePiece model."""
    from sentencepiece import SentencePieceProcessor

    pieces: Any = SentencePieceProcessor(model_file=str(path))

    def tokens(texts: Sequence[str]) -> list[list[str]]:
        return [list(map(pieces.id_to_piece, found)) for found in pieces.encode(list(texts))]

    return Tokenizer(_name(path, "sentencepiece.model"), pieces.id_to_piece(pieces.unk_id()), tokens)


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
        return _of_json(path) if path.suffix == ".json" else _of_sentencepiece(path)
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


ROOM = 1 << 21
"""Characters of words that are remembered."""


class WordByWord:
    """A compiled tokenizer that remembers words. What it gives is what the tokenizer gives for whole texts."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self._known: dict[str, list[int]] = {}
        self._size = 0

    def __call__(self, texts: Sequence[str], special: bool) -> tuple[list[list[int]], list[list[int]]]:
        """Token numbers and special-token marks of whole texts."""
        self.backend.no_truncation()
        self.backend.no_padding()
        cut = self._cut
        if cut is None:
            found = self.backend.encode_batch_fast(list(texts), add_special_tokens=special)
            return [one.ids for one in found], [one.special_tokens_mask for one in found]
        split = [[text] if any(odd in text for odd in self._odd) else cut(text) for text in texts]
        known = self._numbered(chain.from_iterable(split))
        before, after = self._ends if special else ([], [])
        ids = [[*before, *chain.from_iterable([known[word] for word in words]), *after] for words in split]
        fixed = len(before) + len(after)
        return ids, [[1] * len(before) + [0] * (len(one) - fixed) + [1] * len(after) for one in ids]

    def pairs(self, firsts: Sequence[str], seconds: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
        """Token numbers of pairs of texts, and which of the two each token belongs to."""
        sides = zip(self(firsts, special=False)[0], self(seconds, special=False)[0], strict=True)
        (before, between, after), (one, other) = self._around
        ids, kinds = [], []
        for first, second in sides:
            ids.append([*before[0], *first, *between[0], *second, *after[0]])
            kinds.append([*before[1], *[one] * len(first), *between[1], *[other] * len(second), *after[1]])
        return ids, kinds

    def _numbered(self, words: Iterable[str]) -> dict[str, list[int]]:
        """The tokens of all words; those that are not known are tokenised."""
        if self._size > ROOM:
            self._known, self._size = {}, 0
        known = self._known
        new = [word for word in dict.fromkeys(words) if word not in known]
        if new:
            found = self.backend.encode_batch_fast(new, add_special_tokens=False)
            known.update((word, one.ids) for word, one in zip(new, found, strict=True))
            self._size += sum(map(len, new))
        return known

    @cached_property
    def _cut(self) -> Callable[[str], list[str]] | None:
        """How texts are cut at spaces; None where the tokenizer may see across them."""
        parts = self.backend.normalizer, self.backend.pre_tokenizer, self.backend.model
        kinds = tuple(type(part).__name__ for part in parts)
        if kinds == ("BertNormalizer", "BertPreTokenizer", "WordPiece"):
            return _without_spaces
        if kinds == ("NoneType", "ByteLevel", "BPE"):
            _, cutter, model = parts
            return _with_spaces if cutter.use_regex and not cutter.add_prefix_space and not model.dropout else None
        return None

    @cached_property
    def _odd(self) -> list[str]:
        """Tokens that take the spaces around them along: texts that hold one are not cut."""
        return [
            token.content
            for token in self.backend.get_added_tokens_decoder().values()
            if token.lstrip or token.rstrip or token.single_word or " " in token.content
        ]

    @cached_property
    def _ends(self) -> tuple[list[int], list[int]]:
        """What the tokenizer puts before and after a text."""
        one = self.backend.encode("a")
        middle, count = one.special_tokens_mask.index(0), one.special_tokens_mask.count(0)
        return one.ids[:middle], one.ids[middle + count :]

    @cached_property
    def _around(self) -> tuple[list[tuple[list[int], list[int]]], list[int]]:
        """What the tokenizer puts around and between two texts, numbers and kinds, and the kinds of the texts."""
        made = self.backend.encode("a", "b")
        of = made.sequence_ids
        inner = [of.index(0), of.index(0) + of.count(0), of.index(1), of.index(1) + of.count(1)]
        spans = [slice(0, inner[0]), slice(inner[1], inner[2]), slice(inner[3], None)]
        return [(made.ids[span], made.type_ids[span]) for span in spans], [made.type_ids[at] for at in inner[::2]]


def _without_spaces(text: str) -> list[str]:
    return text.split(" ")


def _with_spaces(text: str) -> list[str]:
    first, *rest = text.split(" ")
    return [first, *[f" {word}" for word in rest]]
