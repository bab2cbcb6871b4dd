"""How a chat model is asked: the instruction, the system message, examples, and what the answer must look like.

An instruction is a text with places: `{source}` is the text to translate, `{source_language}` and `{target_language}`
are the languages by their English names, `{examples}` is where examples are written out, `{context}` where what comes
before the text goes. Examples without a place become earlier turns of the conversation. Texts are put into their places
in one pass and are never looked at for places themselves.

`Prompt.written` is the whole instruction as one text, the choice of examples included (`{turns:0,1,2}`), so that
perturbations can change it like any other text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

from babelquake.errors import UserError, did_you_mean
from babelquake.languages import Language, english_names
from babelquake.limits import text_of, yaml_of
from babelquake.models.chat import CUT, Cost, Message, dollars, misspelt_place, tokens_in, tokens_sent
from babelquake.spec import Range
from babelquake.text import digest

PROMPT = (
    "Translate the following text from {source_language} into {target_language}. "
    "Reply with the translation only.\n\n{source}"
)
DOCUMENT = (
    "Translate the following document from {source_language} into {target_language}. It has one sentence on each line: "
    "reply with the translation only, one line for each line.\n\n{source}"
)
"""What asks for the translation of whole documents, where the user has no instruction."""
BEFORE = "The text continues the following one, which is not to be translated again:\n{context}\n\n"
"""In front of an instruction without a place for the context."""
PLACES = ("source", "source_language", "target_language", "context", "examples")
PLACE = re.compile(rf"\{{({'|'.join(PLACES)}|turns)(?::([\d,]{{0,60}}))?\}}")
FORMER = {"{text}": "{source}", "{target}": "{target_language}"}
"""What other tools call the places."""
MOST_EXAMPLES = 16
KEYS = ("instruction", "system", "examples", "shots", "answer", "language")


class Inquiry(str):
    """A text to translate together with what goes with it: another instruction, what comes before it, which repeat.

    As a key – of duplicates, answers, the cache – it is all of that; `text` is the text alone. Systems that cannot be
    asked like this are given the text.
    """

    text: str
    instruction: str | None
    context: str
    repeat: int

    def __new__(cls, text: str, instruction: str | None = None, context: str = "", repeat: int = 0) -> "Inquiry":
        """The text, with what is not said left out."""
        further = {"instruction": instruction, "context": context or None, "repeat": repeat or None}
        said = {name: value for name, value in further.items() if value is not None}
        made = super().__new__(cls, text + "\x1f" + json.dumps(said, ensure_ascii=False) if said else text)
        made.text, made.instruction, made.context, made.repeat = text, instruction, context, repeat
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Inquiry, (self.text, self.instruction, self.context, self.repeat)


def inquiry(asked: str) -> Inquiry:
    """A plain text as an inquiry."""
    return asked if isinstance(asked, Inquiry) else Inquiry(asked)


class Reading(NamedTuple):
    """What an answer says: the translation, and where the answer is not as it was asked for, in what way."""

    translation: str
    misfit: str = ""


def marked_as_cut(answer: str) -> str:
    """An answer that ran into the limit of tokens."""
    return answer + CUT


class AnswerForm:
    """What an answer must look like: `text` (all of it), `line` (the first line), `json:FIELD`, `tag:NAME`.

    An answer of another form is read as it stands, and counted: nothing is cut off it that was not agreed upon.
    """

    def __init__(self, said: str) -> None:
        self.said = said
        self.kind, _, self.name = said.partition(":")
        if self.kind not in ("text", "line", "json", "tag") or (self.kind in ("json", "tag")) != bool(self.name):
            raise UserError(f"answer={said}: expected text, line, json:FIELD or tag:NAME, such as json:translation.")

    def read(self, answer: str) -> Reading:
        """The translation in an answer."""
        if self.kind == "line":
            first = answer.strip().partition("\n")[0].strip()
            return Reading(first) if first else Reading(answer, "the answer is empty")
        if self.kind == "json":
            return self._json(answer)
        if self.kind == "tag":
            name = re.escape(self.name)
            found = re.findall(rf"<{name}>(.*?)</{name}>", answer, re.DOTALL)
            return Reading(found[0].strip()) if len(found) == 1 else Reading(answer, f"no single <{self.name}> tag")
        return Reading(answer)

    def _json(self, answer: str) -> Reading:
        try:
            found = json.loads(answer)
        except (ValueError, RecursionError):
            return Reading(answer, "the answer is not JSON")
        value = found.get(self.name) if isinstance(found, dict) else None
        return Reading(value) if isinstance(value, str) else Reading(answer, f"no field “{self.name}” with a text")

    def write(self, translation: str) -> str:
        """A translation as the model should have answered it, for examples."""
        if self.kind == "json":
            return json.dumps({self.name: translation}, ensure_ascii=False)
        return f"<{self.name}>{translation}</{self.name}>" if self.kind == "tag" else translation


def reading_of(form: AnswerForm, answer: str) -> Reading:
    """The translation in an answer; one that was cut off is read as far as it goes, and counted."""
    if answer.endswith(CUT):
        return Reading(form.read(answer[:-1]).translation, "the answer was cut off at the limit of tokens")
    return form.read(answer)


@dataclass(frozen=True)
class Prompt:
    """How a chat model is asked."""

    instruction: str = PROMPT
    system: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    """Sources and their translations."""
    answer: str = "text"
    language: str = "en"
    """The language of the instruction."""
    own: bool = False
    """Whether the instruction is the user's own."""

    @cached_property
    def form(self) -> AnswerForm:
        """How answers are read."""
        return AnswerForm(self.answer)

    @cached_property
    def hash(self) -> str:
        """A hash of everything that the model receives beside the text."""
        pairs = [text for pair in self.examples for text in pair]
        return digest([self.instruction, self.system, self.answer, *pairs])

    @cached_property
    def written(self) -> str:
        """The instruction as one text, with the numbers of the examples that it shows."""
        chosen = ",".join(map(str, range(len(self.examples))))
        if not self.examples:
            return self.instruction
        if "{examples}" in self.instruction:
            return self.instruction.replace("{examples}", f"{{examples:{chosen}}}")
        return f"{{turns:{chosen}}}" + self.instruction

    def for_documents(self) -> "Prompt":
        """The prompt that keeps lines apart, unless the user has an instruction."""
        return self if self.own else replace(self, instruction=DOCUMENT)

    def messages(self, asked: Inquiry, source: str, target: str) -> list[Message]:
        """The conversation: system message, examples as earlier turns, then the text in its place."""
        written = asked.instruction if asked.instruction is not None else self.written
        numbers = next((found[2] for found in PLACE.finditer(written) if found[1] in ("examples", "turns")), "")
        chosen = [
            self.examples[int(one)] for one in (numbers or "").split(",") if one and int(one) < len(self.examples)
        ]
        names = language_name(source), language_name(target)
        languages = dict(zip(("source_language", "target_language"), names, strict=True))
        inline = "".join(
            f"{names[0]}: {text}\n{names[1]}: {self.form.write(translation)}\n\n" for text, translation in chosen
        )
        places = {**languages, "examples": inline, "turns": "", "context": asked.context}
        turns = [] if "{examples" in written else chosen
        told = [{"role": "system", "content": _filled(self.system, places)}] if self.system else []
        for text, translation in turns:
            told.append({"role": "user", "content": _filled(written, {**places, "source": text, "context": ""})})
            told.append({"role": "assistant", "content": self.form.write(translation)})
        before = BEFORE if asked.context and "{context}" not in written else ""
        told.append({"role": "user", "content": _filled(before + written, {**places, "source": asked.text})})
        return told


