"""Transformer models in CTranslate2's format with SentencePiece: `ctranslate2[model=FOLDER]`.

A text gets the same translation whatever else is in its batch: texts are decoded together only with texts of the same
number of subwords, so nothing is padded. Padding changes the order in which attention is summed up, and with int8
weights a last bit can become another rounding (measured on 200 sentences and a 13 M parameter model with int8: batches
of 32 with padding change 73 scores and one translation; without padding none differs from sentences one by one).

On a CPU each group has one thread, and as many groups are under way as there are threads: for a 13 M parameter model
that takes 40 % less processor time than two threads which share every group.

A text can be read in other subwords: by BPE-dropout (Provilkov et al. 2020) or as samples of a unigram model (Kudo
2018). A sample depends on the text and on the sample's number alone, never on what was segmented before:
SentencePiece's own generator is seeded once per thread, and gives a text other subwords in another batch.

The small models that ship, `bundled[model=de-en-bpe]`, are such folders in the distribution `babelquake-models`, with a
card that says how each was trained.
"""

import hashlib
import itertools
import json
import os
from collections import defaultdict
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from math import exp
from pathlib import Path
from typing import Annotated, Any, Literal

from babelquake.errors import UnansweredError, UserError, did_you_mean, setting
from babelquake.languages import LanguagePair, pair_in_path
from babelquake.models.shipped import INSTALL, shipped
from babelquake.randomness import Stream
from babelquake.resource import Limits
from babelquake.spec import Range, signature
from babelquake.systems.base import System

SOURCE_PIECES = ("source.spm", "spm.src", "sentencepiece.model", "sentencepiece.bpe.model", "spiece.model", "spm.model")
TARGET_PIECES = ("target.spm", "spm.tgt", *SOURCE_PIECES[2:])
"""Names under which models carry their SentencePiece files."""
TOGETHER, SUBWORDS = 64, 8192
"""Texts, and subwords of them, decoded together at most."""

ComputeType = Literal[
    "default", "auto", "int8", "int8_float32", "int8_float16", "int16", "float16", "bfloat16", "float32"
]


