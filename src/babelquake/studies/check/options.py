"""What the study of failures can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from babelquake.studies.options import ENCODER, FailureEncoder, Option, StudyOptions, Words

if TYPE_CHECKING:
    from babelquake.failures.rules import Rules


@dataclass(frozen=True, kw_only=True)
class CheckOptions(StudyOptions):
    """Find what is wrong with translations, without references: wrong language, copies, refusals, loops, lost numbers.

    Example: babelquake check -d translations.xliff --fail-on placeholder --fail-on 'number>0.5' --junit checks.xml
    """

    quickly_made_again: ClassVar[bool] = True
    inline_tags: ClassVar[bool] = True

    kinds: Annotated[
        Words | None,
        Option("--kind", help="Look only for this kind; repeat for several. See: babelquake list failures"),
    ] = None
    rules: Annotated[
        Path | Rules | str | None,
        Option(metavar="FILE", help="Your own rules: required and banned text, terms, lengths (YAML)."),
    ] = None
    encoder: Annotated[FailureEncoder, ENCODER] = "auto"
    targets: Annotated[
        Literal["translation", "reference"],
        Option(
            "--as",
            metavar="WHAT",
            help="Read targets of XLIFF and TMX as translation or reference.",
            identity=False,
            repeated=True,
        ),
    ] = "translation"
