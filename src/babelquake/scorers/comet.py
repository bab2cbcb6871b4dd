"""COMET (Rei et al. 2020), CometKiwi (Rei et al. 2022) and xCOMET (Guerreiro et al. 2023), equal to unbabel-comet's.

Models that encode source, translation and reference each on its own (wmt20-comet-da, wmt22-comet-da, wmt20-comet-qe-da)
receive their sentence vectors from the engine, so that a source or reference shared by many variants is encoded once.
Models that read the texts joined (CometKiwi, xCOMET) judge each segment as a whole; xCOMET also marks errors.
"""

from functools import partial
from typing import ClassVar, Literal

from babelquake.errors import UserError
from babelquake.models import encoder as encoder_named
from babelquake.models.base import Span, Vectors, sentence_rows
from babelquake.models.comet import CometEncoder
from babelquake.models.comet_joint import Judged, judge_joined
from babelquake.models.loading import Precision
from babelquake.resource import Limits
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required
from babelquake.scorers.published_scorer import best_reference, shown
from babelquake.spec import Spec, signature


class Comet(VectorScorer):
    """A trained estimate of human judgement from source, translation and reference; higher is better.

    `model` is a hub name or a folder with `hparams.yaml` and `checkpoints/model.ckpt`; `encoder` a folder with the
    tokenizer and configuration of the encoder below where no hub can be reached. `inputs=source` has a unified model
    (xCOMET) judge without references. With several references the best counts.
    """

    tells_sides_apart: ClassVar[bool] = True
    extra: ClassVar[str | None] = "neural"
    needs: ClassVar[frozenset[str]] = frozenset({"source", "reference"})

    limits = Limits(texts=512)
    """Enough segments at once to find texts of equal length."""

    def __init__(
        self,
        model: str = "Unbabel/wmt22-comet-da",
        encoder: str | None = None,
        inputs: Literal["all", "source", "reference"] = "all",
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        asked = Spec("comet").with_options(model=model, encoder=encoder, precision=precision, device=device)
        found = encoder_named(asked)
        if not isinstance(found, CometEncoder):
            raise UserError(f"comet[model={model}] is not a COMET checkpoint.")
        self.encoder = found
        self.inputs = inputs
        known = found.settings.inputs
        if inputs != "all" and inputs not in known:
            raise UserError(f"comet[model={model},inputs={inputs}]: this model reads {' and '.join(sorted(known))}.")
        if inputs != "all" and known != {inputs} and not found.settings.joined:
            raise UserError(f"comet[model={model},inputs={inputs}]: this model needs source and reference.")
        self.needs = known if inputs == "all" else frozenset({inputs})  # type: ignore[misc]  # the model decides

    @property
    def described(self) -> str:
        return shown(self.spec, self.encoder.checkpoint)

    @property
    def signature(self) -> str:
        return signature("comet", self.encoder.signature, inputs="+".join(sorted(self.needs)))

    def encoders(self) -> tuple[Wanted, ...]:
        """The checkpoint's own encoder, where texts are encoded each on its own."""
        return () if self.encoder.settings.joined else (Wanted(self.encoder),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        judge = self._joined if self.encoder.settings.joined else partial(self._separate, vectors=vectors)
        with self.encoder.noting():
            if "reference" not in self.needs:
                return judge(questions)
            return best_reference(questions, required(questions.references, self, "reference"), judge)

    @property
    def marks_errors(self) -> bool:
        return self.encoder.settings.joined and self.encoder.settings.word_level_training

    def spans(self, questions: Questions) -> list[list[Span]]:
        """The errors that the model marks in each translation, for the first reference."""
        if not self.marks_errors:
            return super().spans(questions)
        first = [some[:1] for some in questions.references or []] or None
        return self._read(Questions(questions.translations, first, questions.sources)).spans

    def _separate(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        sources = required(questions.sources, self, "source")
        references = None
        if "reference" in self.needs:
            references = sentence_rows([some[0] for some in questions.references or []], vectors[0])
        translations = sentence_rows(questions.translations, vectors[0])
        return self.encoder.network.judge(translations, sentence_rows(sources, vectors[0]), references)

    def _joined(self, questions: Questions) -> Array:
        return self._read(questions).scores

    def _read(self, questions: Questions) -> Judged:
        sources = required(questions.sources, self, "source") if "source" in self.needs else None
        references = [some[0] for some in questions.references or []] if "reference" in self.needs else None
        return judge_joined(self.encoder.network, questions.translations, sources, references)
