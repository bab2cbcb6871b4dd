"""Make docs/catalogue.md from the perturbations' cards: `python scripts/make_catalogue.py [FILE]`.

Examples are drawn with a fixed seed and with the project's own word lists (`BABELQUAKE_LINGUISTICS=lists`), so the page
is the same on every machine; a test compares it with the committed one.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

os.environ["BABELQUAKE_LINGUISTICS"] = "lists"

from babelquake.perturb import PERTURBATIONS, Card, Perturbation
from babelquake.perturb.suite import Suite, suite, suite_names

PAGE = Path(__file__).resolve().parents[1] / "docs" / "catalogue.md"
SEED = 7
SENTENCES = {
    "en": [
        "On 3 May 2021 the minister did not sign all 12 agreements, because she found the café too expensive.",
        "For example, it is a good idea to do that, and I do not know why you want to receive 5 kg by noon in London.",
        "The bridge between Paris and London is closed",
        "Is the old bridge open?",
        "Close the bridge at once!",
    ],
    "ru": [
        "3 мая 2021 года министр не подписала все 12 соглашений в Берлине, потому что её отчёт был слишком длинным.",
        "Например, этот человек сейчас не знает, сколько стоит 5 кг хлеба и так далее.",
        "Мост между Парижем и Лондоном закрыт",
        "Старый мост открыт?",
        "Закройте мост немедленно!",
    ],
    "ja": [
        "大臣は2021年5月3日に、ベルリンで12の協定に署名しなかった。",
        "パリとロンドンの間の橋は閉鎖された",
        "古い橋は開いていますか？",
        "すぐに橋を閉めてください！",
    ],
}
"""Sentences in three scripts; each example is of the first of its language that the perturbation changes."""
SOURCE = {
    "en": "Am 3. Mai 2021 hat die Ministerin nicht alle 12 Abkommen unterschrieben.",
    "ru": "On 3 May 2021 the minister did not sign all 12 agreements.",
    "ja": "On 3 May 2021 the minister did not sign all 12 agreements.",
}
"""Sources of the above, for `source-copy`."""
LANGUAGES = {"en": "English", "ru": "Russian", "ja": "Japanese"}
INTRODUCTION = """\
# The catalogue of perturbations

Made by `make docs` from the cards in `src/babelquake/perturb`; do not edit. The same facts as JSON:
`babelquake list perturbations --json`.

- **meaning**: *preserving* changes leave the meaning alone, *altering* ones change it; *depends*: some do.
- **level**: the default strength and its unit; change it with `name[level=…]`. A dash: there is nothing to turn up.
- **languages**: *any*, or those it has lists for; elsewhere it is not applicable.
- **side**: the text it is meant for. This is advice: every command applies every perturbation to the text it perturbs.
- **replicates**: how often a stochastic perturbation is repeated, as its paper does (`--replicates` overrides it).

A column that a table lacks would say the usual: no paper, level or options, any language and side, one replicate.

Where a perturbation skips a text, studies leave that text out of its results, and their column `n` says how many took
part.
"""
EXAMPLES = f"""\
Examples use seed {SEED}, the default level and the project's own word lists; a spaCy model, where installed, may find
other words. Each changes the first of these sentences that it can; without an example, the perturbation does not apply:
"""


def main() -> None:
    """Write the page, to docs/catalogue.md unless another file is named."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(catalogue(), "utf-8")
    print(target)


def catalogue() -> str:
    """The whole page."""
    cards = [PERTURBATIONS.get(name) for name in PERTURBATIONS.names()]
    families = sorted({card.family for card in cards})
    contents = " · ".join(f"[{family}](#{family.replace(' ', '-')})" for family in families)
    parts = [INTRODUCTION, EXAMPLES, sentences(), f"{len(cards)} perturbations: {contents} · [suites](#suites)\n"]
    for family in families:
        members = [card for card in cards if card.family == family]
        parts.append(f"## {family.capitalize()}\n\n{table(members)}\n")
        parts += [examples(card) for card in members]
    parts.append(suites())
    return "\n".join(parts)


def sentences() -> str:
    """What the examples were before they were changed."""
    lines = [f"- {LANGUAGES[lang]}: {' '.join(map(code, texts))}" for lang, texts in SENTENCES.items()]
    return "\n".join([*lines, ""])


def table(cards: list[Card]) -> str:
    """One row per perturbation; columns in which all have what is usual are left out."""
    head = ["name", "paper", "meaning", "level", "languages", "side", "replicates", "options"]
    rows = [
        [
            f"[`{card.name}`](#{card.name})",
            card.paper or "–",
            card.meaning,
            f"{card.level:g} ({card.unit})" if card.level is not None else "–",
            " ".join(card.languages) or "any",
            card.side,
            str(card.replicates),
            " ".join(f"`{name}`" for name in card.options) or "–",
        ]
        for card in cards
    ]
    columns = [column for column in zip(head, *rows, strict=True) if set(column[1:]) != {USUAL.get(column[0])}]
    lines = [list(line) for line in zip(*columns, strict=True)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [lines[0], ["---"] * len(lines[0]), *lines[1:]])


USUAL = {"paper": "–", "level": "–", "languages": "any", "side": "any", "replicates": "1", "options": "–"}
"""What a column says of most perturbations."""


def examples(card: Card) -> str:
    """What it does, and examples: one per script, and one more for each further choice of an option."""
    lines = [card.description]
    if card.name == "mask-replace":
        lines = [f"{card.description} What comes out depends on the masked language model."]
    else:
        for place, spec in enumerate(choices(card)):
            change = Perturbation(spec)
            made = [(LANGUAGES[lang], found) for lang in SENTENCES if (found := example(change, lang))]
            name = f"`{spec}`, " if spec != card.name else ""
            lines += [f"{name}{language}: {found}" for language, found in (made[:1] if place else made)]
    return f"### {card.name}\n\n{'<br>'.join(lines)}\n"


def choices(card: Card) -> Iterator[str]:
    """The name with each named value of an option that offers some, or the bare name."""
    for name, parameter in card.options.items():
        if get_origin(parameter.annotation) is Literal:
            yield from (f"{card.name}[{name}={value}]" for value in get_args(parameter.annotation) if value.isalpha())
            return
    yield card.name


def example(change: Perturbation, lang: str) -> str:
    """What it makes of the first sentence that it changes; nothing where it changes none."""
    for text in SENTENCES[lang]:
        changed = change.apply(text, lang=lang, seed=SEED, source=SOURCE[lang])
        if changed is not None and changed != text:
            return code(changed)
    return ""


def code(text: str) -> str:
    """A text as it is, marks that mean something in Markdown included."""
    fence = "``" if "`" in text else "`"
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def suites() -> str:
    """Every suite that ships, with what is in it."""
    head = (
        "## Suites\n\nNames for sets of perturbations; `--suite` also takes [your own YAML file]"
        "(bring-your-own.md#a-suite)."
    )
    parts = [head]
    for name in suite_names():
        found: Suite = suite(name)
        paper = f" ({found.paper})" if found.paper else ""
        specs = ", ".join(f"`{change.spec}`" for change in found.perturbations)
        parts.append(f"- **`{name}`**{paper} – {found.description}: {specs}")
    return "\n".join([parts[0], "", *parts[1:]]) + "\n"


if __name__ == "__main__":
    main()
