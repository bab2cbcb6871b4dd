"""Attacks put together from moves, search and constraints: the four of Huang & Baldwin 2023 (Appendix B), and five
that raise scores.

The paper ran TextAttack's implementations with its own changes. Where its text, TextAttack's code and the original
authors disagree, the defaults here are what was run, and the other readings are options; every recipe says which.
Common to all: no word is changed twice, stop words are left alone, and the goal brings its constraints (a rise in
perplexity below 10, or the victim's own similarity). TextAttack applies the rule about stop words to moves that put
something in a word's place, not to deletions, insertions and merges (`stop_words=swaps`); the paper says simply that
stop words are not changed (`all`). What counts as a stop word are the closed-class words of the text's language.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from babelquake.attacks.attack import Attack, StopWords, Trial
from babelquake.attacks.constraints import Constraint, Levenshtein
from babelquake.attacks.moves import (
    LETTERS,
    DeleteLetter,
    DeleteWord,
    InsertLetter,
    MaskInsert,
    MaskMerge,
    MaskReplace,
    Move,
    SubstituteLetter,
    SwapLetters,
    SwapNeighbour,
    Tags,
    TakeReferenceWord,
)
from babelquake.attacks.requests import PIECES, Asking
from babelquake.attacks.search import Rank, beam, climb, genetic, greedy_by_importance, least_important_first, once
from babelquake.errors import UserError
from babelquake.spec import Range, Spec, bind, make, named, parameters, parse

Count = Annotated[int, Range(1, 10_000)]
Probability = Annotated[float, Range(0, 1)]


@dataclass(frozen=True)
class Tools:
    """What recipes draw from, in the attacked text's language."""

    neighbours: Mapping[str, Sequence[str]]
    tags: Tags
    seed: int = 0
    strict: bool = False
    """Whether the goal calls for the larger search."""


@dataclass(frozen=True)
class Recipe:
    """A complete attack but for victim and goal."""

    spec: Spec
    moves: tuple[Move, ...]
    search: Callable[[Attack], Asking[Trial]]
    constraints: tuple[Constraint, ...] = ()
    stop_words: StopWords = "swaps"
    needs: frozenset[str] = frozenset()
    """`masked`, `neighbours`: what it draws its words from."""
    universal: "Universal | None" = None
    """The text for all sentences that is searched first; None for a separate search for every sentence."""

    @property
    def name(self) -> str:
        """The name with options, as tables show it."""
        return str(self.spec)


@dataclass(frozen=True)
class Universal:
    """How one text for all sentences is searched."""

    at_start: bool
    words: int
    pool: int
    sentences: int


def clare(
    tools: Tools,
    *,
    candidates: Annotated[int, Range(1, PIECES)] = 50,
    replace_floor: Probability = 5e-4,
    insert_floor: Probability = 0.0,
    merge_floor: Probability = 5e-3,
    width: Count | None = None,
    iterations: Count | None = None,
    strict: bool | None = None,
    merge: Literal["anywhere", "open"] = "anywhere",
    context: Literal["clipped", "whole"] = "clipped",
    distinct: bool = False,
    stop_words: StopWords = "swaps",
) -> dict[str, Any]:
    """Mask-then-infill: replace, insert, merge (Li 2021), by beam search.

    Paper: beam of 2 and 10 iterations, 5 and 15 for self-inconsistency; no sentence-similarity constraint. TextAttack:
    greedy, similarity ≥ 0.7 (add `similarity` as a constraint, `width=1`); 50 candidates per mask, floors 5e-4, 0 and
    5e-3, pairs merged by part of speech wherever they stand (`merge=open` keeps to unchanged words). As in TextAttack,
    which the paper ran, marks before the first word and behind the last are hidden from the model for insertions and
    merges, which then reach neither end of the sentence (`context=whole` shows it everything), and pieces of words
    count among the 50 as if they were words (a masked model with `words=whole` offers whole words alone). Li 2021: one
    action per position, floors and similarity as in TextAttack. The authors' published code leaves the larger search
    out for BERTScore: `strict=false` with the goal `inconsistent` is that reading. `distinct` keeps a text once in the
    beam, which may hold it twice in the authors' code.
    """
    larger = tools.strict if strict is None else strict
    return {
        "moves": (
            MaskReplace(candidates, replace_floor),
            MaskInsert(candidates, insert_floor, context == "clipped"),
            MaskMerge(tools.tags, candidates, merge_floor, merge == "anywhere", context == "clipped"),
        ),
        "search": partial(
            beam,
            width=width or (5 if larger else 2),
            iterations=iterations or (15 if larger else 10),
            distinct=distinct,
        ),
        "stop_words": stop_words,
        "needs": frozenset({"masked"}),
    }


