"""Systems translate: one file per kind, one line per name."""

import inspect
from collections.abc import Callable
from typing import Any

from babelquake.errors import UserError, setting
from babelquake.languages import LanguagePair
from babelquake.registry import Registry
from babelquake.spec import Spec, bind, parameters, parse
from babelquake.systems.base import System
from babelquake.systems.user_system import Adapted, Translates
from babelquake.user_code import PLACE, at, name_of

__all__ = ["SYSTEMS", "System", "system"]

SYSTEMS: Registry[type[System]] = Registry(
    "system",
    "babelquake.systems",
    {
        "apertium": "babelquake.systems.apertium:Apertium",
        "bundled": "babelquake.systems.ctranslate2:Bundled",
        "command": "babelquake.systems.command:Command",
        "ctranslate2": "babelquake.systems.ctranslate2:CTranslate2",
        "deepl": "babelquake.systems.remote:DeepL",
        "defended": "babelquake.systems.defended:Defended",
        "files": "babelquake.systems.files:Files",
        "google": "babelquake.systems.remote:Google",
        "hf": "babelquake.systems.huggingface:HuggingFace",
        "libretranslate": "babelquake.systems.remote:LibreTranslate",
        "microsoft": "babelquake.systems.remote:Microsoft",
        "openai": "babelquake.systems.openai:OpenAI",
    },
)


def system(
    what: str | Spec | System | Translates | Callable[..., Any], language_pair: str | None = None, **options: Any
) -> System:
    """The system of that name, options in brackets or as keywords: `system("bundled[model=de-en-bpe]")`.

    Systems that take `source` and `target` languages get them from the data's language pair unless they are named.
    Every system takes `name`, which tables show in place of its spec. A function from a list of texts to a list of
    translations is a system too, and so is `module:function`.
    """
    if isinstance(what, System):
        if not hasattr(what, "spec"):
            what.spec = Spec(name_of(what))
        return what
    if not isinstance(what, str | Spec):
        return Adapted(what)
    spec = (parse(what) if isinstance(what, str) else what).with_options(**options)
    kind: Any = at(spec.name) if PLACE.fullmatch(spec.name) else SYSTEMS.get(spec.name)
    made = _made(kind, spec, language_pair)
    made.spec = spec
    made.language_pair = language_pair
    if language_pair:
        made.check_languages(language_pair)
    return made


def _made(kind: Any, spec: Spec, language_pair: str | None) -> System:
    if inspect.isfunction(kind) or inspect.isbuiltin(kind):
        bind(spec.without("name"), {}, "system")
        return Adapted(kind, spec.name)
    accepted = parameters(kind)
    given = spec if "name" in accepted else spec.without("name")
    languages = {"source", "target"} & {name for name, one in accepted.items() if one.default is one.empty}
    said = dict(given.options).keys()
    if languages - said and said <= accepted.keys() and not language_pair:
        raise UserError(
            f"system '{spec.name}' needs the languages. Use {setting('language_pair')}, such as de-en, or "
            f"{spec.name}[source=de,target=en]."
        )
    if language_pair and {"source", "target"} <= accepted.keys():
        pair = LanguagePair(language_pair)
        given = Spec(spec.name).with_options(source=pair.source, target=pair.target).with_options(**dict(given.options))
    found = kind(**bind(given, accepted, "system"))
    return found if isinstance(found, System) else Adapted(found)
