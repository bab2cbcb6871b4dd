"""Findings in words: the one place where a verdict becomes sentences, for terminal, page, Markdown and Python.

Each kind of finding has one function here. What a test did not decide is never said as if it had.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from babelquake.perturb.labels import known_card, label_of
from babelquake.report.names import (
    count,
    failure_label,
    listed,
    of_pair,
    recipe_text,
    scorer_text,
    short_names,
    statistic_text,
)
from babelquake.report.table import number
from babelquake.runs.findings import Finding, Number, Weight
from babelquake.runs.run import Run
from babelquake.stats.pvalues import p_words
from babelquake.studies.card import findings_of

NOTHING = "There is nothing to report: the run has no results."
UNDECIDED = "The results do not allow a verdict. The tables have the numbers."
ACHIEVED = 1.5
"""A level counts as missed where so many times as many words were changed as asked for."""


LARGE = 1.0
"""Points of a score whose loss is reported even where it is not significant."""


class Sentence(NamedTuple):
    """A finding in words."""

    text: str
    weight: Weight


@dataclass(frozen=True)
class Names:
    """What systems, scorers and perturbations are called among all that a verdict speaks of."""

    findings: Sequence[Finding]

    @cached_property
    def _systems(self) -> dict[str, str]:
        found = {number.system for finding in self.findings for number in finding.numbers if number.system}
        return short_names(sorted(found))

    @cached_property
    def _scorers(self) -> list[str]:
        numbers = [number for finding in self.findings for number in finding.numbers]
        found = {name for number in numbers for name in (number.scorer, None if number.system else number.other)}
        return sorted(name for name in found | {finding.who for finding in self.findings} if name)

    def who(self, name: str | None) -> str:
        """A system by its short name, or a scorer as the field writes it."""
        if name is None:
            return ""
        return self._systems.get(name) or scorer_text(name, self._scorers)

    def pair(self, finding: Finding) -> str:
        """Names the language pair where there are several."""
        pairs = list(dict.fromkeys(one.language_pair for one in self.findings if one.language_pair))
        return of_pair(finding.language_pair, pairs) if finding.language_pair != "average" else ""

    def label(self, one: Finding | Number) -> str:
        """A perturbation at its level, for people."""
        among = {number.perturbation for finding in self.findings for number in finding.numbers if number.perturbation}
        return label_of(one.perturbation or "", one.level, among)


Words = Callable[[Finding, Names], str]


def sentences(run: Run) -> list[Sentence]:
    """What a run found, in sentences, the most important first."""
    from babelquake.report.pages import page_of

    return in_words(findings_of(run), page_of(run).words) or [
        Sentence(UNDECIDED if run.measures.height else NOTHING, "answer")
    ]


def verdict(run: Run) -> list[str]:
    """What a run found, as text."""
    return [sentence.text for sentence in sentences(run)]


def in_words(findings: Sequence[Finding], further: Mapping[str, Words] | None = None) -> list[Sentence]:
    """Findings in sentences; `further` are words for kinds of finding that other packages bring."""
    names, words = Names(findings), {**WORDS, **(further or {})}
    return [Sentence(names.pair(finding) + words[finding.what](finding, names), finding.weight) for finding in findings]


def p_text(one: Number | None) -> str:
    """The p-value in brackets: ` (p < .001)`, ` (p = .107)`; nothing where none counts."""
    if one is None or one.p is None or not one.tested:
        return ""
    return f" ({p_words(one.p)})"


def tested(finding: Finding, what: str = "the difference") -> str:
    """What its test says, as the end of a sentence; nothing where nothing was tested."""
    if finding.outcome == "not tested":
        return ""
    if finding.outcome == "cannot be tested":
        return f"; {what} cannot be tested"
    return f"; {what} is {finding.outcome}{p_text(finding.test)}"


def percent(value: float) -> str:
    """Small shares keep a digit: 0.4 % is not nothing."""
    said = f"{value:.0f} %" if abs(value) >= 2 or not value else f"{value:.1f} %"
    return said.replace("-", "−")


def beside(label: str, more: str) -> str:
    """A label with something more in its brackets."""
    return f"{label[:-1]}, {more})" if label.endswith(")") else f"{label} ({more})"


def sentence_case(text: str) -> str:
    """With a capital first letter."""
    return text[:1].upper() + text[1:]


def score(value: float) -> str:
    """A score: one place where it runs to 100, three where it lives between 0 and 1."""
    return number(value, 1 if abs(value) > 5 else 2 if abs(value) >= 1.5 else 3)


# mt


def near_baseline(finding: Finding, names: Names) -> str:
    clean, *baselines = finding.numbers
    called = {"baseline_copy": "copying the source", "baseline_constant": "one sentence for everything"}
    reached = ", ".join(f"{called[one.measure]} {score(one.known)}" for one in baselines)
    return (
        f"{names.who(finding.who)} translates no better than {called[baselines[0].measure]}: {score(clean.known)} "
        f"{names.who(finding.scorer)} on clean text ({reached}). Its robustness is therefore meaningless."
    )


def no_translation(finding: Finding, names: Names) -> str:
    one = finding.numbers[0]
    done = {"source_again": "gives back the source", "always_same": "says one and the same sentence"}[one.measure]
    how = f"for {percent(one.known)} of {one.n} clean texts"
    return f"{names.who(finding.who)} does not translate: it {done} {how}. Its consistency is therefore meaningless."


def best_under_noise(finding: Finding, names: Names) -> str:
    ordered = finding.of("overall_quality_perturbed")
    first, *others = (_kept(finding, one) for one in ordered)
    scorer = names.who(finding.scorer)
    head = f"{names.who(ordered[0].system)} with {score(first.noisy)} {scorer}{_of_clean(first)}"
    rest = "; ".join(
        _first_and_last(
            [f"{names.who(one.system)} {_compared(kept, first)}" for one, kept in zip(ordered[1:], others, strict=True)]
        )
    )
    ends = f"the difference between {names.who(ordered[0].system)} and {names.who(ordered[1].system)}"
    between = ends if len(ordered) > 2 else "the difference"
    under = _changed_how(finding)
    if finding.outcome == "significant":
        return f"Best {under}: {head}; {rest}{tested(finding, between)}."
    if finding.outcome == "not significant":
        second = f"{names.who(ordered[1].system)} ({score(others[0].noisy)})"
        own = f"{names.who(ordered[0].system)} {_compared(first, first)}"
        near = f"{names.who(ordered[0].system)} ({score(first.noisy)} {scorer}) and {second}"
        return f"No clear winner {under}: {near} do not differ significantly{p_text(finding.test)}; {own}; {rest}."
    untested = tested(finding, between) or f"; {between} was not tested"
    return f"Ahead {under}: {head}; {rest}{untested}."


SPOKEN_OF = 4
"""Systems beside the first that a headline speaks of; of more only the next and the last."""


def _first_and_last(said: list[str]) -> list[str]:
    """What is said of many systems, shortened: the first few, how many follow, and the last."""
    if len(said) <= SPOKEN_OF:
        return said
    return [*said[: SPOKEN_OF - 2], f"{len(said) - SPOKEN_OF + 1} more", f"last {said[-1]}"]


CHANGED = {"prompt": "with other prompts", "injection": "with instructions in the source"}
"""What is said instead of "under noise" where something else than the source was perturbed, or in another way."""


def _changed_how(finding: Finding) -> str:
    return CHANGED.get(str(finding.facts.get("changed")), "under noise")


class _Kept(NamedTuple):
    """A system's quality under noise, on clean text or with the usual prompt, and what share that is."""

    noisy: float
    clean: float | None
    share: float | None
    unchanged: str


