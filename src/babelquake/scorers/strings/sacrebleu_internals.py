"""The one place that knows sacreBLEU's inside: names that its authors may move between versions.

`tests/scorers/strings/test_sacrebleu_internals.py` checks them in every version that we support.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from babelquake.errors import UserError, setting
from babelquake.paths import install_line
from babelquake.resource import SETTINGS

SUPPORTED = ("2.5.1", "2.6.0")
"""Versions of sacreBLEU that this adapter was tested with."""
EXTRAS = {"ja-mecab": "ja", "ko-mecab": "ko"}


def default_tokeniser(target: str) -> str:
    """The tokeniser that sacreBLEU takes for a target language."""
    from sacrebleu.metrics.bleu import BLEU

    return str(BLEU._TOKENIZER_MAP.get(target, BLEU.TOKENIZER_DEFAULT))


def bleu_tokeniser(name: str) -> Any:
    """sacreBLEU's tokeniser of that name, or an error that says what to install."""
    from sacrebleu.metrics.bleu import _get_tokenizer
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    file = Path(SACREBLEU_DIR, "models", SPM_MODELS[name]["url"].rpartition("/")[2]) if name in SPM_MODELS else None
    if SETTINGS.offline and file is not None and not file.is_file():
        raise UserError(
            f"tokeniser '{name}' needs a model that sacreBLEU downloads, and {setting('offline', True)} forbids it. "
            f"Run once while online, or put the file at {file}."
        )
    try:
        return _get_tokenizer(name)()
    except KeyError:
        raise UserError(f"the installed sacreBLEU has no tokeniser '{name}'.") from None
    except (RuntimeError, ImportError) as problem:
        if name not in EXTRAS:
            raise UserError(f"tokeniser '{name}' cannot start: {problem}") from problem
        raise UserError(f"tokeniser '{name}' needs an extra: run {install_line(EXTRAS[name])}.") from problem
    except (OSError, SystemExit) as problem:
        raise UserError(
            f"tokeniser '{name}' needs a model that sacreBLEU downloads into {SACREBLEU_DIR}/models, "
            f"and that failed ({problem}). Run once with network access, or put the file there."
        ) from problem


def ter_tokeniser(normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool) -> Any:
    """Tercom's tokeniser."""
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    return TercomTokenizer(normalized, no_punct, asian_support, case_sensitive)


def bleu_signature(facts: Mapping[str, Any], references: int | None) -> str:
    """sacreBLEU's signature of BLEU for segments with that many references, None where their number varies."""
    from sacrebleu.metrics.bleu import BLEUSignature

    return f"BLEU|{BLEUSignature(_counted(facts, references))}"


def chrf_signature(facts: Mapping[str, Any], references: int | None) -> str:
    """sacreBLEU's signature of chrF."""
    from sacrebleu.metrics.chrf import CHRFSignature

    return f"chrF{facts['beta']}{'+' * facts['word_order']}|{CHRFSignature(_counted(facts, references))}"


def ter_signature(facts: Mapping[str, Any], tokeniser: Any, references: int | None) -> str:
    """sacreBLEU's signature of TER."""
    from sacrebleu.metrics.ter import TERSignature

    named = {**facts, "tokenizer_signature": str(tokeniser.signature())}
    return f"TER|{TERSignature(_counted(named, references))}"


def _counted(facts: Mapping[str, Any], references: int | None) -> dict[str, Any]:
    return {**facts, "num_refs": -1 if references is None else references}
