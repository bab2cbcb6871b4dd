"""Defences stand before, around or behind a system: one file per kind, one line per name.

>>> defence("fold+spell", lang="de").apply(["Das  ist wihctig."])
['Das ist wichtig.']
"""

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.registry import Registry
from babelquake.spec import Spec, bind, parameters, parse, split_chain
from babelquake.systems.defences.base import Before, Chain, Defence

__all__ = ["DEFENCES", "Before", "Chain", "Defence", "defence"]

DEFENCES: Registry[type[Defence]] = Registry(
    "defence",
    "babelquake.defences",
    {
        "fallback": "babelquake.systems.defences.several:Fallback",
        "final-mark": "babelquake.systems.defences.repair:FinalMark",
        "fold": "babelquake.systems.defences.fold:Fold",
        "llm": "babelquake.systems.defences.llm:LlmCorrector",
        "none": "babelquake.systems.defences.base:Nothing",
        "repair": "babelquake.systems.defences.repair:Repair",
        "spell": "babelquake.systems.defences.spell:Spell",
        "truecase": "babelquake.systems.defences.truecase:Truecase",
        "vote": "babelquake.systems.defences.several:Vote",
    },
)


def defence(what: str | Chain, lang: str | None = None, target: str | None = None) -> Chain:
    """A chain of defences by name, such as `fold+spell`; `lang` is the language of the sources, `target` the other.

    Texts pass the parts from left to right; a part behind the system sees what the parts before it made of the text.
    """
    if isinstance(what, Chain):
        return what
    source, other = (Language(code) if code else None for code in (lang, target))
    specs = [parse(item) for item in split_chain(what)]
    if len(specs) > 1 and (idle := next((spec for spec in specs if spec.name == "none"), None)):
        raise UserError(f"'{what}': {idle} stands alone.")
    return Chain([_made(spec, source, other) for spec in specs])


def _made(spec: Spec, source: Language | None, target: Language | None) -> Defence:
    kind = DEFENCES.get(spec.name)
    made = kind(**bind(spec, parameters(kind), "defence"))
    made.spec = spec
    made.serve(source, target)
    return made
