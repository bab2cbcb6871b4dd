"""What the study of failures can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from babelquake.studies.options import ENCODER, FailureEncoder, StudyOptions, Words, option

if TYPE_CHECKING:
    from babelquake.failures.rules import Rules


@dataclass(frozen=True, kw_only=True)
class CheckOptions(StudyOptions):
    """Find what is wrong with translations, without references: wrong language, copies, refusals, loops, lost numbers.

    Example: babelquake check -d translations.xliff --fail-on placeholder --fail-on 'number>0.5' --junit checks.xml
    """

    quickly_made_again: ClassVar[bool] = True
    inline_tags: ClassVar[bool] = True

    kinds: Words | None = option(
        None, "Look only for this kind; repeat for several. See: babelquake list failures", "--kind"
    )
    rules: Path | Rules | str | None = option(
        None, "Your own rules: required and banned text, terms, lengths (YAML).", metavar="FILE"
    )
    encoder: FailureEncoder = option("auto", ENCODER)
    targets: Literal["translation", "reference"] = option(
        "translation",
        "Read targets of XLIFF and TMX as translation or reference.",
        "--as",
        metavar="WHAT",
        identity=False,
        repeated=True,
    )
