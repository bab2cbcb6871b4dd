"""Suites: named sets of perturbations, as the papers used them. A suite is a YAML file of specs.

```yaml
description: Misspelling and letter case
paper: Niu 2020 §3
perturbations: [misspell, case]
```

The last part of a suite that passes or fails says what an ideal metric does when a text is changed. A changed text is
compared with the text as it is, or with another change of it that `than` names: at that level, or without one at its
own level.

```yaml
expectations:
  below: [empty, source-copy, end-lost than concatenated]
  not below: ["concatenated than concatenated[level=1]"]
  not above: [filler]
  same: [case, whitespace]
```
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from babelquake.errors import UserError, did_you_mean, setting
from babelquake.generators import driven, together
from babelquake.languages import Language
from babelquake.limits import text_of, yaml_of
from babelquake.paths import tables_in, text_of_room
from babelquake.perturb.base import Perturbation
from babelquake.perturb.card import LIVE, PERTURBATIONS, Perturbs, card_of
from babelquake.perturb.context import ALONE, BESIDE, Asking, Beside, Fillers, Rewritten, beside_each
from babelquake.perturb.vocabulary import FROM_DATA, Vocabulary
from babelquake.spec import Spec, expand, parse, split_list
from babelquake.user_code import PLACE

Rule = Literal["below", "not below", "not above", "same"]
RULES: tuple[Rule, ...] = get_args(Rule)
Cell = tuple[str | None, float | None]
"""A perturbation's label and level; of the text as it is None twice."""


@dataclass(frozen=True)
class Expectation:
    """How the score of a changed text must stand to that of another one."""

    rule: Rule
    than: str | None = None
    """The label of the change it is compared with; None for the text as it is."""
    level: float | None = None
    """The level of that change; None for the same level."""

    def baseline(self, level: float | None) -> Cell:
        """What a change at this level is compared with."""
        if self.than is None:
            return None, None
        return self.than, level if self.level is None else self.level


def expectations_of(content: Any, perturbations: Sequence[Perturbation], where: str) -> dict[str, Expectation]:
    """What a suite's file expects, by the label of each change; `where` names the file in errors."""
    if content is None:
        return {}
    if not isinstance(content, Mapping) or not all(isinstance(items, list) for items in content.values()):
        raise UserError(f"{where}: expectations needs lists of names under {', '.join(RULES)}.")
    names = {perturbation.name for perturbation in perturbations}
    found: dict[str, Expectation] = {}
    for rule, items in content.items():
        if rule not in RULES:
            raise UserError(f"{where} expects '{rule}'. {did_you_mean(str(rule), RULES)}")
        for item in items:
            name, _, than = (part.strip() for part in str(item).partition(" than "))
            for one in (name, parse(than).name) if than else (name,):
                if one not in names:
                    hint = did_you_mean(one, names)
                    raise UserError(f"{where} expects something of '{one}', which it does not have. {hint}")
            expected = _compared(rule, than)
            found |= {one.label: expected for one in perturbations if one.name == name}
    return found


def _compared(rule: Rule, than: str) -> Expectation:
    if not than:
        return Expectation(rule)
    other = Perturbation(than)
    return Expectation(rule, other.label, other.level if "level" in dict(parse(than).options) else None)


VARIANTS = {
    "row": pl.UInt32,
    "id": pl.String,
    "perturbation": pl.String,
    "level": pl.Float64,
    "replicate": pl.UInt32,
    "text": pl.String,
}
"""The columns of a table of variants: `row` counts the rows of the segments; `text` is null where not applicable."""


