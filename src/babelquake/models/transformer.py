"""A transformers model and its tokenizer: loaded when first used, run on many texts at once.

What a text gives does not depend on its company: texts go through a model on ribbons, or in blocks of equal length
where the model reads no ribbons. No code of a model's repository is run; weights come from safetensors, or else are
read with `weights_only`.

Tokens of texts put together from those of their words. Tokenizers that cut texts at spaces first give a word the same
tokens in every text. Variants of one sentence share all words but a few, so each word is tokenised once and remembered:
some ten times faster than whole texts.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

from babelquake.errors import UserError
from babelquake.limits import model_description, reading
from babelquake.models.batching import TOKENS, on_gpu
from babelquake.models.checkpoint import Checkpoint, checkpoint
from babelquake.models.int8_weights import is_packed, pretrained
from babelquake.models.linear_layers import in_one_pass, prepared
from babelquake.models.loading import enough_memory, loading
from babelquake.models.sequence_reader import Reader
from babelquake.models.settings import device_of
from babelquake.models.shipped import languages_of
from babelquake.models.tokenizing import started
from babelquake.models.unpadded import OFFSETS
from babelquake.paths import install_line
from babelquake.resource import Limits
from babelquake.spec import Range, signature
from babelquake.warnings_log import remark

Precision = Literal["float32", "bfloat16", "float16"]
Tokens = list[list[int]]
EXPECTED = (
    " Expected a folder with a transformers model (config.json, tokenizer, weights as safetensors), a hub name, or a "
    "model that ships."
)
UNLIMITED = 10**6


class Transformer(Reader):
    """What encoders and language models of the transformers library have in common."""

    def __init__(
        self,
        model: str,
        auto: str,
        precision: Precision = "float32",
        device: str = "auto",
        tokens: int = TOKENS,
        instead: str = "",
    ) -> None:
        self.checkpoint: Checkpoint = checkpoint(model, instead)
        self.auto = auto
        self.precision = precision
        self.tokens = tokens
        self.truncated = 0
        """Texts that were longer than the model takes, and were cut."""
        self._device = device

    @cached_property
    def signature(self) -> str:
        """Name, content of the files, precision, versions."""
        return signature(
            self.checkpoint.name,
            content=self.checkpoint.content,
            precision=self.precision,
            transformers=_version("transformers"),
            torch=_version("torch"),
        )

    @cached_property
    def device(self) -> str:  # type: ignore[override]  # known once torch is asked
        """Where it runs."""
        return device_of(self._device)

    @cached_property
    def config(self) -> Any:
        """The model's configuration; read without its weights."""
        return self._from_pretrained("AutoConfig")

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        found = self._from_pretrained("AutoTokenizer")
        if getattr(found, "is_fast", False):
            with enough_memory(self.checkpoint.name):
                started(found.backend_tokenizer)
        return found

    @cached_property
    def by_words(self) -> "WordByWord | None":
        """The tokenizer as one that remembers words; None where it is not compiled, or has its own way."""
        own = not self.tokenizer.is_fast or self.tokenizer.split_special_tokens
        return None if own else WordByWord(self.tokenizer.backend_tokenizer)

    @cached_property
    def model(self) -> Any:
        """The weights, on their device."""
        with enough_memory(self.checkpoint.name):
            return self._loaded()

    def _loaded(self) -> Any:
        import torch

        made, report = self._from_pretrained(self.auto, dtype=getattr(torch, self.precision), output_loading_info=True)
        if absent := sorted(key for key in report["missing_keys"] if "pooler" not in key):
            raise UserError(
                f"'{self.checkpoint.name}' is a checkpoint of another kind: it has no weights for {absent[0]}"
                f"{f' and {len(absent) - 1} more' if len(absent) > 1 else ''} ({self.auto})."
            )
        if self.device == "cpu" and self.precision == "float32" and self.ribbons:
            return prepared(made.eval())
        try:
            made = made.to(self.device).eval()
        except RuntimeError as error:
            raise UserError(f"{self.checkpoint.name} does not go onto device '{self.device}': {error}") from None
        return in_one_pass(made) if on_gpu(self.device) else made

    @cached_property
    def longest(self) -> int:
        """Tokens of the longest text that the model takes, special ones included."""
        said = min(int(self.tokenizer.model_max_length), UNLIMITED)
        places = getattr(self.config, "max_position_embeddings", None) or getattr(self.config, "n_positions", None)
        if not places or self.config.model_type in ("t5", "mt5", "umt5"):
            return said
        offset = (self.config.pad_token_id or 0) + 1 if self.config.model_type in OFFSETS else 0
        return min(said, int(places) - offset)

    def close(self) -> None:
        """Give the weights' memory back."""
        for name in ("model", "tokenizer", "device", "by_words"):
            self.__dict__.pop(name, None)

    def tokenised(self, texts: Sequence[str], special: bool = True, room: int = 0) -> tuple[Tokens, Tokens]:
        """Token numbers and special-token marks of each text; `room` tokens are left free. Longer texts are cut."""
        if not texts:
            return [], []
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # a lone surrogate becomes "?"
        options = {"add_special_tokens": special, "return_special_tokens_mask": True, "verbose": False}
        if self.ribbons and self.by_words:
            ids, marks = self.by_words(valid, special)
        else:
            found = self.tokenizer(valid, **options)
            ids, marks = list(found["input_ids"]), list(found["special_tokens_mask"])
        limit = self.longest - room
        long = [place for place, tokens in enumerate(ids) if len(tokens) > limit]
        if long:
            cut = self.tokenizer([valid[place] for place in long], truncation=True, max_length=limit, **options)
            for place, tokens, mark in zip(long, cut["input_ids"], cut["special_tokens_mask"], strict=True):
                ids[place], marks[place] = tokens, mark
            self.note([valid[place] for place in long], limit)
        return ids, marks

    def note(self, texts: Sequence[str], limit: int) -> None:
        """Count texts that were too long, and say so."""
        self.truncated += len(texts)
        remark(f"texts cut to the length that {self.checkpoint.name} can read, {limit} tokens", texts)

    def _from_pretrained(self, kind: str, **options: Any) -> Any:
        _version("torch")
        import transformers

        if self.checkpoint.file is not None:
            options["gguf_file"] = self.checkpoint.file
        elif not (self.checkpoint.folder / "config.json").is_file():
            raise UserError(
                f"'{self.checkpoint.name}' is not a model of the transformers library: {self.checkpoint.folder} has no "
                "config.json."
            )
        else:
            model_description(self.checkpoint.folder / "config.json")
        loader = getattr(transformers, kind)
        with reading(f"'{self.checkpoint.name}'", "a model", EXPECTED, "loaded"), loading(self.checkpoint.name):
            if kind.startswith("AutoModel") and is_packed(self.checkpoint.folder):
                options.pop("output_loading_info")  # what it lacks, it says itself
                return pretrained(loader, self.checkpoint.folder, **options), {"missing_keys": ()}
            return loader.from_pretrained(
                self.checkpoint.folder, trust_remote_code=False, local_files_only=True, **options
            )


class Backed:
    """Whatever is a `Transformer` below: made from the same options, known by the same signature."""

    auto: ClassVar[str]
    """The transformers class that loads it."""
    together: ClassVar[int] = 512
    """Texts in one call, enough for the model to find those that it can read together."""

    def __init__(
        self,
        model: str,
        precision: Precision = "float32",
        device: str = "auto",
        tokens: Annotated[int, Range(1, 1 << 20)] = TOKENS,
        instead: str = "",
    ) -> None:
        self.core = Transformer(model, self.auto, precision, device, tokens, instead)

    @property
    def signature(self) -> str:
        """Name, content of the files, precision, versions."""
        return self.core.signature

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages that it was trained on, known of the models that ship."""
        return languages_of(self.core.checkpoint.name)

    @property
    def limits(self) -> Limits:
        """How much it takes at once."""
        return Limits(texts=self.together, tokens=self.core.tokens)

    def close(self) -> None:
        """Give the weights' memory back."""
        self.core.close()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        raise UserError(f"this model needs {package}: run {install_line('neural')}.") from None


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
