"""Sequence-to-sequence models of the transformers library: `hf[model=Helsinki-NLP/opus-mt-de-en]`.

Texts are decoded together with texts of the same number of tokens only, so that nothing is padded and a translation
does not depend on its neighbours, as far as the arithmetic of the device allows. Weights load from safetensors, or else
with `weights_only`; no code from a model's repository is run.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Literal

from babelquake.callee import Limits
from babelquake.errors import UserError
from babelquake.runs.signature import signature
from babelquake.spec import Range
from babelquake.systems.base import System


class HuggingFace(System):
    """A model of the hub, or a folder. NLLB, mBART and M2M take `src_lang` and `tgt_lang`; T5 takes a `prefix`.

    `dtype=auto` is bfloat16 on a GPU that has it, float16 on another GPU, and float32 on the CPU.
    """

    def __init__(
        self,
        model: str,
        beam: Annotated[int, Range(1, 64)] = 4,
        max_new_tokens: Annotated[int, Range(1, 8192)] = 256,
        batch: Annotated[int, Range(1, 4096)] = 64,
        device: str = "auto",
        dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto",
        src_lang: str | None = None,
        tgt_lang: str | None = None,
        prefix: str = "",
        revision: str | None = None,
    ) -> None:
        self._model_name = model
        self._beam = beam
        self._max_new_tokens = max_new_tokens
        self._batch = batch
        self._device = device
        self._dtype = dtype
        self._src_lang = src_lang
        self._tgt_lang = tgt_lang
        self._prefix = prefix
        self._revision = revision

    @property
    def limits(self) -> Limits:
        """Several batches at once, so that groups of equal length are large; it is what an interruption loses."""
        return Limits(texts=4 * self._batch)

    @cached_property
    def signature(self) -> str:
        """Model (a folder's content), revision, languages, prefix, decoding, precision and version."""
        folder = Path(self._model_name)
        return signature(
            "hf",
            model=_content(folder) if folder.is_dir() else self._model_name,
            revision=self._revision,
            src_lang=self._src_lang,
            tgt_lang=self._tgt_lang,
            prefix=self._prefix or None,
            beam=self._beam,
            length=self._max_new_tokens,
            dtype=self._precision,
            transformers=_version(),
        )

    def translate(self, texts: Sequence[str]) -> list[str]:
        """Texts of equal length together; a blank text has a blank translation."""
        tokens = self._tokenizer([self._prefix + text for text in texts], truncation=True)["input_ids"] if texts else []
        groups: dict[int, list[int]] = defaultdict(list)
        for index, text in enumerate(texts):
            if text.strip():
                groups[len(tokens[index])].append(index)
        translations = [""] * len(texts)
        for _, group in sorted(groups.items()):
            for start in range(0, len(group), self._batch):
                part = group[start : start + self._batch]
                for index, translation in zip(part, self._generate([tokens[index] for index in part]), strict=True):
                    translations[index] = translation
        return translations

    def close(self) -> None:
        """Give the model's memory back."""
        for name in ("_loaded", "_tokenizer"):
            self.__dict__.pop(name, None)

    def _generate(self, tokens: list[list[int]]) -> list[str]:
        import torch

        ids = torch.tensor(tokens, device=self._where)
        forced = {} if self._first_token is None else {"forced_bos_token_id": self._first_token}
        with torch.inference_mode():
            found = self._loaded.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                num_beams=self._beam,
                do_sample=False,
                max_new_tokens=self._max_new_tokens,
                **forced,
            )
        decoded: list[str] = self._tokenizer.batch_decode(found, skip_special_tokens=True)
        return [text.strip() for text in decoded]

    @cached_property
    def _where(self) -> str:
        import torch

        if self._device != "auto":
            return self._device
        return "cuda" if torch.cuda.is_available() else "cpu"

    @cached_property
    def _precision(self) -> str:
        import torch

        if self._dtype != "auto":
            return self._dtype
        if not self._where.startswith("cuda"):
            return "float32"
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"

    @cached_property
    def _first_token(self) -> int | None:
        """The token that tells a multilingual model the language to write."""
        if self._tgt_lang is None:
            return None
        token = self._tokenizer.convert_tokens_to_ids(self._tgt_lang)
        if hasattr(self._tokenizer, "get_lang_id"):
            try:
                token = self._tokenizer.get_lang_id(self._tgt_lang)
            except KeyError:
                token = None
        if token is None or token == self._tokenizer.unk_token_id:
            raise UserError(f"{self._model_name} knows no language '{self._tgt_lang}': see its card for the codes.")
        return int(token)

    @cached_property
    def _tokenizer(self) -> Any:
        languages = {"src_lang": self._src_lang, "tgt_lang": self._tgt_lang}
        given = {name: code for name, code in languages.items() if code is not None}
        return self._from_pretrained("AutoTokenizer", **given)

    @cached_property
    def _loaded(self) -> Any:
        import torch

        model = self._from_pretrained("AutoModelForSeq2SeqLM")
        try:
            return model.to(device=self._where, dtype=getattr(torch, self._precision)).eval()
        except RuntimeError as error:
            raise UserError(f"{self._model_name} does not go onto device '{self._where}': {error}") from None

    def _from_pretrained(self, kind: str, **options: Any) -> Any:
        _version()
        import transformers

        try:
            return getattr(transformers, kind).from_pretrained(self._model_name, revision=self._revision, **options)
        except (OSError, ValueError, KeyError) as error:
            first = str(error).strip().partition("\n")[0]
            raise UserError(f"'{self._model_name}' cannot be loaded with transformers: {first}") from None


def _version() -> str:
    try:
        return version("transformers")
    except PackageNotFoundError:
        raise UserError("hf needs transformers and torch: pip install 'babelquake[neural]'.") from None


def _content(folder: Path) -> str:
    """A hash of a model folder's files, so that it has the same signature wherever it lies."""
    state = hashlib.blake2b(digest_size=6)
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        with path.open("rb") as file:
            state.update(path.name.encode() + hashlib.file_digest(file, "blake2b").digest())
    return state.hexdigest()