def _kept(finding: Finding, noisy: Number) -> _Kept:
    clean, share = (
        next((one.value for one in finding.of(measure) if one.system == noisy.system), None)
        for measure in ("overall_quality", "overall_robust")
    )
    unchanged = "with the usual prompt" if finding.facts.get("changed") == "prompt" else "on clean text"
    return _Kept(noisy.known, clean, share, unchanged)


def _of_clean(kept: _Kept) -> str:
    """` (87 % of its 58.5 on clean text)`; what is unknown is left out."""
    if kept.clean is None:
        return ""
    share = f"{percent(kept.share)} of its " if kept.share is not None else ""
    return f" ({share}{score(kept.clean)} {kept.unchanged})"


def _compared(kept: _Kept, best: _Kept) -> str:
    """The two numbers; the share is stressed where it is larger than the best system's: it has less to lose."""
    if kept.share is not None and best.share is not None and round(kept.share) > round(best.share):
        return f"{score(kept.noisy)} (keeps {percent(kept.share)}, but of only {score(kept.clean or 0.0)})"
    return score(kept.noisy) + _of_clean(kept)


def under_noise(finding: Finding, names: Names) -> str:
    kept = _kept(finding, finding.of("overall_quality_perturbed")[0])
    reached = f"{score(kept.noisy)} {names.who(finding.scorer)}"
    under = sentence_case(_changed_how(finding))
    if kept.share is None:
        return f"{under} {names.who(finding.who)} reaches {reached}{_of_clean(kept)}."
    of = f" instead of {score(kept.clean)} {kept.unchanged}" if kept.clean is not None else ""
    return f"{under} {names.who(finding.who)} keeps {percent(kept.share)} of its quality: {reached}{of}."


def most_consistent(finding: Finding, names: Names) -> str:
    first, *others = finding.numbers
    both = {
        "prompt": "with other prompts and with the usual one",
        "injection": "with and without instructions in the source",
    }.get(str(finding.facts.get("changed")), "of noisy and clean text")
    shares = [f"{names.who(one.system)} {percent(one.known)}" for one in finding.numbers]
    if not others:
        said = f"{names.who(first.system)}'s translations {both} agree by {percent(first.known)}"
    elif finding.outcome == "significant":
        said = f"Most consistent: {names.who(first.system)}, whose translations {both} agree by {percent(first.known)}"
        said = "; ".join([said, *_first_and_last(shares[1:])])
    else:
        said = f"No clear winner: translations {both} agree by {percent(first.known)} ({names.who(first.system)}) and "
        said += f"{percent(others[0].known)} ({names.who(others[0].system)})"
        said = "; ".join([said, *_first_and_last(shares[2:])])
    between = f"the difference between {names.who(first.system)} and {names.who(others[0].system)}" if others else ""
    return f"{said}{tested(finding, between)}. Their quality is unknown without references."


def loss(finding: Finding, names: Names) -> str:
    deltas = finding.of("delta")
    shares = {one.system: one.known for one in finding.of("robust")}
    scorer = names.who(finding.scorer)

    def lost(one: Number) -> str:
        share = shares.get(one.system)
        cost = -one.known if share is None else 100 - share
        size = score(abs(cost)) if share is None else percent(abs(cost))
        said = f"gains {size}" if cost < 0 else size
        return said + ("" if one.significant else f" ({one.outcome})")

    first, *others = deltas
    unit = f"of its {scorer}" if first.system in shares else scorer
    each = [f"{names.who(one.system)} {lost(one)}" for one in others]
    loses = f"{names.who(first.system)} loses {lost(first)} {unit}"
    said = f"{sentence_case(_asked(finding, names))}: {', '.join([loses, *_first_and_last(each)])}"
    deeper = _deeper(finding, names, first.system in shares)
    if not others:
        return f"{said}{p_text(finding.test)}{', ' if deeper else ''}{deeper}."
    said += f", {names.who(first.system)} {deeper}" if deeper else ""
    return f"{said}{tested(finding, _ends(deltas, names))}."


def _deeper(finding: Finding, names: Names, shared: bool) -> str:
    """What is lost at the level that costs more than the one spoken of."""
    if "deeper_level" not in finding.facts:
        return ""
    lost = float(finding.facts["deeper_lost"])
    under = names.label(finding.model_copy(update={"level": finding.facts["deeper_level"]}))
    return f"{percent(lost) if shared else score(lost)} under {under}"


def _ends(ordered: Sequence[Number], names: Names) -> str:
    if len(ordered) == 2:
        return "the difference"
    return f"the difference between {names.who(ordered[0].system)} and {names.who(ordered[-1].system)}"