def faster_genetic(
    tools: Tools,
    *,
    neighbours: Count = 8,
    population: Count | None = None,
    iterations: Count | None = None,
    check_crossover: bool | None = None,
    strict: bool | None = None,
    selection: Literal["textattack", "alzantot"] = "textattack",
    stop_words: StopWords = "swaps",
) -> dict[str, Any]:
    """Word substitution in a counter-fitted space by a genetic algorithm (Alzantot 2018, Jia 2019).

    Paper: 8 neighbours, population 30, 15 iterations; 60 and 40 with a check after crossover for self-inconsistency;
    the goal's constraint in place of the language model's, and the authors' code drops TextAttack's limits on the share
    of words (0.2) and on embedding distance (0.5). TextAttack: 60 and 40, no check after crossover, and parents drawn
    with the sign of the score turned round (`selection`; Alzantot 2018 draws the better ones more often). The published
    code leaves the larger search out for BERTScore (`strict=false`).
    """
    larger = tools.strict if strict is None else strict
    return {
        "moves": (SwapNeighbour(tools.neighbours, neighbours),),
        "search": partial(
            genetic,
            seed=tools.seed,
            population=population or (60 if larger else 30),
            iterations=iterations or (40 if larger else 15),
            check_crossover=larger if check_crossover is None else check_crossover,
            selection=selection,
        ),
        "stop_words": stop_words,
        "needs": frozenset({"neighbours"}),
    }


def input_reduction(
    tools: Tools,
    *,
    order: Literal["largest", "least"] = "largest",
    positions: Literal["stale", "tracked"] = "stale",
    lookahead: Count = 8,
    stop_words: StopWords = "swaps",
) -> dict[str, Any]:
    """Word deletion (Feng 2018).

    Paper and Feng 2018: remove the *least* important word, again and again (`order=least`). TextAttack's greedy search,
    which the paper ran, ranks words once by deletion and removes those with the *largest* effect first
    (`order=largest`); after a deletion it goes on counting places as in the original sentence, and so removes
    neighbours of the words it ranked (`positions=stale`; `tracked` does what was meant). Its rule about stop words does
    not reach deletions (`stop_words=all` makes it do so, as the paper says).
    """
    least = order == "least"
    return {
        "moves": (DeleteWord(),),
        "search": least_important_first
        if least
        else partial(greedy_by_importance, rank="delete", positions=positions, lookahead=lookahead),
        "stop_words": stop_words,
    }


def deepwordbug(
    tools: Tools,
    *,
    distance: Count = 30,
    every: bool = False,
    letters: str = LETTERS,
    shortest: Annotated[int, Range(2, 100)] = 2,
    digits: bool = True,
    rank: Rank = "unknown",
    lookahead: Count = 8,
    stop_words: StopWords = "swaps",
) -> dict[str, Any]:
    """Character swap, substitution, deletion and insertion (Gao 2018), words in order of importance.

    Paper and TextAttack: one random change of each kind per word, the best is kept if it helps; Levenshtein distance at
    most 30; importance by writing `[UNK]` in the word's place. Gao 2018 adds up what a word does to the score of the
    words before it and of those after it (`rank=combined`). `every` tries every spot of a word instead of a random one;
    `lookahead` asks about several words at once; `letters` are those inserted and substituted (ASCII letters in
    TextAttack). A wrong digit, or a wrong letter of a short word, is an error of meaning rather than a typo: words
    with a digit are left alone with `digits=false`, words of fewer than `shortest` characters always.
    """
    if not letters:
        raise UserError("deepwordbug[letters=…]: name at least one letter to insert and substitute.")
    kinds = (SwapLetters, SubstituteLetter, DeleteLetter, InsertLetter)
    return {
        "moves": tuple(kind(tools.seed, every, letters, shortest, digits) for kind in kinds),
        "search": partial(greedy_by_importance, rank=rank, lookahead=lookahead),
        "constraints": (Levenshtein(distance),),
        "stop_words": stop_words,
    }


