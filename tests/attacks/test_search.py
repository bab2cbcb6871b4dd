"""Searches against brute force on a metric whose every word has a known worth."""

from functools import partial
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.attacks.constraints import Levenshtein, PerplexityRise, SelfSimilarity, Similarity
from babelquake.attacks.goal import Collapse, Inflate, Overpenalise
from babelquake.attacks.moves import DeleteWord, InsertLetter, MaskInsert, MaskReplace, SwapNeighbour
from babelquake.attacks.search import Substitutes, beam, genetic, greedy_by_importance, least_important_first
from babelquake.attacks.victim import SystemVictim
from babelquake.scorers.base import Question

TEXT = "the cat sat on a red mat"
UNREACHABLE = Overpenalise(by=100.0)
SENTENCES = st.lists(st.sampled_from(("cat", "sat", "mat", "dog", "red", "the", "of")), min_size=1, max_size=6)


@settings(max_examples=30, deadline=None)
@given(SENTENCES)
def test_a_wide_beam_finds_the_best_of_all_texts_in_reach(toys: Any, chosen: list[str]) -> None:
    text, moves = " ".join(chosen), [SwapNeighbour(toys.NEIGHBOURS), DeleteWord()]
    reach = [toys.texts_reachable(text, moves, edits) for edits in range(3)]
    attack = toys.attack_on(text, moves, UNREACHABLE)
    found = toys.outcome(attack, partial(beam, width=10_000, iterations=2))
    last = reach[2] - reach[0] if len(reach[2]) > len(reach[1]) else reach[1]
    assert found.best.gain <= toys.worth(text) - min(map(toys.worth, reach[2])) + 1e-9
    if reach[2] != reach[1] != reach[0]:
        exact = {sentence for sentence in last if sentence not in reach[1]}
        assert found.best.gain == pytest.approx(toys.worth(text) - min(map(toys.worth, exact)))


def test_a_beam_stops_at_the_first_round_that_meets_the_goal(toys: Any) -> None:
    found = toys.outcome(toys.attack_on(TEXT, [DeleteWord()], Overpenalise(by=4.0)), partial(beam, width=1))
    assert found.best.sentence.text == "the on a red mat" and found.best.met
    assert [edit.old for edit in found.best.sentence.edits] == ["cat", "sat"]
    none = toys.outcome(toys.attack_on(TEXT, [DeleteWord()], UNREACHABLE), partial(beam, width=1, iterations=3))
    assert not none.best.met and len(none.best.sentence.edits) == 3


def test_a_beam_may_hold_a_text_twice_unless_told_not_to(toys: Any) -> None:
    attack = toys.attack_on(TEXT, [DeleteWord()], UNREACHABLE)
    log: list[Any] = []
    toys.driven(attack.running(partial(beam, width=2, iterations=3)), None, log)
    twice = sum(map(len, log))
    attack = toys.attack_on(TEXT, [DeleteWord()], UNREACHABLE)
    log.clear()
    toys.driven(attack.running(partial(beam, width=2, iterations=3, distinct=True)), None, log)
    assert sum(map(len, log)) > twice


@settings(max_examples=40, deadline=None)
@given(SENTENCES, st.integers(0, 60))
def test_greedy_deletion_needs_as_few_words_as_brute_force(toys: Any, chosen: list[str], tenths: int) -> None:
    """The toy metric adds up, so deleting the most important words first is best."""
    by = tenths / 10 + 0.033
    attack = toys.attack_on(" ".join(chosen), [DeleteWord()], Overpenalise(by=by))
    found = toys.outcome(attack, partial(greedy_by_importance, rank="delete"))
    sizes = [
        size for size in range(1, len(chosen)) for left in combinations(chosen, size) if sum(map(toys.worth, left)) > by
    ]
    assert found.best.met == bool(sizes)
    if sizes:
        assert len(found.best.sentence.edits) == min(sizes)