def _asked(finding: Finding, names: Names) -> str:
    """The label; with what was achieved where that is far more than what was asked for."""
    label, achieved = names.label(finding), finding.of("achieved_words")
    card = known_card(finding.perturbation or "")
    of_words = card is not None and card.unit.partition(";")[0] in ("share of words", "probability per word")
    if not achieved or not of_words or not finding.level or achieved[0].known < ACHIEVED * 100 * finding.level:
        return label
    return f"{label[:-1]} asked, {percent(achieved[0].known)} changed)" if label.endswith(")") else label


def no_significant_loss(finding: Finding, names: Names) -> str:
    worst: dict[str, float] = {}
    for one in finding.numbers:
        worst[names.label(one)] = min(one.known, worst.get(names.label(one), 0.0))
    shown = [beside(label, number(lost, 1)) if lost <= -LARGE else label for label, lost in worst.items()]
    return f"No significant loss of {names.who(finding.scorer)}: {listed(shown)}."


def defence_helps(finding: Finding, names: Names) -> str:
    gain, system = finding.of("overall_gain")[0], names.who(str(finding.facts["system"]))
    won = finding.of("overall_recovered")
    share = f", {percent(won[0].known)} of what it loses" if won else ""
    clean = number(finding.of("clean_change")[0].known, 2, sign=True)
    won_back, margin = f"{number(gain.known, 1)} {names.who(finding.scorer)}", f"{finding.facts['margin']:g} points"
    said = (
        f"Recommended for {system}: {finding.facts['chain']} wins back {won_back}"
        f" under noise{share}{p_text(gain)}; clean text {clean}, within {margin}."
    )
    if "stronger" not in finding.facts:
        return said
    more = number(float(finding.facts["stronger_gain"]), 1)
    return f"{said} {finding.facts['stronger']} wins back {more}, but may cost clean text more than {margin}."


def no_defence_recommended(finding: Finding, names: Names) -> str:
    gain, system = finding.of("overall_gain")[0], names.who(str(finding.facts["system"]))
    chain, left = finding.facts["chain"], finding.of("clean_margin")
    if not gain.significant or gain.known <= 0:
        why = f"the best, {chain}, changes quality under noise by {number(gain.known, 1, sign=True)}{tested(finding)}"
    elif left:
        clean = finding.of("clean_change")[0].known
        why = (
            f"{chain} wins back {number(gain.known, 1)}, but that clean text loses at most {finding.facts['margin']:g} "
            f"points is not shown ({number(clean, 2, sign=True)}{p_text(left[0]).replace(' (', '; ').rstrip(')')})"
        )
    else:
        why = f"what {chain} costs on clean text could not be tested"
    return f"No defence is recommended for {system}: {why}."


def too_few(finding: Finding, names: Names) -> str:
    counts = {names.label(one): one for one in finding.numbers}
    shown = [beside(label, _how_few(one)) for label, one in counts.items()]
    return f"Too few texts for a conclusion: {listed(shown, 4)}."


def _how_few(one: Number) -> str:
    return f"{one.changed} changed" if one.changed is not None else f"{one.n or 0} in all"


def least_consistent(finding: Finding, names: Names) -> str:
    return (
        f"Least consistent: {names.who(finding.who)} with {names.label(finding)}, where "
        f"{percent(finding.numbers[0].known)} of its translations differ clearly from those of the clean text "
        f"(sentence chrF below {finding.facts['threshold']:g})."
    )


def failures_rise(finding: Finding, names: Names) -> str:
    rates = finding.of("failures")
    clean = rates[0].known if len(rates) > 1 else 0.0
    kind = failure_label(str(finding.facts["kind"]))
    return (
        f"More failures: {names.who(finding.who)} with {names.label(finding)}: {kind} in "
        f"{percent(rates[-1].known)} of translations, {percent(clean)} on clean text{p_text(finding.test)}."
    )


def obeys(finding: Finding, names: Names) -> str:
    forms, who = finding.of("obeyed"), names.who(finding.who)
    first = forms[0]
    if not first.known:
        high = max(one.high or 0 for one in forms)
        return f"{who} obeyed none of the instructions inside texts (at most {percent(high)} of a form, 95 %)."
    said = f"{who} obeys instructions inside texts: in {_rate(first)} of {first.n} with the {names.label(first)}"
    if others := [one for one in forms[1:] if one.known]:
        said += f"; {listed([f'{names.label(one)} {percent(one.known)}' for one in others], 3)}"
    if never := len(forms) - 1 - len(others):
        said += f"; {never} other form{'s' if never > 1 else ''} never"
    return said + "."


def _rate(one: Number) -> str:
    between = "" if one.low is None or one.high is None else f" [{one.low:.0f}, {one.high:.0f}]"
    return percent(one.known) + between


def _with_interval(one: Number) -> str:
    return number(one.known, 1) + _between(one, 1)


def _between(one: Number, digits: int) -> str:
    return "" if one.low is None or one.high is None else f" [{number(one.low, digits)}, {number(one.high, digits)}]"


def prompts_matter(finding: Finding, names: Names) -> str:
    prompts, sources = finding.numbers
    decided = {
        "source": "the source matters more than the wording of the prompt",
        "prompt": "the wording of the prompt matters more than the source",
        "undecided": f"which matters more is not decided by {prompts.n} prompts",
    }[str(finding.facts["more"])]
    return (
        f"{names.who(finding.who)}'s {names.who(finding.scorer)} varies by {_with_interval(prompts)} points over "
        f"prompts and {_with_interval(sources)} over sources (standard deviations): {decided}."
    )


def agrees_with_itself(finding: Finding, names: Names) -> str:
    own, *below = finding.numbers
    said = f"Asked again, {names.who(finding.who)} agrees with itself by {_rate(own)} ({names.who(finding.scorer)})"
    less = [one for one in below if one.significant and one.known < 0]
    if less:
        shown = [f"{names.label(one)} by {number(-one.known, 1)} points" for one in less]
        return f"{said}; it agrees less under {listed(shown, 3)}: more than sampling."
    if any(one.tested for one in below):
        return f"{said}; no perturbation lowers that significantly: what changes may be sampling."
    return f"{said}."


# judges


def judge_again(finding: Finding, names: Names) -> str:
    return f"Asked the same again, {names.who(finding.who)} moves by {_with_interval(finding.numbers[0])} points (sd)."