def greedy_inflate(
    tools: Tools,
    *,
    candidates: Annotated[int, Range(1, PIECES)] = 10,
    iterations: Count = 10,
    stop_words: StopWords = "none",
) -> dict[str, Any]:
    """Insert or replace the word that raises the score most, again and again: for the goal inflate.

    Words are those that a masked model offers for a gap, so that texts stay readable.
    """
    return {
        "moves": (MaskReplace(candidates), MaskInsert(candidates)),
        "search": partial(climb, iterations=iterations),
        "stop_words": stop_words,
        "needs": frozenset({"masked"}),
    }


def delete_disliked(tools: Tools, *, iterations: Count = 10, stop_words: StopWords = "none") -> dict[str, Any]:
    """Delete the word whose loss raises the score most, again and again: what the metric dislikes, for inflate."""
    return {
        "moves": (DeleteWord(),),
        "search": partial(climb, iterations=iterations),
        "stop_words": stop_words,
    }


def reference_words(tools: Tools, *, iterations: Count = 10, stop_words: StopWords = "none") -> dict[str, Any]:
    """Put words of the reference anywhere into the translation, without its meaning: for the goal inflate."""
    return {
        "moves": (TakeReferenceWord(),),
        "search": partial(climb, iterations=iterations),
        "stop_words": stop_words,
    }


def _universal(at_start: bool, words: int, pool: int, sentences: int) -> dict[str, Any]:
    return {"moves": (), "search": once, "universal": Universal(at_start, words, pool, sentences)}


def universal_suffix(tools: Tools, *, words: Count = 3, pool: Count = 60, sentences: Count = 24) -> dict[str, Any]:
    """One text behind every translation: searched on one half of the sentences, measured on the other (Wallace 2019).

    `words` are added greedily from a `pool` of common words of the data and a few phrases, tried on `sentences`.
    """
    return _universal(False, words, pool, sentences)


def universal_prefix(tools: Tools, *, words: Count = 3, pool: Count = 60, sentences: Count = 24) -> dict[str, Any]:
    """One text before every translation: as `universal-suffix`."""
    return _universal(True, words, pool, sentences)


RECIPES: dict[str, Callable[..., dict[str, Any]]] = {
    "clare": clare,
    "faster-genetic": faster_genetic,
    "input-reduction": input_reduction,
    "deepwordbug": deepwordbug,
    "greedy-inflate": greedy_inflate,
    "delete-disliked": delete_disliked,
    "reference-words": reference_words,
    "universal-suffix": universal_suffix,
    "universal-prefix": universal_prefix,
}


def recipe_spec(text: str | Spec) -> Spec:
    """A recipe's name with options, checked."""
    spec = text if isinstance(text, Spec) else parse(text)
    bind(spec, parameters(named(spec, RECIPES, "recipe"), frozenset({"tools"})), "recipe")
    return spec


def universal(spec: Spec) -> Universal | None:
    """How a recipe searches one text for all sentences; None for those that search each sentence separately."""
    return recipe(spec, Tools({}, lambda sentence: ())).universal


def recipe(text: str | Spec, tools: Tools) -> Recipe:
    """A recipe by name with options: `clare[width=5]`."""
    spec = recipe_spec(text)
    return Recipe(spec, **make(spec, RECIPES, "recipe", tools))