def _filled(template: str, places: Mapping[str, str]) -> str:
    return PLACE.sub(lambda match: places.get(match[1], match[0]), template)


class PromptOptions(TypedDict, total=False):
    """What every system that is asked by prompt can be told about it, each an option in brackets.

    `template` is a file with the instruction, or a .yaml with the keys instruction, system, examples, shots, answer and
    language; `prompt` is an instruction in place; both have the places `{source}`, `{source_language}` and
    `{target_language}`. `examples` is a table with the columns source and reference (or translation), of which the
    first `shots` are shown. `answer` is what answers must look like: text, line, json:FIELD or tag:NAME. `column` names
    a column of the data with an instruction for each segment.
    """

    prompt: str | None
    template: str | None
    examples: str | None
    shots: Annotated[int | None, Range(0, MOST_EXAMPLES)]
    system: str | None
    answer: str | None
    column: str | None


def prompt_of(where: str, options: PromptOptions) -> Prompt:
    """The prompt that a system's options describe: an instruction, or a file with one, and what goes with it."""
    template, prompt = options.get("template"), options.get("prompt")
    if prompt is not None and template is not None:
        raise UserError(f"{where}: give prompt= or template=, not both.")
    said: dict[str, Any] = {} if template is None else _read(template, where)
    given = {"instruction": prompt} | {name: options.get(name) for name in ("system", "examples", "shots", "answer")}
    said |= {name: value for name, value in given.items() if value is not None}
    instruction = said.get("instruction")
    if instruction is not None:
        check_instruction(instruction, where)
    shown = _examples(said.get("examples"), said.get("shots"), where)
    form = AnswerForm(str(said.get("answer", "text")))
    return Prompt(
        PROMPT if instruction is None else instruction,
        str(said.get("system", "")),
        shown,
        form.said,
        str(said.get("language", "en")),
        instruction is not None,
    )


