"""Systems translate: one file per kind, one line per name."""

from typing import Any

from babelquake.registry import Registry
from babelquake.spec import Spec, bind, parameters, parse
from babelquake.systems.base import System

__all__ = ["SYSTEMS", "System", "system"]

SYSTEMS: Registry[type[System]] = Registry(
    "system",
    "babelquake.systems",
    {
        "apertium": "babelquake.systems.apertium:Apertium",
        "bundled": "babelquake.systems.bundled:Bundled",
        "command": "babelquake.systems.command:Command",
        "ctranslate2": "babelquake.systems.ctranslate2:CTranslate2",
        "deepl": "babelquake.systems.deepl:DeepL",
        "files": "babelquake.systems.files:Files",
        "google": "babelquake.systems.google:Google",
        "hf": "babelquake.systems.huggingface:HuggingFace",
        "libretranslate": "babelquake.systems.libretranslate:LibreTranslate",
        "microsoft": "babelquake.systems.microsoft:Microsoft",
        "openai": "babelquake.systems.openai:OpenAI",
    },
)


def system(what: str | Spec | System, language_pair: str | None = None, **options: Any) -> System:
    """The system of that name, options in brackets or as keywords: `system("bundled[model=de-en-bpe]")`.

    Systems that take `source` and `target` languages get them from the data's language pair unless they are named.
    """
    if isinstance(what, System):
        return what
    spec = (parse(what) if isinstance(what, str) else what).with_options(**options)
    kind = SYSTEMS.get(spec.name)
    accepted = parameters(kind)
    given = spec
    if language_pair and {"source", "target"} <= accepted.keys():
        source, _, target = language_pair.partition("-")
        given = Spec(spec.name).with_options(source=source, target=target).with_options(**dict(spec.options))
    made = kind(**bind(given, accepted, "system"))
    made.spec = spec
    made.language_pair = language_pair
    return made