def test_stale_positions_delete_the_neighbours_of_what_was_ranked(toys: Any) -> None:
    text = "cat mat sat dog red"
    tracked = toys.attack_on(text, [DeleteWord()], Overpenalise(by=5.4))
    assert (
        toys.outcome(tracked, partial(greedy_by_importance, rank="delete", positions="tracked")).best.sentence.text
        == "mat sat red"
    )
    stale = toys.attack_on(text, [DeleteWord()], Overpenalise(by=5.4))
    found = toys.outcome(stale, partial(greedy_by_importance, rank="delete", positions="stale"))
    assert [edit.old for edit in found.best.sentence.edits] == ["cat", "red", "dog"]


@pytest.mark.parametrize("positions", ["tracked", "stale"])
@pytest.mark.parametrize("limit", [PerplexityRise(-30.0), Similarity(0.7)])
def test_looking_ahead_changes_nothing_but_the_number_of_rounds(toys: Any, positions: Any, limit: Any) -> None:
    def found(lookahead: int) -> tuple[Any, int]:
        log: list[Any] = []
        attack = toys.attack_on("cat mat sat dog red the of on", [DeleteWord()], Overpenalise(by=5.0), [limit])
        search = partial(greedy_by_importance, rank="delete", positions=positions, lookahead=lookahead)
        return toys.driven(attack.running(search), None, log).best, len(log)

    one, several = found(1), found(8)
    assert one[0] == several[0] and several[1] <= one[1]


def test_input_reduction_in_the_papers_words_deletes_the_least_important_first(toys: Any) -> None:
    found = toys.outcome(toys.attack_on(TEXT, [DeleteWord()], Overpenalise(by=1.0)), least_important_first)
    assert [edit.old for edit in found.best.sentence.edits] == ["on", "a", "the", "red", "mat"]
    assert found.best.sentence.text == "cat sat" and found.best.gain == pytest.approx(1.15)


@pytest.mark.parametrize("rank", ["unknown", "delete", "combined"])
def test_importance_ranks_an_additive_metric_by_worth(toys: Any, rank: Any) -> None:
    attack = toys.attack_on("red mat cat sat", [InsertLetter()], Overpenalise(by=2.9))
    found = toys.outcome(attack, partial(greedy_by_importance, rank=rank))
    assert [edit.old for edit in found.best.sentence.edits] == ["cat"]


@settings(max_examples=25, deadline=None)
@given(SENTENCES, st.integers(0, 99), st.sampled_from(["textattack", "alzantot"]), st.booleans())
def test_the_genetic_search_finds_the_best_substitutions(
    toys: Any, chosen: list[str], seed: int, selection: Any, check: bool
) -> None:
    text, moves = " ".join(chosen), [SwapNeighbour(toys.NEIGHBOURS)]
    best = toys.worth(text) - min(map(toys.worth, toys.texts_reachable(text, moves, len(chosen))))
    search = partial(genetic, seed=seed, population=12, iterations=15, selection=selection, check_crossover=check)
    found = toys.outcome(toys.attack_on(text, moves, UNREACHABLE), search)
    assert found.best.gain == pytest.approx(best)
    assert {edit.place for edit in found.best.sentence.edits} == found.best.sentence.touched


def test_substitutes_of_a_word_are_looked_for_once(toys: Any) -> None:
    """The best for "cat" (3.0) is "rug" (0.25); nothing is known for "on", and nothing for "lay" gains."""
    move = SwapNeighbour({"cat": ("dog", "rug"), "lay": ("sat",)})
    substitutes = Substitutes(toys.attack_on("cat lay on", [move], start=toys.worth("cat lay on")))
    start, log = substitutes.attack.untouched, []
    for _ in range(2):
        (best,) = toys.driven(substitutes.best(start, 0), log=log)
        assert best.sentence.text == "rug lay on"
        assert toys.driven(substitutes.best(start, 1), log=log) == []
        assert toys.driven(substitutes.best(start, 2), log=log) is None
    assert [[request.translation for request in requests] for requests in log] == [
        ["dog lay on", "rug lay on"],
        ["cat sat on"],
    ]