@dataclass(frozen=True)
class Suite:
    """Perturbations to apply together."""

    name: str
    perturbations: tuple[Perturbation, ...]
    description: str = ""
    paper: str = ""
    replicates: int | None = None
    """How often stochastic perturbations are repeated; None leaves it to each one's card."""
    expectations: Mapping[str, Expectation] = field(default_factory=dict)
    """What an ideal metric does of each change, by label; empty where the suite says nothing of it."""

    def repeats(self, perturbation: Perturbation) -> int:
        """How many replicates of a perturbation this suite asks for."""
        if "rng" not in perturbation.card.wants:
            return 1
        return self.replicates if self.replicates is not None else perturbation.card.replicates

    @property
    def asks(self) -> bool:
        """Whether any of them asks a masked language model."""
        return any(perturbation.card.asks for perturbation in self.perturbations)

    @property
    def draws_from_data(self) -> bool:
        """Whether any of them draws words from the data's own texts."""
        return any(perturbation.vocabulary in FROM_DATA for perturbation in self.perturbations)

    @property
    def looks_beside(self) -> bool:
        """Whether any of them asks for references, foreign translations or other segments."""
        return any(perturbation.card.wants & BESIDE for perturbation in self.perturbations)

    @property
    def rewrites(self) -> bool:
        """Whether any of them changes source and reference with the text."""
        return any(perturbation.card.rewrites for perturbation in self.perturbations)

    def signature(self, lang: str | None = None, words: Vocabulary | None = None) -> str:
        """Every perturbation's signature, with its number of replicates."""
        parts = [
            f"{perturbation.signature(lang, words)}×{self.repeats(perturbation)}" for perturbation in self.perturbations
        ]
        return f"{self.name}({'+'.join(parts)})" if self.name else "+".join(parts)

    def variants(
        self,
        ids: Sequence[str],
        texts: Sequence[str],
        *,
        lang: str | None,
        seed: int,
        sources: Sequence[str | None] | None = None,
        vocabulary: Sequence[str] | None = None,
        fillers: Fillers | None = None,
        beside: Sequence[Beside] | None = None,
        target: str | None = None,
    ) -> pl.DataFrame:
        """One row per text × perturbation × replicate.

        A text's changes are made one after the other, so that its analysis into words is available to all of them; what
        they ask a masked language model is asked for all texts together. `vocabulary` is for `vocabulary=data` and
        `data-all`. `beside` is what each text may be handed; where nothing is given, the texts are each other's others.
        `target` is the language that the texts are to be translated into.
        The columns `own_source` and `own_reference` are there where a change may bring these.
        """
        known, aim = (Language(one) if one else None for one in (lang, target))
        sources = sources if sources is not None else [None] * len(texts)
        cells = [
            (perturbation, replicate)
            for perturbation in self.perturbations
            for replicate in range(self.repeats(perturbation))
        ]
        if not cells:
            return pl.DataFrame(schema=VARIANTS)
        if beside is None:
            beside = beside_each(texts, sources) if self.looks_beside else [ALONE] * len(texts)
        words = {
            perturbation: vocabulary if perturbation.vocabulary in FROM_DATA else None
            for perturbation in self.perturbations
        }
        by_text = [
            [
                perturbation.begin(text, known, seed, replicate, source, words[perturbation], near, aim)
                for perturbation, replicate in cells
            ]
            for text, source, near in zip(texts, sources, beside, strict=True)
        ]
        by_cell = [
            _finished(perturbation, [changed[place] for changed in by_text], fillers)
            for place, (perturbation, _) in enumerate(cells)
        ]
        segments = pl.DataFrame({"row": range(len(texts)), "id": list(ids)}, schema_overrides=VARIANTS)
        return pl.concat(
            segments.with_columns(
                perturbation=pl.lit(perturbation.label, pl.String),
                level=pl.lit(perturbation.level, pl.Float64),
                replicate=pl.lit(replicate, pl.UInt32),
                text=pl.Series(changed, dtype=pl.String),
                **(_rewritten(changed) if self.rewrites else {}),
            )
            for (perturbation, replicate), changed in zip(cells, by_cell, strict=True)
        )

    def variants_by_line(
        self,
        ids: Sequence[str],
        texts: Sequence[str],
        *,
        sources: Sequence[str | None] | None = None,
        beside: Sequence[Beside] | None = None,
        **more: Any,
    ) -> pl.DataFrame:
        """The same for documents, one sentence a line: each sentence is perturbed, so that levels mean the same.

        A document is not applicable where none of its sentences is. Perturbations of documents get them whole, and so
        do those that ask for a word to be printed: one instruction in a document is enough.
        """
        whole = tuple(
            one for one in self.perturbations if one.card.family == "document" or one.card.injects == "canary"
        )
        single = tuple(one for one in self.perturbations if one not in whole)
        lines = [(place, line) for place, text in enumerate(texts) for line in text.split("\n")]
        sentences = [line for _, line in lines]
        table = replace(self, perturbations=single).variants(
            [ids[place] for place, _ in lines], sentences, sources=sentences, **more
        )
        owners = pl.Series([place for place, _ in lines], dtype=pl.UInt32).gather(table["row"])
        unchanged = pl.Series(sentences, dtype=pl.String).gather(table["row"])
        joined = (
            table.with_columns(row=owners, kept=pl.coalesce(table["text"], unchanged))
            .group_by("row", "id", "perturbation", "level", "replicate", maintain_order=True)
            .agg(text=pl.when(pl.col("text").is_not_null().any()).then(pl.col("kept").str.join("\n")))
        )
        documents = replace(self, perturbations=whole).variants(ids, texts, sources=sources, beside=beside, **more)
        return pl.concat([documents, joined], how="diagonal_relaxed")

    def require_language(self, lang: str | None) -> None:
        """Refuse to do nothing in silence: all that was named needs the language of the texts."""
        if all(perturbation.lacks_language(lang) for perturbation in self.perturbations):
            self.perturbations[0].require_language(lang)

    def drawing_from(self, vocabulary: str | None) -> "Suite":
        """The suite with another vocabulary for those that draw words; None: as it is."""
        if vocabulary is None:
            return self
        if all(perturbation.vocabulary is None for perturbation in self.perturbations):
            said = setting("vocabulary", vocabulary)
            raise UserError(f"{said}: none of these perturbations draws words from a vocabulary.")
        changes = (
            Perturbation(perturbation.spec, vocabulary=vocabulary)
            if perturbation.vocabulary is not None
            else perturbation
            for perturbation in self.perturbations
        )
        return replace(self, perturbations=tuple(changes))

    def with_model(self, model: str | None, only: str | None = None) -> "Suite":
        """The suite with a masked language model for those that ask one and name none; None leaves these out.

        `only` is the language that the model knows.
        """
        options = {"model": model} | ({"only": only} if only else {})
        changes = (
            Perturbation(perturbation.spec, **options) if perturbation.lacks_model else perturbation
            for perturbation in self.perturbations
            if model or not perturbation.lacks_model
        )
        return replace(self, perturbations=tuple(changes))

    @property
    def lacking(self) -> str:
        """One sentence where `with_model(None)` leaves a probe out: how many remain of how many; else nothing."""
        lacking = [perturbation.name for perturbation in self.perturbations if perturbation.lacks_model]
        if not lacking:
            return ""
        altering = [perturbation for perturbation in self.perturbations if perturbation.card.meaning == "altering"]
        return (
            f"{len(altering) - len(lacking)} of {len(altering)} meaning-altering probes: {', '.join(lacking)} was left "
            "out because it needs a masked language model."
        )


