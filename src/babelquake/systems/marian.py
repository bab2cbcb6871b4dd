"""Marian, M2M-100 and NLLB models of the transformers library, decoded by CTranslate2.

A model is converted once, into the user's cache folder; what is there is whole, because it is made aside and renamed.
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from babelquake.errors import UserError
from babelquake.models.loading import only_numbers, quietly
from babelquake.paths import user_cache
from babelquake.systems.ctranslate2 import begun, translator_of

KINDS = ("marian", "m2m_100")
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


def translator(folder: Path, device: str, precision: str, threads: int) -> Any:
    """The converted model, ready to decode."""
    return translator_of(folder, "cuda" if device.startswith("cuda") else "cpu", precision, threads)


def decode(
    model: Any, work: Sequence[Sequence[list[str]]], prefix: str | None, beam: int, longest: int
) -> list[list[list[str]]]:
    """The subwords of the best translations; each part of the work holds texts of one length."""
    target = [prefix] if prefix else []
    under_way = [begun(model, list(part), target, beam, longest) for part in work]
    return [[result.result().hypotheses[0][len(target) :] for result in part] for part in under_way]