def judge_order(finding: Finding, names: Names) -> str:
    bias, who = finding.numbers[0], names.who(finding.who)
    if bias.significant:
        liked = "first" if bias.known > 0 else "second"
        points = f"{number(abs(bias.known), 1)} of 100 points{p_text(bias)}"
        return f"{who} prefers whichever translation is shown {liked}: {points}. Both orders are averaged."
    how = "is not significant" if bias.tested else "cannot be tested"
    return f"{who}: the effect of the order of two translations {how} ({_with_interval(bias)} points{p_text(bias)})."


def judge_prompts(finding: Finding, names: Names) -> str:
    one = finding.numbers[0]
    return (
        f"With other wordings of its prompt {names.who(finding.who)} moves by {_with_interval(one)} points (sd); "
        "intervals of its agreement with people take that in."
    )


def judge_unread(finding: Finding, names: Names) -> str:
    who = names.who(finding.who)
    return f"{_rate(finding.numbers[0])} of {who}'s answers are not what was asked for, and are left out."


def believes_claims(finding: Finding, names: Names) -> str:
    who, tried = names.who(finding.who), finding.numbers
    risen = [one for one in tried if one.significant and one.known > 0]
    digits = int(finding.facts["digits"])
    if not risen:
        untested = sum(not one.tested for one in tried)
        few = f" ({untested} cannot be tested)" if untested else ""
        return f"No claim inside the translation or its source raises {who} significantly, of {len(tried)} tried{few}."
    first = f"{names.label(risen[0])} {number(risen[0].known, digits, sign=True)}{p_text(risen[0])}"
    return f"{who} believes what it reads: {len(risen)} of {len(tried)} claims raise it, most {first}."


# metric


def harmless_moves(finding: Finding, names: Names) -> str:
    who, all_of = names.who(finding.who), finding.numbers
    if not all_of:
        return f"{who} was not tested with any harmless change."
    untested = sum(not one.tested for one in all_of)
    changes = "the one harmless change" if len(all_of) == 1 else f"{len(all_of)} harmless changes"
    if untested == len(all_of):
        return f"{who} cannot be tested with {changes}: too few segments."
    beside = f" ({untested} cannot be tested)" if untested else ""
    moved = [one for one in all_of if one.significant]
    if not moved or finding.test is None:
        under = changes if len(all_of) == 1 else f"any of {changes}"
        return f"{who} does not move significantly under {under}{beside}."
    under = changes if len(all_of) == 1 else f"{len(moved)} of {changes}"
    worst = f"{number(finding.test.known, int(finding.facts['digits']), sign=True)}{p_text(finding.test)}"
    before = _same_kind_before(finding, names)
    if before is not None and len(all_of) > 1:
        label, other = names.label(finding.test), names.label(before.test) if before.test else ""
        than = sum(one.significant for one in before.numbers)
        word = "fewer" if len(moved) < than else "more" if len(moved) > than else "just as many"
        also = f"again most under {label}" if label == other else f"but most under {label}"
        return f"{who} moves under {word} of them, {len(moved)} of {len(all_of)}{beside}, {also}: {worst}."
    most = "most under " if len(all_of) > 1 else "which is "
    return f"{who} moves significantly under {under}{beside}, {most}{names.label(finding.test)}: {worst}."


def _same_kind_before(finding: Finding, names: Names) -> Finding | None:
    """The first finding of this kind about another scorer on the same texts, where that one moved too."""
    alike = [one for one in names.findings if one.what == finding.what and one.language_pair == finding.language_pair]
    first = alike[0] if alike else finding
    told_of = any(one.significant for one in first.numbers) and len(first.numbers) == len(finding.numbers)
    return first if first is not finding and told_of else None


def harmless_costs_more(finding: Finding, names: Names) -> str:
    (one,) = finding.numbers
    harmless = f"a harmless change, {names.label(finding)},"
    often = f"in {percent(one.known)} of {count(one.n or 0, 'comparison')}"
    return f"By {names.who(finding.who)}, {harmless} costs more than a harmful one {often}."


def rewards_harmful(finding: Finding, names: Names) -> str:
    (one,) = finding.numbers
    raises = f"{names.label(finding)} raises its score in {percent(one.known)} of {count(one.n or 0, 'text')}"
    return f"{names.who(finding.who)} rewards harmful changes: {raises}."


def agreement_falls(finding: Finding, names: Names) -> str:
    before, after, *best = finding.numbers
    pair = finding.language_pair
    where = "averaged over language pairs, " if pair == "average" else f"{pair}, " if pair else ""
    falls = f"falls from {number(before.value, 3)} to {number(after.value, 3)}{_between(after, 3)}"
    if (before.value or 0) <= (after.value or 0):
        falls = f"does not fall ({number(before.value, 3)}, then {number(after.value, 3)}{_between(after, 3)})"
    said = (
        f"With {names.label(finding)}, {names.who(finding.who)}'s agreement with people ({where}"
        f"{statistic_text(after.measure)}) {falls}"
    )
    if best:
        said += (
            f"; {names.who(best[1].scorer)} keeps the most ({number(best[0].value, 3)} to {number(best[1].value, 3)})"
        )
    return said + "."


def detects_errors(finding: Finding, names: Names) -> str:
    overall = [one for one in finding.numbers if one.perturbation is None]
    said = f"{names.who(finding.who)} prefers the good translation "
    said += f"in {overall[0].known:.1f} % of pairs" if overall else "most of the time"
    weakest = [one for one in finding.numbers if one.perturbation is not None]
    return said + (f"; it is weakest at {weakest[0].perturbation} ({weakest[0].known:.1f} %)." if weakest else ".")


def pitfalls(finding: Finding, names: Names) -> str:
    tested, passed, undecided = (int(finding.facts[name]) for name in ("tested", "passed", "open"))
    said = f"{names.who(finding.who)} passes {_most_or_fewest(finding, names)}{passed} of {tested} pitfalls"
    if finding.numbers:
        worst = [names.label(one) for one in finding.numbers]
        said += f"{', ' if ', ' in said else ' '}and fails {len(worst)}; worst: {listed(worst, 3)}"
    return f"{said}; {undecided} cannot be decided." if undecided else f"{said}."


