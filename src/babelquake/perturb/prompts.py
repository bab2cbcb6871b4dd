"""Prompts: another wording or language of the instruction, fewer examples, examples in another order.

These change the instruction that a chat model is given (`mt --side prompt`); typos and letter case in it are the
perturbations of those names. An instruction is a text with places such as `{source}`; a text without them is none, and
nothing here applies to it. `{turns:0,1,2}` or `{examples:0,1,2}` says which examples are shown.
"""

import re
from functools import partial
from typing import Annotated

from babelquake.errors import UserError
from babelquake.languages import english_names
from babelquake.limits import text_of
from babelquake.paths import table_of_room
from babelquake.perturb.card import perturbation
from babelquake.randomness import Stream
from babelquake.spec import Range

SOURCE = "{source}"
EXAMPLES = re.compile(r"\{(examples|turns):([\d,]*)\}")
prompting = partial(perturbation, family="prompt", meaning="preserving", side="prompt")


@prompting("prompt-paraphrase", label=lambda number, file: f"prompt: paraphrase {number}")
def paraphrase(text: str, number: Annotated[int, Range(1, 1000)] = 1, file: str | None = None) -> str | None:
    """Another wording of the instruction: one of eight of ours, or of a file's, one a line. Skipped for other texts."""
    if SOURCE not in text:
        return None
    wordings = table_of_room("perturb", "lexicon/prompts")["paraphrases"] if file is None else _read(file)
    if number > len(wordings):
        raise UserError(f"prompt-paraphrase[number={number}]: there are {len(wordings)} paraphrases.")
    return _examples_of(text) + wordings[number - 1]


@prompting("prompt-language", label=lambda to: f"prompt: written in {english_names().get(to, to)}")
def in_language(text: str, to: str = "de") -> str | None:
    """The instruction in another language: cs, de, es, fr, ru or zh. Skipped for other texts."""
    if SOURCE not in text:
        return None
    known: dict[str, str] = table_of_room("perturb", "lexicon/prompts")["languages"]
    if to not in known:
        raise UserError(f"prompt-language[to={to}]: expected one of {', '.join(known)}.")
    return _examples_of(text) + known[to]


@prompting("prompt-shots", label=lambda count: f"prompt: {count} examples")
def fewer_examples(text: str, count: Annotated[int, Range(0, 16)] = 0) -> str | None:
    """Only the first `count` examples. Skipped where there are not more."""
    chosen = _chosen(text)
    return _with(text, chosen[:count]) if len(chosen) > count else None


@prompting("prompt-order", label="prompt: examples reordered")
def reordered(text: str, rng: Stream) -> str | None:
    """The examples in another order. Skipped where there are fewer than two."""
    chosen = _chosen(text)
    if len(chosen) < 2:
        return None
    order = rng.shuffled(chosen)
    return _with(text, order if order != chosen else [*chosen[1:], chosen[0]])


def _chosen(text: str) -> list[str]:
    found = EXAMPLES.search(text)
    return [one for one in found[2].split(",") if one] if found else []


def _with(text: str, chosen: list[str]) -> str:
    """The instruction with other examples; a choice of none is still a choice."""
    return EXAMPLES.sub(lambda found: f"{{{found[1]}:{','.join(chosen)}}}", text, count=1)


def _examples_of(text: str) -> str:
    """The examples that an instruction shows, for another one that has no place for them."""
    found = EXAMPLES.search(text)
    return found[0] if found else ""


def _read(file: str) -> list[str]:
    try:
        lines = [line.replace("\\n", "\n") for line in text_of(file, "prompt").splitlines() if line.strip()]
    except OSError as error:
        raise UserError(f"prompt-paraphrase[file={file}]: cannot be read: {error.strerror}.") from None
    if wrong := next((line for line in lines if SOURCE not in line), None):
        raise UserError(f"prompt-paraphrase[file={file}]: “{wrong[:60]}” has no {{source}}: say where the text goes.")
    return lines