REWRITTEN = {"own_source": pl.String, "own_reference": pl.String}
"""The columns of variants that bring their source or reference; null where these are the segment's."""


def _rewritten(changed: Sequence[str | None]) -> dict[str, pl.Series]:
    sides = [(one.source, one.reference) if isinstance(one, Rewritten) else (None, None) for one in changed]
    return {
        name: pl.Series([side[place] for side in sides], dtype=kind)
        for place, (name, kind) in enumerate(REWRITTEN.items())
    }


def _finished(
    perturbation: Perturbation, begun: Sequence[str | Asking | None], fillers: Fillers | None
) -> list[str | None]:
    """The texts of one perturbation; those that ask for words receive them, all together."""
    done = [text if isinstance(text, str) else None for text in begun]
    open_ = {place: text for place, text in enumerate(begun) if text is not None and not isinstance(text, str)}
    told = driven(together(list(open_.values())), partial(perturbation.fill, fillers))
    for place, text in zip(open_, told, strict=True):
        done[place] = text
    return done


MOST_REPLICATES = 10_000
"""More than anybody needs, fewer than fill a disk."""


AnyPerturbation = str | Perturbation | Callable[..., Any] | Perturbs
"""A perturbation by name, a perturbation, a function of a text, or an object with a method `perturb`."""
Perturbations = Suite | AnyPerturbation | Sequence[AnyPerturbation]
"""A suite by name, a suite, or perturbations."""


def suite(
    what: Perturbations,
    replicates: int | None = None,
    vocabulary: str | None = None,
) -> Suite:
    """A suite by name, from a YAML file, or made of specs: `niu2020`, `mine.yaml`, `misspell[level=0.1|0.2],case`.

    Functions of a text, objects with a method `perturb`, and perturbations may stand among the names.
    `replicates` repeats stochastic perturbations, `vocabulary` says where those that draw words take them from.
    """
    return _named(what, replicates).drawing_from(vocabulary)