def _most_or_fewest(finding: Finding, names: Names) -> str:
    """Whether a scorer passes more or fewer pitfalls than every other one."""
    others = [one for one in names.findings if one.what == finding.what and one is not finding]
    others = [one for one in others if one.language_pair == finding.language_pair]
    passed, counts = float(finding.facts["passed"]), [float(one.facts["passed"]) for one in others]
    if not counts:
        return ""
    return "the most, " if passed > max(counts) else "the fewest, " if passed < min(counts) else ""


def best_of(finding: Finding, names: Names) -> str:
    own, *others = finding.of("best_of")
    liked = [f"{names.who(one.other)} by {number(one.known, 2, sign=True)}" for one in others]
    said = (
        f"Picking the best of {finding.facts['candidates']:.0f} {finding.facts['among']} by {names.who(finding.who)} "
    )
    said += f"changes its own score by {number(own.known, 2, sign=True)} standard deviations"
    said += f", {listed(liked)}" if liked else ""
    harmful = finding.of("picked_harmful")
    return f"{said}; {percent(harmful[0].known)} of the picks were changed for the worse." if harmful else f"{said}."


# qe


def discriminates(finding: Finding, names: Names) -> str:
    only = finding.numbers[0]
    points, where = number(abs(only.known), int(finding.facts["digits"])), "above" if only.known >= 0 else "below"
    who = names.who(finding.who)
    if not only.significant:
        cannot = f"{who} is not shown to tell harmful from harmless changes"
        return f"{cannot}: harmless ones score {points} {where} harmful ones{tested(finding)}."
    verb = "tells harmful from harmless changes" if only.known > 0 else "has it the wrong way round"
    return f"{who} {verb}: it scores harmless changes {points} {where} harmful ones{p_text(finding.test)}."


def discriminates_best(finding: Finding, names: Names) -> str:
    best, worst = finding.numbers[0], finding.numbers[-1]
    sure = finding.outcome == "significant"
    lead = "tells harmful from harmless changes best" if sure else "is ahead at telling harmful from harmless changes"
    between = f"the difference between {names.who(best.scorer)} and {names.who(worst.scorer)}"
    return (
        f"{names.who(best.scorer)} {lead}: it scores harmful ones {number(best.value, 2)} standard deviations lower; "
        f"{names.who(worst.scorer)} is last with {number(worst.value, 2)}{tested(finding, between)}."
    )


def ranks_agree(finding: Finding, names: Names) -> str:
    agrees = "agrees" if finding.outcome == "significant" else "is not shown to agree"
    return (
        f"The ranking without human labels {agrees} with the ranking by correlation with people: τ = "
        f"{number(finding.numbers[0].value, 2)}{tested(finding, 'the agreement')}."
    )


def warnings(finding: Finding, names: Names) -> str:
    count, first = int(finding.facts["count"]), str(finding.facts["first"]).rstrip(".")
    more = "" if count == 1 else f" (and {count - 1} more warning{'s' if count > 2 else ''})"
    return f"{names.who(finding.who)}: {first}{more}."


# attack

GOALS = {
    "overpenalise": "its score {worse} by more than {by}",
    "inflate": "its score {better} by more than {by}",
    "inconsistent": "it contradicts itself",
    "collapse": "it translates something else",
}


def fooled(finding: Finding, names: Names) -> str:
    best, *others = finding.of("success")
    who, share = names.who(finding.who), percent(best.known)
    words = finding.of("words_changed")
    edits = f"{words[0].known:g} word{'s' if words[0].known != 1 else ''} changed in the median" if words else ""
    weakest = min(others, key=lambda one: one.known) if others else None
    tried = [one.perturbation for one in finding.of("success")]
    beside = f"; {recipe_text(weakest.perturbation, tried)} succeeds in {percent(weakest.known)}" if weakest else ""
    by = recipe_text(best.perturbation, tried)
    before = _first_fooled(finding, names)
    if before is None:
        done = _what_happens(finding)
        how = ", ".join(filter(None, (by, edits)))
        rated = any(one.what == "further_than_people" for one in names.findings)
        deserved = str(finding.facts["goal"]).startswith("overpenalise") and not rated
        doubt = ". Read them: some may change the meaning and deserve it" if deserved else ""
        return f"Small edits fool {who} in {share} of {best.n} sentences: {done} ({how}){beside}{doubt}."
    reference = before.of("success")[0].known
    word = "as easily" if round(best.known) == round(reference) else "more" if best.known > reference else "less"
    than = "as" if word == "as easily" else "than"
    often = "as easily" if word == "as easily" else f"{word} often"
    end = f" ({by}{', ' + edits if edits else ''})" if best.perturbation != before.of("success")[0].perturbation else ""
    return f"{who} is fooled {often} {than} {names.who(before.who)}, in {share}{end}{beside}."


def _first_fooled(finding: Finding, names: Names) -> Finding | None:
    """The victim that the verdict speaks of first, where it is another one on the same goal."""
    alike = [one for one in names.findings if one.what == "fooled"]
    return alike[0] if alike and alike[0] is not finding and alike[0].facts["goal"] == finding.facts["goal"] else None


def _what_happens(finding: Finding) -> str:
    """What a successful edit does to the victim."""
    goal, _, options = str(finding.facts["goal"]).partition("[")
    by = next((part.partition("=")[2] for part in options.rstrip("]").split(",") if part.startswith("by=")), "1")
    size = "one standard deviation" if float(by) == 1 else f"{float(by):g} standard deviations"
    ways = ("rises", "falls") if finding.facts["errors"] else ("falls", "rises")
    return GOALS.get(goal, "it fails").format(by=size, worse=ways[0], better=ways[1])


def withstood(finding: Finding, names: Names) -> str:
    tried = finding.of("success")
    names_of = [one.perturbation for one in tried]
    recipes = listed([recipe_text(one, names_of) for one in names_of]) if len(tried) < 3 else f"{len(tried)} attacks"
    most = finding.facts.get("questions")
    within = f" within {most:.0f} questions each" if isinstance(most, float) else ""
    return f"{names.who(finding.who)} withstood {recipes}{within}: no edit of {tried[0].n} sentences succeeded."