class CTranslate2(System):
    """A model folder of CTranslate2. SentencePiece files are found by their usual names, or given.

    `pieces` is one SentencePiece file for both sides. `source_prefix` and `target_prefix` are tokens that multilingual
    models expect in front of either side, such as `deu_Latn`. A text of more than `max_input` subwords is refused,
    because what attention needs grows with the square of the length. With `sample` above 0 texts are read in other
    subwords than the usual ones, drawn with this number as seed.
    """

    indifferent = frozenset({"threads"})

    limits = Limits(texts=256)
    """Many at once, so that groups of equal length are large; a batch is what an interruption loses."""

    def __init__(
        self,
        model: str,
        beam: Annotated[int, Range(1, 64)] = 4,
        compute_type: ComputeType = "default",
        device: Literal["auto", "cpu", "cuda"] = "auto",
        threads: Annotated[int, Range(0, 1024)] = 0,
        max_length: Annotated[int, Range(1, 4096)] = 256,
        max_input: Annotated[int, Range(1, 65536)] = 1024,
        pieces: str | None = None,
        source_pieces: str | None = None,
        target_pieces: str | None = None,
        source_prefix: str | None = None,
        target_prefix: str | None = None,
        sample: Annotated[int, Range(0, 1000)] = 0,
    ) -> None:
        self._folder = Path(model)
        if not (self._folder / "model.bin").is_file():
            raise UserError(f"{model} is not a CTranslate2 model: there is no model.bin in that folder.")
        self._source_pieces = _pieces(self._folder, source_pieces or pieces, SOURCE_PIECES, "source_pieces")
        self._target_pieces = _pieces(self._folder, target_pieces or pieces, TARGET_PIECES, "target_pieces")
        self._beam = beam
        self._compute_type = compute_type
        self._device = device
        self._threads = threads
        self._max_length = max_length
        self._max_input = max_input
        self._source_prefix = [source_prefix] if source_prefix else []
        self._target_prefix = [target_prefix] if target_prefix else []
        self._sample = sample
        self._loaded: dict[str, Any] = {}

    @cached_property
    def signature(self) -> str:
        """Hashes of the files, decoding options and CTranslate2's version; the place of the folder does not matter."""
        return self._signed("ctranslate2", content=self._content())

    def translate(self, texts: Sequence[str]) -> list[str]:
        """Texts of equal length together; a blank text has a blank translation."""
        pieces = self._subwords(texts)
        groups, refused = by_length(texts, [len(each) for each in pieces], self._max_input, "max_input")
        under_way = [(group, self._decode([pieces[index] for index in group])) for group in groups]
        translations = [""] * len(texts)
        for group, results in under_way:
            for index, result in zip(group, results, strict=True):
                tokens = result.result().hypotheses[0][len(self._target_prefix) :]
                translations[index] = self._target_processor.decode(tokens)
        return answered(texts, translations, refused)

    def resegmented(self, number: int) -> "CTranslate2":
        """The same model, and the same memory, reading sample `number` of a text's subwords."""
        made = copy(self)
        made.__dict__.pop("signature", None)
        made._sample = number
        if hasattr(self, "spec"):
            made.spec = self.spec.with_options(sample=number)
        return made

    def close(self) -> None:
        self._loaded.clear()

    def _subwords(self, texts: Sequence[str]) -> list[list[str]]:
        if self._sample:
            return samples(self._source_processor, texts, self._sample)
        found: list[list[str]] = self._source_processor.encode(list(texts), out_type=str)
        return found

    def _signed(self, name: str, **facts: object) -> str:
        import ctranslate2

        prefixes = [*self._source_prefix, *self._target_prefix]
        return signature(
            name,
            **facts,
            beam=self._beam,
            compute=self._compute_type,
            length=self._max_length,
            prefix="+".join(prefixes) if prefixes else None,
            end="+".join(self._source_end) or None,
            sample=self._sample or None,
            ctranslate2=ctranslate2.__version__,
        )

    def _content(self) -> str:
        state = hashlib.blake2b(digest_size=6)
        for path in (self._folder / "model.bin", self._source_pieces, self._target_pieces):
            with path.open("rb") as file:
                state.update(hashlib.file_digest(file, "blake2b").digest())
        return state.hexdigest()

    def _decode(self, pieces: list[list[str]]) -> Any:
        """Begin to translate texts of one length."""
        whole = [[*self._source_prefix, *each, *self._source_end] for each in pieces]
        return begun(self._translator, whole, self._target_prefix, self._beam, self._max_length, len(pieces[0]))

    @cached_property
    def _source_end(self) -> list[str]:
        """The token that models converted from transformers expect after a source, which CTranslate2 does not add."""
        try:
            config = json.loads((self._folder / "config.json").read_bytes())
        except (OSError, ValueError):
            return []
        expected = config.get("decoder_start_token", "<s>") != "<s>" and not config.get("add_source_eos")
        return [config["eos_token"]] if expected else []

    @property
    def _translator(self) -> Any:
        """The model, loaded once for all samples of subwords."""
        if "translator" not in self._loaded:
            self._loaded["translator"] = self._load()
        return self._loaded["translator"]

    def _load(self) -> Any:
        try:
            return translator_of(self._folder, self._device, self._compute_type, self._threads)
        except (RuntimeError, ValueError) as error:
            raise UserError(f"CTranslate2 cannot load {self._folder}: {error}") from None

    @cached_property
    def _source_processor(self) -> Any:
        return _processor(self._source_pieces)

    @cached_property
    def _target_processor(self) -> Any:
        return _processor(self._target_pieces)


def translator_of(folder: Path, device: str, precision: str, threads: int) -> Any:
    """The model in a folder, ready to decode: on a CPU each group of texts has one thread."""
    import ctranslate2

    on_gpu = device == "cuda" or (device == "auto" and ctranslate2.get_cuda_device_count())
    between = 1 if on_gpu else threads or os.cpu_count() or 1
    return ctranslate2.Translator(
        str(folder), device=device, compute_type=precision, inter_threads=between, intra_threads=1
    )


def begun(
    model: Any, pieces: list[list[str]], prefix: list[str], beam: int, longest: int, length: int | None = None
) -> Any:
    """Translations, under way, of texts of one length, as subwords; `length` is without what stands before each."""
    return model.translate_batch(
        pieces,
        target_prefix=[prefix] * len(pieces) if prefix else None,
        beam_size=beam,
        max_batch_size=together(len(pieces[0]) if length is None else length),
        max_input_length=0,
        max_decoding_length=longest,
        asynchronous=True,
    )


def by_length(
    texts: Sequence[str], lengths: Sequence[int], longest: int, option: str
) -> tuple[list[list[int]], dict[str, str]]:
    """Places of texts of equal length together, blank ones left out; and why texts that are too long are refused."""
    groups: dict[int, list[int]] = defaultdict(list)
    refused = {}
    for index, (text, length) in enumerate(zip(texts, lengths, strict=True)):
        if length > longest:
            refused[text] = f"it has {length:,} subwords, {option} allows {longest:,}"
        elif text.strip():
            groups[length].append(index)
    return [groups[length] for length in sorted(groups)], refused


def answered(texts: Sequence[str], translations: list[str], refused: dict[str, str]) -> list[str]:
    """The translations; UnansweredError with all others where texts were refused."""
    if not refused:
        return translations
    text, why = next(iter(refused.items()))
    done = {text: translation for text, translation in zip(texts, translations, strict=True) if text not in refused}
    raise UnansweredError(f"{len(refused)} texts are too long, “{text[:40]}…”: {why}.", done, refused)