def _named(what: Perturbations, replicates: int | None) -> Suite:
    if replicates is not None and not 1 <= replicates <= MOST_REPLICATES:
        raise UserError(f"{replicates} replicates: expected a whole number from 1 to {MOST_REPLICATES:,}.")
    if isinstance(what, Suite):
        return what if replicates is None else replace(what, replicates=replicates)
    given = list(what) if isinstance(what, Sequence) and not isinstance(what, str) else [what]
    items = [part for item in given for part in (split_list(item) if isinstance(item, str) else [item])]
    if not items:
        raise UserError("no perturbation given. Use a suite such as everyday, or names such as misspell,case.")
    if len(items) == 1 and isinstance(items[0], str) and is_suite(items[0]):
        return _read(items[0], replicates)
    return Suite("", _perturbations(items), replicates=replicates)


def suite_names() -> list[str]:
    """The suites that ship."""
    return list(tables_in("perturb", "suites"))


def is_suite(item: str) -> bool:
    """Whether it is the name of a suite that ships, or of a file that holds one."""
    return item in suite_names() or item.endswith((".yaml", ".yml"))


def _read(item: str, replicates: int | None = None, within: tuple[str, ...] = ()) -> Suite:
    """A suite that ships, or the user's own file; `within` are the suites that led here."""
    if item in within:
        raise UserError(f"the suite {item} contains itself, by way of {' → '.join([*within, item])}.")
    if item in suite_names():
        text = text_of_room("perturb", f"suites/{item}.yaml")
        return _from_yaml(item, f"suite {item}", text, replicates, (*within, item))
    try:
        text = text_of(item)
    except OSError as error:
        raise UserError(f"the suite {item} cannot be read: {error.strerror}.") from error
    return _from_yaml(Path(item).stem, f"the suite {item}", text, replicates, (*within, item))


def _from_yaml(name: str, where: str, text: str, replicates: int | None, within: tuple[str, ...]) -> Suite:
    content = yaml_of(text, where)
    items = content.get("perturbations") if isinstance(content, dict) else None
    if not items or not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise UserError(f"{where} needs a list of names, such as `perturbations: [misspell, 'case[level=1]']`.")
    known = {"description", "paper", "perturbations", "replicates", "protect", "expectations"}
    if unknown := content.keys() - known:
        wrong = sorted(map(str, unknown))[0]
        raise UserError(f"{where} has an unknown key '{wrong}'. {did_you_mean(wrong, known)}")
    if code := next((item for item in items if PLACE.fullmatch(item.partition("[")[0])), None):
        raise UserError(f"{where} names {code}: a function is named on the command line or in Python, not in a file.")
    own = content.get("replicates")
    if own is not None and (not isinstance(own, int) or isinstance(own, bool) or own < 1):
        raise UserError(f"{where}: replicates is {own!r}, expected a whole number from 1.")
    perturbations = _perturbations(items, within, content.get("protect"))
    return Suite(
        name,
        perturbations,
        str(content.get("description") or ""),
        str(content.get("paper") or ""),
        replicates if replicates is not None else own,
        expectations_of(content.get("expectations"), perturbations, where),
    )


def _perturbations(
    items: Sequence[AnyPerturbation], within: tuple[str, ...] = (), protect: object = None
) -> tuple[Perturbation, ...]:
    """What the items name – perturbations, with their alternatives spelt out, or whole suites – each once.

    `protect` is what a suite says of all that do not say it themselves.
    """
    said = {} if protect is None else {"protect": str(protect)}
    found: list[Perturbation] = []
    for item in items:
        if not isinstance(item, str):
            found.append(item if isinstance(item, Perturbation) else Perturbation(item))
            continue
        if is_suite(item):
            found += (Perturbation(one.spec, **said) for one in _read(item, within=within).perturbations)
        else:
            found += (Perturbation(one.name, **(said | dict(one.options))) for one in _spelt_out(item))
    by_cell: dict[tuple[str, float | None], Perturbation] = {}
    for perturbation in found:
        known = by_cell.setdefault(perturbation.cell, perturbation)
        if known.card.identity != perturbation.card.identity:
            raise UserError(f"two perturbations are called '{perturbation.name}'. Give one of them another name.")
    return tuple(by_cell.values())


def _spelt_out(item: str) -> list[Spec]:
    specs = expand(item)
    if PLACE.fullmatch(specs[0].name) or specs[0].name in LIVE:
        card_of(specs[0].name)
    elif specs[0].name not in PERTURBATIONS.names():
        hint = did_you_mean(specs[0].name, [*PERTURBATIONS.names(), *suite_names()], "perturbations")
        raise UserError(f"no perturbation or suite is called '{specs[0].name}'. {hint}")
    return specs