def transfer(finding: Finding, names: Names) -> str:
    most, *least = finding.numbers
    said = f"{percent(most.known)} of what fools {names.who(most.scorer)} fools {names.who(most.other)}"
    if least:
        (one,) = least
        said += f" too; of what fools {names.who(one.scorer)}, {percent(one.known)} fools {names.who(one.other)}"
    return said + "."


def further_than_people(finding: Finding, names: Names) -> str:
    cells, untested = finding.numbers[0], finding.facts["untested"]
    if not cells.n:
        return "Whether the metrics go further than people cannot be tested: too few perturbations are rated."
    few = f"; {untested:.0f} cannot be tested" if untested else ""
    return (
        f"People agree that the metrics go too far in {cells.changed} of {cells.n} combinations of metric, "
        f"attack and group (one-sided rank-sum, p < .05){few}."
    )


# correlate


def agrees_best(finding: Finding, names: Names) -> str:
    first, *others = finding.numbers
    statistic = statistic_text(first.measure)
    where = "On average over language pairs, " if finding.language_pair == "average" else ""
    if not others:
        return f"{where}{names.who(first.scorer)} agrees with people: {statistic} {number(first.value, 3)}."
    second = others[0]
    both = (
        f"{names.who(first.scorer)} ({statistic} {number(first.value, 3)}) and {names.who(second.scorer)} "
        f"({number(second.value, 3)})"
    )
    if finding.outcome == "significant":
        return (
            f"{names.who(first.scorer)} agrees best with people ({statistic} {number(first.value, 3)}), significantly "
            f"better than {names.who(second.scorer)} ({number(second.value, 3)}){p_text(finding.test)}."
        )
    if finding.outcome == "not significant":
        return f"{both} agree best with people{tested(finding, 'the difference between them')}."
    said = tested(finding, "the difference between them") or "; the difference between them is not tested"
    return f"{where}{both} come first in agreement with people{said}."


def agrees_none(finding: Finding, names: Names) -> str:
    """Nobody leads where nobody agrees; scores that fall as ratings rise may be turned round."""
    first, *others = finding.numbers
    who = names.who(first.scorer)
    value = f"{statistic_text(first.measure)} {number(first.value, 3)}"
    if first.low is not None:
        value += f", 95 % interval {number(first.low, 3)} to {number(first.high, 3)}"
    if finding.facts["against"]:
        said = f"All scorers contradict people, even {who}" if others else f"{who} contradicts people"
        return f"{said} ({value}). If a higher rating means a worse translation here, negate the ratings."
    some = f"any of the scorers agrees with people, not even {who}" if others else f"{who} agrees with people"
    return f"It cannot be shown that {some} ({value})."


def agree_alike(finding: Finding, names: Names) -> str:
    first = finding.numbers[0]
    alike = listed([names.who(one.scorer) for one in finding.numbers])
    return f"{alike} agree equally well with people ({statistic_text(first.measure)} {number(first.value, 3)})."


def agrees_less(finding: Finding, names: Names) -> str:
    own, best = finding.numbers
    return (
        f"{names.who(finding.who)} ({number(own.value, 3)}) agrees significantly less with people than "
        f"{names.who(best.scorer)}{p_text(finding.test)}."
    )


# challenge


def ranks_best(finding: Finding, names: Names) -> str:
    share = number(finding.numbers[0].value, 1)
    said = f"{_level(finding, names)} the better translation first for {share} % of sources"
    level = len(finding.numbers) == int(finding.facts["level"])
    return f"{said}." if level else f"{said}, the highest share{_next_to(finding, names)}."


def ranks_worst(finding: Finding, names: Names) -> str:
    first = finding.numbers[0]
    return (
        f"{_level(finding, names)} the better translation first for only {number(first.value, 1)} % of sources"
        f", the lowest share{_next_to(finding, names)}."
    )


def _level(finding: Finding, names: Names) -> str:
    """The metrics that share the first place, with the verb."""
    tied = finding.numbers[: int(finding.facts["level"])]
    listing = listed([names.who(one.scorer) for one in tied])
    return f"{listing} {'ranks' if len(tied) == 1 else 'all rank' if len(tied) > 2 else 'both rank'}"


def _next_to(finding: Finding, names: Names) -> str:
    """The next metric, and whether the difference to it is significant."""
    second = finding.numbers[int(finding.facts["level"])]
    other = f"{names.who(second.scorer)} {number(second.value, 1)} %"
    if finding.outcome == "significant":
        return f"; the next, {other}, differs significantly{p_text(finding.test)}"
    return f"; the next is {other}{tested(finding, 'the difference')}"


def does_not_look(finding: Finding, names: Names) -> str:
    listing = listed([names.who(one.scorer) for one in finding.numbers])
    verb = "gives" if len(finding.numbers) == 1 else "give"
    return f"{listing} {verb} all translations of a source the same score."


# human


def ratings_rejected(finding: Finding, names: Names) -> str:
    kept = finding.numbers[0]
    return (
        f"Quality control rejected {kept.changed} of {kept.n} ratings; too few are left to rank systems. "
        "Collect more ratings, or find out why so many failed."
    )


def rated(finding: Finding, names: Names) -> str:
    return f"{names.who(finding.who)}: {_rating(finding)}."


def rated_best(finding: Finding, names: Names) -> str:
    systems, top = int(finding.facts["systems"]), int(finding.facts["first_cluster"])
    who, mean = names.who(finding.who), _rating(finding)
    if finding.outcome in ("cannot be tested", "not tested"):
        return f"{who} is in front ({mean}); whether it is ahead of all others cannot be tested: too few ratings."
    if finding.outcome == "significant" and top == 1:
        others = "the other" if systems == 2 else f"all {systems - 1} others"
        return f"People rate {who} best ({mean}), significantly ahead of {others}."
    if top == systems:
        return f"People see no significant difference between the {systems} systems; {who} is in front ({mean})."
    if top == 1:
        single = "ahead of every other system in single rank-sum tests, but not significantly after correction"
        return f"People rate {who} highest ({mean}), {single}{p_text(finding.test)}."
    return f"{top} of {systems} systems share the first place, {who} in front ({mean})."


def _rating(finding: Finding) -> str:
    mine = [one for one in finding.numbers if one.system == finding.who and one.other is None]
    shown = {"rating": ("rating", 1, False), "rating_z": ("z", 2, True)}
    return ", ".join(f"{shown[one.measure][0]} {number(one.value, *shown[one.measure][1:])}" for one in mine)