def test_no_word_is_changed_twice_and_stop_words_are_spared_as_told(toys: Any) -> None:
    swap, delete, insert = SwapNeighbour({"the": ("this",), "cat": ("dog",)}), DeleteWord(), MaskInsert(1)
    attack = toys.attack_on("the cat", [swap, delete])
    assert attack.open_places(attack.original, swap) == [1]
    assert attack.open_places(attack.original, delete) == [0, 1]
    assert toys.attack_on("the cat", [delete], spared="all").open_places(attack.original, insert) == [1]
    assert toys.attack_on("the cat", [swap], spared="none").open_places(attack.original, swap) == [0, 1]
    assert attack.open_places(attack.original.replaced(1, "dog"), delete) == [0]


SEARCHES = [
    partial(beam, width=2, iterations=3),
    partial(greedy_by_importance, rank="delete"),
    least_important_first,
    partial(genetic, seed=3, population=6, iterations=4, check_crossover=True),
]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("limit", [PerplexityRise(2.0), Similarity(0.5), Levenshtein(4)])
def test_constraints_before_or_after_the_victim_give_the_same_answer(toys: Any, search: Any, limit: Any) -> None:
    def found(check: Any) -> Any:
        moves = (
            [SwapNeighbour(toys.NEIGHBOURS)]
            if search.__class__ is partial and search.func is genetic
            else [
                SwapNeighbour(toys.NEIGHBOURS),
                DeleteWord(),
            ]
        )
        return toys.outcome(toys.attack_on(TEXT, moves, Overpenalise(by=3.0), [limit], check=check), search)

    before, after = found("before"), found("after")
    assert (before.best, before.values) == (after.best, after.values)
    assert after.fits and (not before.best.met or limit.allows(after.values[limit.name]))


def test_looking_at_constraints_afterwards_asks_for_few_perplexities(toys: Any) -> None:
    def asked(check: Any) -> int:
        log: list[Any] = []
        attack = toys.attack_on(TEXT, [MaskReplace(), MaskInsert()], constraints=[PerplexityRise(30.0)], check=check)
        toys.driven(attack.running(partial(beam, width=2)), None, log)
        return sum(hasattr(request, "fluency_of") for requests in log for request in requests)

    assert asked("after") < asked("before") / 3


@pytest.mark.parametrize("most", [1, 2, 9, 10, 30])
def test_a_budget_of_queries_is_kept_and_the_best_so_far_returned(toys: Any, most: int) -> None:
    attack = toys.attack_on(TEXT, [DeleteWord()], UNREACHABLE, max_queries=most)
    found = toys.outcome(attack, partial(beam, width=2, iterations=9))
    assert found.queries <= most and found.spent
    assert found.best.gain <= toys.worth(TEXT) and not found.best.met
    enough = toys.outcome(toys.attack_on(TEXT, [DeleteWord()], max_queries=30), partial(beam, width=1))
    assert enough.best.met and not enough.spent


def judged(attack: Any, search: Any, toys: Any) -> int:
    """Distinct questions to the victim, counted where they are answered."""
    log: list[list[Any]] = []
    found = toys.driven(attack.running(search), None, log)
    count = sum(isinstance(request, Question) for requests in log for request in requests)
    assert count == found.queries
    return count