def check_instruction(instruction: Any, where: str) -> None:
    """Refuse an instruction without a place for the text, or with a place that is misspelt."""
    if not isinstance(instruction, str):
        raise UserError(f"{where}: the instruction is not a text.")
    former = next((f" It says {old}: write {new}." for old, new in FORMER.items() if old in instruction), "")
    if "{source}" not in instruction:
        raise UserError(f"{where}: the prompt has no {{source}}: say where the text goes.{former}")
    if slip := misspelt_place(instruction, PLACES):
        raise UserError(f"{where}: {slip}")


def _read(file: str, where: str) -> dict[str, Any]:
    try:
        text = text_of(file, "prompt")
    except OSError as error:
        raise UserError(f"{where}: the template {file} cannot be read: {error.strerror}.") from None
    if not file.endswith((".yaml", ".yml")):
        return {"instruction": text.rstrip("\n")}
    said = yaml_of(text, file)
    if not isinstance(said, dict) or not isinstance(said.get("instruction"), str):
        raise UserError(f"{file} needs a text under `instruction`, with a place {{source}}.")
    if unknown := sorted(map(str, said.keys() - set(KEYS))):
        raise UserError(f"{file} has an unknown key '{unknown[0]}'. {did_you_mean(unknown[0], KEYS)}")
    if isinstance(said.get("examples"), str):
        said["examples"] = str(Path(file).parent / said["examples"])
    return said


def _examples(given: Any, shots: Any, where: str) -> tuple[tuple[str, str], ...]:
    """Sources and translations: from a table, or as a list of pairs in the template."""
    if given is None:
        if shots is not None:
            raise UserError(f"{where}: shots={shots} needs examples: name a table with examples=FILE.")
        return ()
    pairs = _table(given) if isinstance(given, str) else _listed(given, where)
    if not pairs:
        raise UserError(f"{where}: the examples have no rows with a source and its translation.")
    count = len(pairs) if shots is None else shots
    if not isinstance(count, int) or not 0 <= count <= MOST_EXAMPLES:
        raise UserError(
            f"{where}: {count} examples; from 0 to {MOST_EXAMPLES} can be shown. Choose how many with shots=N."
        )
    if count > len(pairs):
        raise UserError(f"{where}: shots={count}, and there are {len(pairs)} examples.")
    return tuple(pairs[:count])


def _table(file: str) -> list[tuple[str, str]]:
    from babelquake.data import dataset

    rows = dataset(file).segments.select("source", "references", "translation").iter_rows()
    found = ((source, references[0] if references else translation) for source, references, translation in rows)
    return [(source, target) for source, target in found if source and target]


def _listed(given: Any, where: str) -> list[tuple[str, str]]:
    if not isinstance(given, Sequence) or not all(
        isinstance(one, dict) and {"source", "translation"} <= one.keys() for one in given
    ):
        raise UserError(f"{where}: examples are a table, or a list of entries with source and translation.")
    return [(str(one["source"]), str(one["translation"])) for one in given]


def language_name(code: str) -> str:
    """A language's English name, or its code where we know none."""
    found = Language.known(code)
    return english_names().get(found.code, code) if found else code


def cost_in_tokens(
    prompt: Prompt, asked: Sequence[str], source: str, target: str, price_in: float | None, price_out: float | None
) -> Cost:
    """What a chat model is sent, and about what it answers: as much as the text it translates."""
    sent = answered = 0
    for one in map(inquiry, asked):
        sent += tokens_sent(prompt.messages(one, source, target))
        answered += tokens_in(prompt.form.write(one.text))
    return Cost(sum(map(len, asked)), sent + answered, dollars(sent, answered, price_in, price_out))