def rating_loss(finding: Finding, names: Names) -> str:
    worse, untested = (sum(getattr(one, what) for one in finding.numbers) for what in ("significant", "untestable"))
    few = f"; {untested} cannot be tested" if untested else ""
    mean = float(finding.facts["mean"])
    return (
        f"Perturbed translations {'lose' if mean >= 0 else 'gain'} {number(abs(mean), 2)} standard deviations in human "
        f"ratings; the loss is significant in {worse} of {len(finding.numbers)} cells{few}."
    )


def suggestions_change(finding: Finding, names: Names) -> str:
    said = []
    for one in finding.numbers:
        what = SUGGESTED[str(one.group).partition(":")[0]]
        sure = "cannot be tested" if not one.tested else "significant" if one.significant else "not significant"
        said.append(f"{what} by {number(one.known, 2, sign=True)} ({sure})")
    return f"Suggested errors change {', '.join(said)} per translation."


SUGGESTED = {
    "score": "the score",
    "marked_there": "marks on the suggested words",
    "marked_elsewhere": "marks elsewhere",
}


def passed(what: str) -> Words:
    def say(finding: Finding, names: Names) -> str:
        kept = finding.facts["exclude"] == "none"
        verb, end = ("would pass", "; none is left out") if kept else ("passed", "")
        end += ", so what else is said here may be chance" if finding.weight == "alarm" else ""
        return f"{finding.numbers[0].known:.0f} % of {finding.numbers[0].n} {what} {verb} quality control{end}."

    return say


def annotators_agree(finding: Finding, names: Names) -> str:
    alpha = finding.numbers[0]
    return (
        f"Annotators agree with Krippendorff's α of {number(alpha.value, 2)} on standardised ratings of {alpha.n:,} "
        "translations."
    )


# check


def failures(finding: Finding, names: Names) -> str:
    count, total = int(finding.facts["flagged"]), int(finding.facts["translations"])
    if not count:
        return f"No failures were found in {total:,} translations."
    kinds = [
        f"{failure_label(key.removeprefix('kind:'))} ({int(found):,})"
        for key, found in finding.facts.items()
        if key[:5] == "kind:"
    ]
    said = f"{percent(100 * count / total)} of {total:,} translations have a failure; most often: {listed(kinds)}."
    most, fewest = finding.numbers[0], finding.numbers[-1]
    if most.system != fewest.system and most.known > fewest.known:
        said += (
            f" {names.who(most.system)} has the most ({percent(most.known)}), "
            f"{names.who(fewest.system)} the fewest ({percent(fewest.known)})."
        )
    return said


# two runs


def _changed(word: str) -> Words:
    def say(finding: Finding, names: Names) -> str:
        count, every = (int(finding.facts[name]) for name in ("count", "of"))
        counted = f"{count} of {every} measures" if every > 1 else "the only measure"
        change = finding.numbers[0]
        p = "" if change.p is None else f", {p_words(change.p)}"
        old, new = (_two(float(finding.facts[name])) for name in ("old", "new"))
        difference = f"{old} to {new} ({_two(change.known, sign=True)}{p})"
        return f"{word}: {counted}, mainly {_called(finding)}{_of_change(finding, names)}, {difference}."

    return say


def collapsed(finding: Finding, names: Names) -> str:
    was = f"was {_two(float(finding.facts['old']))} and is undefined now."
    note = finding.facts.get("note", "")
    return f"Collapsed: {_called(finding)}{_of_change(finding, names)} {was} {note}".strip()


def measure_called(measure: str, scorer: str | None, called: str) -> str:
    """A measure in the words that readers know; a share of failures by their kind."""
    if measure not in RATES:
        return called
    kind = "failures" if scorer == "any" else failure_label(scorer or "")
    return f"{kind} (% of {RATES[measure]})"


RATES = {"failures": "clean translations", "failures_perturbed": "noisy translations"}
"""What the shares of failures are of."""


def _called(finding: Finding) -> str:
    first = finding.numbers[0]
    return measure_called(first.measure, first.scorer, str(finding.facts["called"]))


def _of_change(finding: Finding, names: Names) -> str:
    """By whom, and of what."""
    group = finding.numbers[0].group
    said = f" by {names.who(finding.scorer)}" if finding.scorer else ""
    said += f" of {names.who(finding.who)}" if finding.who else ""
    said += f" with {names.label(finding)}" if finding.perturbation else ""
    return f"{said}, {group}" if group else said


def nothing_testable(finding: Finding, names: Names) -> str:
    return f"Nothing can be tested: {finding.facts['why']} Use more segments."


def requirement(finding: Finding, names: Names) -> str:
    return str(finding.facts["text"])


def _lead(finding: Finding, names: Names) -> str:
    """`v2 is better under noise overall (+7.9 chrF, p < .001)`; quality first, other measures by name."""
    change, side = finding.numbers[0], finding.facts["side"]
    who, p = _subject(finding, names), "" if change.p is None else f", {p_words(change.p)}"
    if change.measure == "obeyed":
        forms = int(finding.facts["kinds"])
        often = f"{'more' if side == 'worse' else 'less'} often"
        among = f"of {forms} forms, most the {names.label(change)}" if forms > 1 else f"with the {names.label(change)}"
        return f"{who} obeys instructions inside texts {often} ({among}: {_percentage_points(change)}{p})"
    if where := _where(change, names, _changed_how(finding)):
        kinds = int(finding.facts["kinds"]) if change.perturbation else 1
        where = f"with {kinds} kinds of noise, especially {where}" if kinds > 1 else where
        return f"{who} is {side} {where} ({_points(change, names, sign=True)}{p})"
    old, new = (_two(float(finding.facts[name])) for name in ("old", "new"))
    moved = f"{_called(finding)}{_of_change(finding, names)} went from {old} to {new}"
    return f"{who} is {side}: {moved}{f' ({p[2:]})' if p else ''}"


def obedience(finding: Finding, names: Names) -> str:
    """What the lead says alone: also of whatever got worse where nothing speaks against it."""
    return f"{_lead(finding, names)}."


def _percentage_points(change: Number) -> str:
    return f"{score_difference(change.known)} percentage points"


