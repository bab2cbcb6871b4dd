"""Which models an attack draws on – named by the user, the paper's, or those that ship – and what languages need."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from babelquake import models
from babelquake.attacks.constraints import Constraint
from babelquake.attacks.goal import Goal
from babelquake.attacks.moves import Tags, neighbours, neighbours_signature
from babelquake.attacks.recipes import Tools, recipe
from babelquake.attacks.sentence import Sentence
from babelquake.data import Dataset
from babelquake.errors import setting
from babelquake.languages import Language, sides
from babelquake.models import CausalLM, Encoder, MaskedLM
from babelquake.models.loading import offline
from babelquake.perturb.linguistics import linguistics, word_lists
from babelquake.spec import Spec
from babelquake.studies.attack import AttackOptions
from babelquake.text import is_unspaced

PAPER = {
    "masked_lm": "distilroberta-base[words=any]",
    "fluency_lm": "gpt2",
    "similarity_encoder": "minilm-en",
    "neighbours": "neighbours-en",
}
SHIPPED = PAPER | {"masked_lm": "minilm-en[words=any]", "fluency_lm": "gpt-en"}
"""By the option that names another. `words=any`: pieces of words count as words, as in TextAttack, which the paper ran.

No hub holds a counter-fitted space by name, so the one that ships serves in both cases.
"""


class Models:
    """The models that these recipes and constraints need, each made when it is first asked for.

    Where the user names none it is the paper's, or the one that ships where there is no network.
    """

    def __init__(
        self, chosen: AttackOptions, recipes: Sequence[Spec], constraints: Sequence[Constraint], strict: bool
    ) -> None:
        self.strict = strict
        needs = {need for spec in recipes for need in recipe(spec, Tools({}, lambda sentence: ())).needs}
        limits = {constraint.name for constraint in constraints}
        needed = {
            "masked_lm": "masked" in needs,
            "fluency_lm": "perplexity" in limits,
            "similarity_encoder": "similarity" in limits,
            "neighbours": "neighbours" in needs,
        }
        given: dict[str, str | None] = {which: getattr(chosen, which) for which in needed}
        usual = SHIPPED if chosen.offline or offline() else PAPER
        self.options = {which: given[which] or usual[which] for which, wanted in needed.items() if wanted}
        """The models by the options that name them."""
        self.unused = [name for which, name in given.items() if name and which not in self.options]
        """Models that were named and that no recipe and no constraint asks."""

    @property
    def of_english(self) -> list[str]:
        """Those among the models that stand in where none is named: they know English alone."""
        return sorted({*PAPER.values(), *SHIPPED.values()} & {*self.options.values()})

    @cached_property
    def masked(self) -> MaskedLM | None:
        """Fills the gaps of mask-then-infill moves."""
        return models.masked(self.options["masked_lm"]) if "masked_lm" in self.options else None

    @cached_property
    def fluency(self) -> CausalLM | None:
        """Tells how surprising a text is."""
        return models.causal(self.options["fluency_lm"]) if "fluency_lm" in self.options else None

    @cached_property
    def similarity(self) -> Encoder | None:
        """Gives sentences a vector."""
        return models.encoder(self.options["similarity_encoder"]) if "similarity_encoder" in self.options else None

    @cached_property
    def neighbours(self) -> Mapping[str, Sequence[str]]:
        """The word space."""
        return neighbours(self.options["neighbours"]) if "neighbours" in self.options else {}

    @property
    def signatures(self) -> dict[str, str]:
        """What each model is, for run.json and for refusing to go on with another of the same name."""
        made = {"masked": self.masked, "fluency": self.fluency, "similarity": self.similarity}
        found = {f"{which} model": model.signature for which, model in made.items() if model is not None}
        if "neighbours" in self.options:
            found["neighbours"] = neighbours_signature(self.options["neighbours"])
        return found


def pairs_of(data: Dataset) -> list[str | None]:
    """The language pairs of the data, None among them where a segment has none."""
    return data.segments["language_pair"].unique().sort().to_list()


def taggers(models: Models, goal: Goal, data: Dataset) -> dict[str, str]:
    """What tells parts of speech, where moves that merge words depend on them."""
    if "masked_lm" not in models.options:
        return {}
    return {"parts of speech": ", ".join(dict.fromkeys(linguistics(lang).name for lang in _languages(goal, data)))}


def language_notes(models: Models, goal: Goal, data: Dataset) -> Iterator[str]:
    """What stop words, words and models are worth for texts in these languages."""
    languages = _languages(goal, data)
    if None in languages:
        use = setting("language_pair", metavar="PAIR")
        yield f"No language pair given: texts are taken to be English. Use {use} for another language."
    if without := [language for language in languages if word_lists(language) is None]:
        yield f"No stop words of {', '.join(map(str, without))} are known, so none are spared."
    texts = data.segments["source" if goal.on_system else "translation"].drop_nulls()
    if 2 * sum(map(is_unspaced, texts)) > len(texts):
        yield "Most texts have no spaces between words: all between two punctuation marks counts as one word."
    others = [language for language in languages if language is not None and language.code != "en"]
    if others and models.of_english:
        named, verb = " and ".join(models.of_english), "is" if len(models.of_english) == 1 else "are"
        where = ", ".join(others)
        yield f"{named} {verb} of English, and texts in {where} are attacked: name models of their language."


def _languages(goal: Goal, data: Dataset) -> list[Language | None]:
    """The languages of the attacked texts, each once."""
    return list(dict.fromkeys(sides(pair)[0 if goal.on_system else 1] for pair in pairs_of(data)))


WORDS = 1 << 16
"""Words of which is remembered whether they are stop words: every candidate is asked about its own."""


def stop_words(lang: Language | None) -> Callable[[str], bool]:
    """Whether a word is a closed-class word of the language, in any letter case; a language without lists has none."""
    lists = word_lists(lang)
    return (lambda word: False) if lists is None else lru_cache(WORDS)(lists.is_function_word)


def tags(lang: Language | None) -> Tags:
    """Parts of speech as the language's tagger, or its word lists, tell them; it is loaded by the first question."""

    def of(sentence: Sentence) -> Sequence[str]:
        found = [(span.start, span.end, tag) for span, tag in linguistics(lang).tags(sentence.text)]
        result, start, token = [], 0, 0
        for gap, word in zip(sentence.gaps, sentence.words, strict=False):
            start += len(gap)
            while token < len(found) and found[token][1] <= start:
                token += 1
            result.append(found[token][2] if token < len(found) and found[token][0] <= start else "X")
            start += len(word)
        return result

    return of
