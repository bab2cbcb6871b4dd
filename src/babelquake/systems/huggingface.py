"""Models of the transformers library: `hf[model=Helsinki-NLP/opus-mt-de-en]`; decoder-only ones are asked by prompt.

On a CPU, Marian, M2M-100 and NLLB models run through CTranslate2: converted once into the user's cache folder – what is
there is whole, because it is made aside and renamed – and several times as fast; `engine=transformers` is the plain
way. Either way texts are decoded together with texts of the same number of tokens only, so that nothing is padded and a
translation does not depend on its neighbours, as far as the arithmetic of the device allows. Weights load from
safetensors, or else with `weights_only`; no code from a model's repository is run.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Unpack

from babelquake.errors import UserError
from babelquake.limits import model_description
from babelquake.models.chat import (
    Cost,
    LocalChat,
    content_of,
    is_gguf,
    on_device,
    pretrained,
    seed_of,
    tokens_in,
    usual_precision,
)
from babelquake.models.loading import device_of, installed, offline, only_numbers, quietly
from babelquake.paths import user_cache
from babelquake.resource import Limits
from babelquake.spec import Range, signature
from babelquake.systems.base import System
from babelquake.systems.ctranslate2 import answered, begun, by_length, translator_of
from babelquake.systems.prompts import (
    Prompt,
    PromptOptions,
    Reading,
    cost_in_tokens,
    inquiry,
    prompt_of,
    reading_of,
)

CONVERTIBLE = ("marian", "m2m_100")
"""Kinds of model, as their descriptions call them; NLLB is an M2M-100."""


def converted(model: str, revision: str | None, precision: str, name: str) -> Path:
    """The folder of the converted model, made if it is not there yet."""
    folder = user_cache() / "converted" / name
    if (folder / "model.bin").is_file():
        return folder
    from ctranslate2.converters import TransformersConverter

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder.parent))
    except OSError as error:
        raise UserError(
            f"{model} has to be converted once, into {folder.parent}: {error.strerror}. "
            "Set XDG_CACHE_HOME to a writable folder, or use engine=transformers."
        ) from None
    try:
        with quietly(), only_numbers(model):
            TransformersConverter(model, revision=revision, trust_remote_code=False).convert(
                str(aside), quantization=precision, force=True
            )
        if not folder.exists():
            aside.rename(folder)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        if not (folder / "model.bin").is_file():
            first = str(error).strip().partition("\n")[0]
            raise UserError(f"{model} cannot be converted: {first}. Use engine=transformers.") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def decode(
    model: Any, work: Sequence[Sequence[list[str]]], prefix: str | None, beam: int, longest: int
) -> list[list[list[str]]]:
    """The subwords of the best translations; each part of the work holds texts of one length."""
    target = [prefix] if prefix else []
    under_way = [begun(model, list(part), target, beam, longest) for part in work]
    return [[result.result().hypotheses[0][len(target) :] for result in part] for part in under_way]


LONGEST = 1024
"""Tokens of a text, where the model does not say how many it takes."""
OFFLINE = "Works without a network: a folder, hf[model=DIR], or a model that ships, bundled[model=de-en-bpe]."


class HuggingFace(System):
    """A model of the hub, or a folder. NLLB, mBART and M2M take `src_lang` and `tgt_lang`; T5 takes a `prefix`.

    `dtype=auto` is bfloat16 on a GPU that has it, float16 on another GPU, and on the CPU int8 with CTranslate2 and
    float32 with transformers. A text of more tokens than the model takes, or than `max_input`, is refused.

    A decoder-only model (or a .gguf file of one) is asked with its chat template; `prompts.PromptOptions` describe its
    prompt, `stop` is a text that ends an answer; it decodes greedily, or samples with a `temperature` and a `seed`.
    """

    indifferent = frozenset({"batch", "threads"})

    def __init__(
        self,
        model: str,
        beam: Annotated[int, Range(1, 64)] = 4,
        max_new_tokens: Annotated[int, Range(1, 8192)] = 256,
        max_input: Annotated[int | None, Range(1, 65536)] = None,
        batch: Annotated[int, Range(1, 4096)] = 64,
        device: str = "auto",
        dtype: Literal["auto", "float32", "bfloat16", "float16", "int8"] = "auto",
        engine: Literal["auto", "ctranslate2", "transformers"] = "auto",
        threads: Annotated[int, Range(0, 1024)] = 0,
        src_lang: str | None = None,
        tgt_lang: str | None = None,
        prefix: str = "",
        revision: str | None = None,
        source: str | None = None,
        target: str | None = None,
        temperature: Annotated[float, Range(0, 2)] = 0.0,
        seed: Annotated[int, Range(0, 2**31)] = 0,
        stop: str | None = None,
        **prompt: Unpack[PromptOptions],
    ) -> None:
        self._model_name = model
        self._beam = beam
        self._max_new_tokens = max_new_tokens
        self._max_input = max_input
        self._batch = batch
        self._device = device
        self._dtype = dtype
        self._engine = engine
        self._threads = threads
        self._src_lang = src_lang
        self._tgt_lang = tgt_lang
        self._prefix = prefix
        self._revision = revision
        self._asked = prompt_of("hf[…]", prompt)
        self._languages = source or "", target or ""
        self._seed = seed
        self._chat = LocalChat(model, temperature, stop, max_new_tokens, batch, device, dtype, revision)
        self.prompt_column = prompt.get("column")
        if engine == "transformers" and dtype == "int8":
            raise UserError("hf[engine=transformers] has no dtype=int8. Use float32, or engine=ctranslate2.")

    @property
    def limits(self) -> Limits:
        """Several batches at once, so that groups of equal length are large; it is what an interruption loses."""
        return Limits(texts=4 * self._batch)

    @property
    def prompt(self) -> Prompt | None:  # type: ignore[override]  # known once the model's description was read
        """How a decoder-only model is asked."""
        return self._asked if self._chats else None

    @property
    def documents(self) -> bool:  # type: ignore[override]  # as above
        """Whether it is a decoder-only model, which takes whole documents."""
        return self._chats

    def holds(self, text: str) -> bool:
        """Whether the translation of a part of a document fits into the answer, with room to spare."""
        return 2 * tokens_in(text) <= self._max_new_tokens

    def cost(self, asked: Sequence[str]) -> Cost:
        """Tokens, where it is asked by prompt."""
        if not self._chats:
            return super().cost(asked)
        return cost_in_tokens(self._asked, asked, *self._languages, None, None)

    def reading(self, answer: str) -> Reading:
        """The translation in an answer, which must look as the prompt declares."""
        return reading_of(self._asked.form, answer) if self._chats else Reading(answer)

    def said(self, asked: Sequence[str]) -> list[str]:
        """The answers of a decoder-only model, word for word; the translations of another one."""
        if not self._chats:
            return super().said(asked)
        if not asked:
            return []
        tokens = self._chat.tokens([self._asked.messages(inquiry(one), *self._languages) for one in asked])
        groups, refused = by_length(asked, [len(each) for each in tokens], self._longest, "max_input")
        taken = [place for group in groups for place in group]
        seeds = [seed_of(self._seed, asked[place]) for place in taken]
        found = dict(zip(taken, self._chat.answers([tokens[place] for place in taken], seeds), strict=True))
        return answered(asked, [found.get(place, "") for place in range(len(asked))], refused)

    @cached_property
    def signature(self) -> str:
        """Model (a folder's content), revision, languages, prefix or prompt, decoding, engine, precision, versions."""
        if self._chats:
            asked, talk = self._asked, self._chat
            return signature(
                "hf",
                model=content_of(self._model_name),
                revision=self._revision,
                source=self._languages[0],
                target=self._languages[1],
                prompt=asked.hash,
                answer=asked.answer if asked.answer != "text" else None,
                temperature=f"{talk.temperature:g}",
                seed=self._seed if talk.temperature else None,
                stop=talk.stop,
                length=self._max_new_tokens,
                dtype=self._precision,
                transformers=installed("transformers"),
            )
        return signature(
            "hf",
            model=content_of(self._model_name),
            revision=self._revision,
            src_lang=self._src_lang,
            tgt_lang=self._tgt_lang,
            prefix=self._prefix or None,
            beam=self._beam,
            length=self._max_new_tokens,
            dtype=self._precision,
            transformers=installed("transformers"),
            ctranslate2=installed("ctranslate2") if self._converts else None,
        )

    def translate(self, texts: Sequence[str]) -> list[str]:
        """Texts of equal length together; those that are too long are refused, a blank one has a blank translation."""
        if self._chats:
            return [self.reading(answer).translation for answer in self.said(texts)]
        if not texts:
            return []
        tokens = self._tokenizer([self._prefix + text for text in texts], truncation=False)["input_ids"]
        groups, refused = by_length(texts, [len(each) for each in tokens], self._longest, "max_input")
        parts = [group[start : start + self._batch] for group in groups for start in range(0, len(group), self._batch)]
        translations = [""] * len(texts)
        work = [[tokens[index] for index in part] for part in parts]
        for part, found in zip(
            parts, self._converted(work) if self._converts else map(self._generate, work), strict=True
        ):
            for index, translation in zip(part, found, strict=True):
                translations[index] = translation
        return answered(texts, translations, refused)

    def close(self) -> None:
        self._chat.close()
        for name in ("_loaded", "_tokenizer", "_translator"):
            self.__dict__.pop(name, None)

    @cached_property
    def _chats(self) -> bool:
        """Whether it is a decoder-only model; from its description, no weights are loaded."""
        if is_gguf(self._model_name):
            return True
        folder = Path(self._model_name)
        if folder.is_dir() and not (folder / "config.json").is_file():
            return False
        names = self._described.get("architectures") or ()
        both = self._described.get("is_encoder_decoder", False)
        return not both and any(str(name).endswith(("ForCausalLM", "LMHeadModel")) for name in names)

    @cached_property
    def _converts(self) -> bool:
        """Whether CTranslate2 does the work."""
        if self._engine == "transformers":
            return False
        can = self._kind in CONVERTIBLE
        if self._engine == "ctranslate2" and not can:
            raise UserError(
                f"hf[engine=ctranslate2] knows {', '.join(CONVERTIBLE)}; {self._model_name} is {self._kind}."
            )
        on_cpu = self._where == "cpu" and self._dtype in ("auto", "int8", "float32")
        return can and (self._engine == "ctranslate2" or on_cpu)

    @cached_property
    def _kind(self) -> str:
        """The kind of model; no weights are loaded."""
        return "gguf" if is_gguf(self._model_name) else str(self._described.get("model_type"))

    @cached_property
    def _described(self) -> dict[str, Any]:
        """What the model says of itself."""
        local = Path(self._model_name) / "config.json"
        if local.is_file():
            return model_description(local)
        found: dict[str, Any] = self._from_pretrained("AutoConfig").to_dict()
        return found

    def _converted(self, work: list[list[list[int]]]) -> list[list[str]]:
        prefix = None if self._first_token is None else self._tokenizer.convert_ids_to_tokens(self._first_token)
        named = [[self._tokenizer.convert_ids_to_tokens(each) for each in part] for part in work]
        found = decode(self._translator, named, prefix, self._beam, self._max_new_tokens)
        return [self._spoken([self._tokenizer.convert_tokens_to_ids(each) for each in part]) for part in found]

    def _generate(self, tokens: list[list[int]]) -> list[str]:
        import torch

        ids = torch.tensor(tokens, device=self._where)
        forced = {} if self._first_token is None else {"forced_bos_token_id": self._first_token}
        with torch.inference_mode(), quietly():
            found = self._loaded.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                num_beams=self._beam,
                do_sample=False,
                max_new_tokens=self._max_new_tokens,
                **forced,
            )
        return self._spoken(found)

    def _spoken(self, found: Any) -> list[str]:
        decoded: list[str] = self._tokenizer.batch_decode(found, skip_special_tokens=True)
        return [text.strip() for text in decoded]

    @cached_property
    def _where(self) -> str:
        return device_of(self._device)

    @cached_property
    def _precision(self) -> str:
        if self._dtype != "auto":
            return self._dtype
        on_cpu = not self._where.startswith("cuda")
        return "int8" if on_cpu and self._converts else usual_precision(self._where)

    @cached_property
    def _longest(self) -> int:
        """Tokens that the model takes; tokenizers without a limit say so with a number without meaning."""
        said = int(min(getattr(self._tokenizer, "model_max_length", LONGEST), 10**6))
        return self._max_input or (said if 0 < said < 10**6 else LONGEST)

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
        if self._chats:
            return self._chat.tokenizer
        languages = {"src_lang": self._src_lang, "tgt_lang": self._tgt_lang}
        given = {name: code for name, code in languages.items() if code is not None}
        return self._from_pretrained("AutoTokenizer", **given)

    @cached_property
    def _loaded(self) -> Any:
        model = self._from_pretrained("AutoModelForSeq2SeqLM")
        return on_device(model, self._model_name, self._where, self._precision)

    @cached_property
    def _translator(self) -> Any:
        state = hashlib.blake2b(
            f"{content_of(self._model_name)}|{self._revision}|{self._precision}".encode(), digest_size=10
        )
        model = self._on_this_machine() if offline() else self._model_name
        folder = converted(model, self._revision, self._precision, state.hexdigest())
        return translator_of(
            folder, "cuda" if self._where.startswith("cuda") else "cpu", self._precision, self._threads
        )

    def _on_this_machine(self) -> str:
        """The model's own folder, where no hub may be asked."""
        if Path(self._model_name).is_dir():
            return self._model_name
        from huggingface_hub import snapshot_download

        return snapshot_download(self._model_name, revision=self._revision, local_files_only=True)

    def _from_pretrained(self, kind: str, **options: Any) -> Any:
        return pretrained(kind, self._model_name, self._revision, OFFLINE, **options)