@pytest.mark.parametrize("limits", [(), (SelfSimilarity(within=9.0),), (SelfSimilarity(within=9.0, symmetric=True),)])
@pytest.mark.parametrize(
    ("moves", "search"),
    [
        ([DeleteWord()], partial(greedy_by_importance, rank="delete", lookahead=8)),
        ([InsertLetter(every=True)], partial(greedy_by_importance, lookahead=8)),
        ([InsertLetter()], partial(greedy_by_importance, rank="combined")),
        ([DeleteWord()], least_important_first),
        ([MaskReplace(), MaskInsert()], beam),
        ([MaskReplace()], partial(genetic, population=12)),
        ([MaskReplace()], partial(genetic, population=12, check_crossover=True)),
    ],
    ids=["reduction", "letters", "combined", "least", "beam", "genetic", "checked"],
)
def test_parts_that_ask_side_by_side_share_one_budget(toys: Any, moves: Any, search: Any, limits: Any) -> None:
    wanted = judged(toys.attack_on(TEXT, moves, UNREACHABLE, limits), search, toys)
    for most in (1, 2, 5, 9, 17, 40):
        attack = toys.attack_on(TEXT, moves, UNREACHABLE, limits, max_queries=most)
        assert judged(attack, search, toys) <= most
        assert attack.budget.refused or wanted <= most


@pytest.mark.parametrize("rank", ["unknown", "delete", "combined"])
def test_a_budget_below_the_ranking_is_used_all_the_same(toys: Any, rank: Any) -> None:
    attack = toys.attack_on("cat sat mat dog cat sat mat dog", [DeleteWord()], UNREACHABLE, max_queries=9)
    found = toys.outcome(attack, partial(greedy_by_importance, rank=rank))
    assert found.spent and found.best.gain > 0 and 1 < found.queries <= 9


def test_a_beam_goes_on_with_half_of_a_small_budget(toys: Any) -> None:
    attack = toys.attack_on(TEXT, [MaskReplace(), MaskInsert()], UNREACHABLE, max_queries=30)
    log: list[list[Any]] = []
    found = toys.driven(attack.running(beam), None, log)
    assert len(found.best.sentence.edits) > 1 and 20 < found.queries <= 30 and found.spent


def test_a_population_uses_a_small_budget(toys: Any) -> None:
    attack = toys.attack_on(TEXT, [SwapNeighbour(toys.NEIGHBOURS)], UNREACHABLE, max_queries=4)
    found = toys.outcome(attack, partial(genetic, population=12))
    assert found.queries > 1 and found.best.gain > 0 and found.spent


def test_words_without_a_score_are_ranked_last(toys: Any) -> None:
    attack = toys.attack_on("mat sat cat", [DeleteWord()], Overpenalise(by=2.5))

    def reply(request: Any) -> Any:
        return float("nan") if request.translation == "mat cat" else toys.reply(request)

    found = toys.driven(attack.running(partial(greedy_by_importance, rank="delete")), reply)
    assert [edit.old for edit in found.best.sentence.edits] == ["cat"]


def test_no_words_are_asked_for_that_the_victim_cannot_be_asked_about(toys: Any) -> None:
    attack = toys.attack_on(TEXT, [MaskReplace()], UNREACHABLE, max_queries=1)
    log: list[list[Any]] = []
    found = toys.driven(attack.running(beam), None, log)
    assert found.spent and [len(requests) for requests in log] == [1]


def test_the_opposite_failure_raises_the_score(toys: Any) -> None:
    found = toys.outcome(toys.attack_on("mat", [MaskReplace()], Inflate(by=1.0)), partial(beam, width=1))
    assert found.best.sentence.text == "dog" and found.best.gain == pytest.approx(1.5)


def test_a_system_collapses_where_its_translation_leaves_the_clean_one(toys: Any) -> None:
    attack = toys.attack_on("red mat", [DeleteWord()], Collapse())
    attack.victim = SystemVictim("red mat")
    found = toys.outcome(attack, partial(greedy_by_importance, rank="delete"))
    assert found.best.met and found.original == 100.0 and found.best.score < 75.0


def test_a_sentence_without_words_is_left_as_it_is(toys: Any) -> None:
    for search in SEARCHES:
        found = toys.outcome(toys.attack_on("…", [SwapNeighbour(toys.NEIGHBOURS)]), search)
        assert found.best.sentence.text == "…" and not found.best.met
