"""A transformers model and its tokenizer: loaded when first used, run on many texts at once.

What a text gives does not depend on its company: texts go through a model on ribbons, or in blocks of equal length
where the model reads no ribbons. No code of a model's repository is run; weights come from safetensors, or else are
read with `weights_only`.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from babelquake.errors import UserError
from babelquake.limits import model_description, reading
from babelquake.models.batching import TOKENS, on_gpu
from babelquake.models.checkpoint import Checkpoint, checkpoint
from babelquake.models.int8_weights import is_packed, pretrained
from babelquake.models.loading import device_of, enough_memory, in_one_pass, installed, loading, prepared
from babelquake.models.sequence_reader import OFFSETS, Reader
from babelquake.models.shipped import languages_of
from babelquake.models.tokenizers import WordByWord, started
from babelquake.resource import Limits
from babelquake.spec import Range, signature
from babelquake.warnings_log import count_warning

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
            transformers=installed("transformers"),
            torch=installed("torch"),
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
    def by_words(self) -> WordByWord | None:
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
        count_warning(f"texts cut to the length that {self.checkpoint.name} can read, {limit} tokens", texts)

    def _from_pretrained(self, kind: str, **options: Any) -> Any:
        installed("torch")
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