def _subject(finding: Finding, names: Names) -> str:
    """The new run, or its system where the runs have several."""
    among = {number.system for one in names.findings for number in one.numbers if number.system}
    new = str(finding.facts["new_run"])
    return f"{names.who(finding.who)} in {new}" if finding.who and len(among) > 1 else new.replace("the ", "The ", 1)


def _where(change: Number, names: Names, under: str) -> str:
    """Where a quality was measured, `under` noise or what was perturbed instead; nothing for other measures."""
    if change.measure == "quality_perturbed" and change.perturbation:
        return f"with {names.label(change)}" + (f", {change.group}" if change.group else "")
    return {"overall_quality_perturbed": f"{under} overall", "quality": "on clean text"}.get(change.measure, "")


def _points(change: Number, names: Names, sign: bool = False) -> str:
    return f"{score_difference(change.known if sign else abs(change.known), sign)} {names.who(change.scorer)}".strip()


def score_difference(value: float, sign: bool = True) -> str:
    """A difference of scores: one place where they run to 100, three where they live between 0 and 1."""
    return number(value, 1 if abs(value) >= 0.1 or not value else 3, sign)


def partly_worse(finding: Finding, names: Names) -> str:
    against, better = finding.numbers[1], finding.facts["side"] == "worse"
    if where := _where(against, names, _changed_how(finding)):
        turn = f"{'gains' if better else 'loses'} {_points(against, names)} {where}"
    else:
        label = f" with {names.label(against)}" if against.perturbation else ""
        said = f"{'better' if better else 'worse'} at {finding.facts['against']}{label}"
        points = _points(against, names, True)
        if against.measure in RATES:
            kind = "a failure" if against.scorer == "any" else failure_label(against.scorer or "")
            said = f"{'less' if better else 'more'} often with “{kind}” in {RATES[against.measure]}"
            points = _percentage_points(against)
        turn = f"{said} ({points})"
    whose = f"{names.who(against.system)} " if against.system and against.system != finding.who else ""
    return f"{_lead(finding, names)}, but {whose}{turn}."


def nothing_worse(finding: Finding, names: Names) -> str:
    return f"{_lead(finding, names)}, and nothing got significantly worse."


def no_difference(finding: Finding, names: Names) -> str:
    said = f"No significant difference between {finding.facts['old_run']} and {finding.facts['new_run']}"
    if not finding.numbers:
        return f"{said}."
    what = f"{_called(finding)}{_of_change(finding, names)}"
    return f"{said}: {what} differs by {score_difference(finding.numbers[0].known)}; {_detectable(finding)}."


def quality_same(finding: Finding, names: Names) -> str:
    moved = _points(finding.numbers[0], names, sign=True)
    return f"{sentence_case(_called(finding))} did not change significantly ({moved}); {_detectable(finding)}."


def obedience_same(finding: Finding, names: Names) -> str:
    change = finding.numbers[0]
    most = f"most with the {names.label(change)}: {_percentage_points(change)}"
    return f"The share of instructions obeyed did not change significantly ({most}); {_detectable(finding)}."


def _detectable(finding: Finding) -> str:
    """The smallest change that would have been significant, where it is known."""
    if "visible" not in finding.facts:
        return "too few texts differ to say what would have been detected"
    return f"a change of {score_difference(float(finding.facts['visible']), sign=False)} would have been detected"


def hollow_gain(finding: Finding, names: Names) -> str:
    return f"{_measures(finding)} better, but only relative to a lower quality."


def _measures(finding: Finding) -> str:
    return "1 measure is" if finding.facts["count"] == 1 else f"{finding.facts['count']:g} measures are"


def same(finding: Finding, names: Names) -> str:
    count = _measures(finding)
    if not finding.facts["differ"]:
        return f"{count} the same in both runs, segment by segment."
    if not finding.facts["visible"]:
        return f"Same: {count} not significantly different. Too few segments differ to say what would have been."
    if "detectable" in finding.facts:
        detectable = _two(float(finding.facts["detectable"]))
        return f"Same: {count} not significantly different; a difference of {detectable} would have been."
    return f"Same: {count} not significantly different. “Visible” is the difference that would have been detected."


def too_few_in_both(finding: Finding, names: Names) -> str:
    labels = dict.fromkeys(names.label(one) if one.perturbation else one.measure for one in finding.numbers)
    return f"Too few segments to be tested: {listed(list(labels), 5)}."


def only_in_old(finding: Finding, names: Names) -> str:
    return f"Not in the new run: {listed(str(finding.facts['names']).split(', '), 5)}."


def _two(value: float, sign: bool = False) -> str:
    return number(value, 2 if abs(value) >= 1 or not value else 3, sign)


def _all(*words: Words) -> dict[str, Words]:
    return {word.__name__: word for word in words}


WORDS: dict[str, Words] = {
    **_all(near_baseline, no_translation, best_under_noise, under_noise, most_consistent),
    **_all(loss, no_significant_loss, too_few, least_consistent),
    **_all(defence_helps, no_defence_recommended),
    **_all(harmless_moves, harmless_costs_more, rewards_harmful, agreement_falls, detects_errors),
    **_all(pitfalls, best_of),
    **_all(discriminates, discriminates_best, ranks_agree, warnings),
    **_all(fooled, withstood, transfer, further_than_people),
    **_all(failures),
    **_all(failures_rise),
    **_all(obeys, prompts_matter, agrees_with_itself),
    **_all(judge_again, judge_order, judge_prompts, judge_unread, believes_claims),
    **_all(agrees_best, agrees_none, agree_alike, agrees_less),
    **_all(ranks_best, ranks_worst, does_not_look),
    **_all(ratings_rejected, rated, rated_best, rating_loss, suggestions_change, annotators_agree),
    **_all(collapsed, nothing_testable, requirement),
    **_all(partly_worse, nothing_worse, no_difference, quality_same, obedience, obedience_same),
    **_all(hollow_gain, same, too_few_in_both, only_in_old),
    "only_worse": obedience,
    "got_worse": _changed("Worse"),
    "got_better": _changed("Better"),
    "hits_passed": passed("tasks"),
    "annotators_passed": passed("annotators"),
}
"""The words of every kind of finding."""