def together(length: int) -> int:
    """How many texts of a length are decoded together: fewer long ones, so that memory stays bounded."""
    return max(1, min(TOGETHER, SUBWORDS // max(1, length)))


def _processor(path: Path) -> Any:
    import sentencepiece

    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError) as error:
        raise UserError(f"{path} is not a SentencePiece model: {error}") from None


def _pieces(folder: Path, given: str | None, usual: Sequence[str], option: str) -> Path:
    names = [given] if given else list(usual)
    for name in names:
        for path in (folder / name, *([Path(name)] if given else [])):
            if path.is_file():
                return path
    raise UserError(f"{folder} has no SentencePiece file {' or '.join(names)}: name it with {option}=….")


DROPOUT = 0.1
"""Share of possible merges that a step of BPE leaves out, as in the paper."""
ALPHA, BEST = 0.5, 16
"""How closely samples of a unigram model follow its probabilities, and of how many segmentations of a word."""
SPACE = "▁"


def samples(processor: Any, texts: Sequence[str], number: int) -> list[list[str]]:
    """Subwords of each text, as sample `number` draws them word by word."""
    draw = _unigram if _has_alternatives(processor) else _bpe
    found = []
    for text, normal in zip(texts, processor.normalize(list(texts)), strict=True):
        rng = Stream("subwords", number, text)
        pieces = [piece for word in _words(normal) for piece in draw(processor, word, rng)]
        found.append(pieces if "".join(pieces) == normal else processor.encode(text, out_type=str))
    return found


def _words(normal: str) -> list[str]:
    """A text as SentencePiece sees it, in words: each begins with the mark of a space."""
    first, *others = normal.split(SPACE)
    return ([first] if first else []) + [SPACE + word for word in others]


def _has_alternatives(processor: Any) -> bool:
    """Whether the model is a unigram model, which knows more than one segmentation."""
    try:
        processor.nbest_encode_as_pieces("a", 2)
    except RuntimeError:
        return False
    return True


def _unigram(processor: Any, word: str, rng: Stream) -> list[str]:
    """One of the best segmentations, with probability P(x)^α."""
    options: list[list[str]] = processor.nbest_encode_as_pieces(word.removeprefix(SPACE), BEST) or [[word]]
    if len(options) == 1:
        return options[0]
    scores = [sum(processor.get_score(processor.piece_to_id(piece)) for piece in option) for option in options]
    weights = [exp(ALPHA * (score - max(scores))) for score in scores]
    left = rng.random() * sum(weights)
    for option, weight in zip(options, weights, strict=True):
        left -= weight
        if left < 0:
            return option
    return options[-1]


def _bpe(processor: Any, word: str, rng: Stream) -> list[str]:
    """Merge characters; in every step each possible merge is left out with the same probability (Algorithm 1)."""
    unknown = processor.unk_id()
    pieces = list(word)
    while len(pieces) > 1:
        numbers = processor.piece_to_id([one + other for one, other in itertools.pairwise(pieces)])
        possible = [
            (processor.get_score(number), -place)
            for place, number in enumerate(numbers)
            if number != unknown and not rng.chance(DROPOUT)
        ]
        if not possible:
            break
        place = -max(possible)[1]
        pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
    return pieces


def available() -> dict[str, Path]:
    """Names and folders of the translators that ship."""
    return {name: folder for name, folder in shipped().items() if (folder / "model.bin").is_file()}


class Bundled(CTranslate2):
    """A model that ships with the package, on the CPU.

    Decoding is greedy unless `beam` says otherwise: `beam=4` gains about one BLEU and takes twice as long.
    """

    def __init__(
        self,
        model: str,
        beam: Annotated[int, Range(1, 64)] = 1,
        threads: Annotated[int, Range(0, 1024)] = 0,
        sample: Annotated[int, Range(0, 1000)] = 0,
    ) -> None:
        known = available()
        if model not in known:
            hint = did_you_mean(model, known) if known else INSTALL
            raise UserError(f"no bundled model is called '{model}'. {hint}".strip())
        super().__init__(str(known[model]), beam, device="cpu", threads=threads, sample=sample)
        self._model = model

    def check_languages(self, language_pair: str) -> None:
        """The model's name begins with its languages."""
        ours, theirs = pair_in_path(self._model), LanguagePair.known(language_pair)
        if ours and theirs and ours.codes != theirs.codes:
            raise UserError(
                f"bundled[model={self._model}] translates {ours}, but the data are {language_pair}. "
                f"If the data are labelled wrongly, use {setting('language_pair', str(ours))}."
            )

    @cached_property
    def signature(self) -> str:
        """The model's name, a hash of its content, and how it is decoded; the card's words change no translation."""
        return self._signed("bundled", model=self._model, content=self._content())
