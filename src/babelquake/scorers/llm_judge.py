"""A language model as judge: over any server that speaks OpenAI's chat protocol, or loaded here (`local=true`).

`style=score` asks for one number from 0 to 100 (direct assessment, as Kocmi & Federmann 2023a have it), `style=errors`
for a list of error spans with severities, scored as MQM scores them (as in Kocmi & Federmann 2023b), `style=pairwise`
which of two translations is better, the one to be judged or the reference, in both orders. Answers are read strictly:
what is not the number, the list or the choice that was asked for is not a judgement. Refusals and unreadable answers
are counted, and their segments have no score. The texts are data: they are put into the prompt in one pass and never
looked at for instructions or places.

A judge can be asked in several ways: with other wordings of the prompt (`variants`), in both orders, and again
(`repeats`). Its score is the mean; how far the ways disagree is what `studies.judge_reliability` measures.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Unpack

import numpy as np

from babelquake.errors import UserError
from babelquake.escape import visible
from babelquake.http import Client, Service, TooLargeError, UnusableError
from babelquake.limits import text_of
from babelquake.models.base import PENALTIES, WORST, Span
from babelquake.models.chat import (
    CHAT_TIMEOUT,
    CUT,
    ENDPOINT,
    THOUGHTS,
    ChatOptions,
    Cost,
    LocalChat,
    chat_request,
    chat_verdict,
    content_of,
    dollars,
    misspelt_place,
    seed_of,
    tokens_sent,
)
from babelquake.models.loading import installed
from babelquake.paths import table_of_room
from babelquake.resource import SETTINGS, Limits
from babelquake.scorers.base import Array, MeanScorer, Question, Questions, Scorer
from babelquake.spec import Range, signature
from babelquake.text import digest
from babelquake.warnings_log import count_warning

TEXTS = {
    "source": "Source text: {source}\n",
    "reference": "Reference translation: {reference}\n",
    "translation": "Translation: {translation}\n",
}
BOTH = "Translation A: {first}\nTranslation B: {second}\n"
PLACES = ("source", "reference", "translation", "first", "second")
PLACE = re.compile(rf"\{{({'|'.join(PLACES)})\}}")
CHOICE = re.compile(r"(?:translation\s+)?\(?(a|b|tie)\)?\.?", re.IGNORECASE)
WON = {"a": 100.0, "b": 0.0, "tie": 50.0}
FENCE = re.compile(r"\A```(?:json)?\s*(.*?)\s*```\Z", re.DOTALL)
NUMBER = re.compile(r"(\d{1,3}(?:\.\d+)?)(?:\s*/\s*100)?\.?")
PATIENCE, SHOWN = 20, 3
"""Answers that cannot be read, before any that can, after which a judge is given up; and how many of them are shown."""
REMEMBERED = 10_000
"""Answers kept in memory, so that error spans cost no second call."""


ANSWER_TOKENS = {"score": 3, "errors": 60, "pairwise": 2}
"""About how long an answer is, for `--dry-run`: a number, two or three errors, a letter."""
LOCAL_TOKENS = {"score": 16, "errors": 512, "pairwise": 16}
"""The most that a model that is loaded here may answer."""
OURS = "ours"
Style = Literal["score", "errors", "pairwise"]
WANTED = {"score": "a number from 0 to 100", "errors": "a JSON array of errors", "pairwise": "A, B or TIE"}


@dataclass(frozen=True)
class Opinion:
    """What the model said of one segment; `score` is None where it said nothing that counts."""

    score: float | None
    spans: tuple[Span, ...] = ()
    why: str = ""


@dataclass
class Patience:
    """Answers that could not be read, as long as none could; shared by all ways of asking."""

    unread: list[str] = field(default_factory=list)
    lost: bool = True
    """Whether no answer could be read so far."""


class Way(NamedTuple):
    """One way of asking: the number of the prompt, whether the two translations are exchanged, which repeat."""

    prompt: int
    swapped: bool
    repeat: int


class LlmJudge(MeanScorer):
    """The judgement of a chat model: 0 to 100, or minus the MQM penalty of the errors it finds (0 down to -25).

    The key is read from OPENAI_API_KEY; a local server may not need one. `prompt` is a file with the places `{source}`,
    `{translation}` and `{reference}`, or `{first}` and `{second}` for the two translations of `style=pairwise`; those
    it has are what the scorer needs. `variants` asks with several prompts: `ours`, or a file with one a line (`\\n` is
    a line break). `repeats` asks again; with a `seed` each time with another one. `swap=false` asks in one order only.
    `only` is the number of one way of all these. `local=true` loads the model here: a name of the hub, a folder, or a
    .gguf file. How a server is asked is described by `chat.ChatOptions`.
    """

    tells_sides_apart: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"source"})
    costly: ClassVar[bool] = True
    remote: ClassVar[bool] = True
    may_refuse: ClassVar[bool] = True

    def __init__(
        self,
        model: str,
        base_url: str = ENDPOINT,
        style: Style = "score",
        inputs: Literal["source", "reference", "all"] = "source",
        prompt: str | None = None,
        variants: str | None = None,
        repeats: Annotated[int, Range(1, 100)] = 1,
        swap: bool = True,
        only: Annotated[int | None, Range(0, 10_000)] = None,
        local: bool = False,
        device: str = "auto",
        seed: Annotated[int | None, Range(0, 2**31)] = None,
        **options: Unpack[ChatOptions],
    ) -> None:
        service = Service("the chat server", "OPENAI_API_KEY", base_url.rstrip("/") != ENDPOINT, chat_verdict)
        retries, timeout = options.get("retries", 6), options.get("timeout", CHAT_TIMEOUT)
        self._client = Client(service, options.get("rate"), retries, timeout)
        self.url = self._client.address(base_url)
        self.model, self.style = model, style
        self.prompts = _prompts(style, inputs, prompt, variants)
        self.remote = not local  # type: ignore[misc]  # a model that is loaded here costs nothing
        self._seed, self._max_tokens = seed, options.get("max_tokens")
        self._temperature = options.get("temperature", 0.0)
        self._prices = options.get("price_in"), options.get("price_out")
        tokens = LOCAL_TOKENS[style] if self._max_tokens is None else self._max_tokens
        self._local = LocalChat(model, self._temperature or 0.0, None, tokens, device=device) if local else None
        self._limits = Limits(texts=16) if local else Limits(texts=1, concurrent=options.get("concurrent") or 4)
        places = set(PLACE.findall(self.prompts[0]))
        self.needs = frozenset(_needed(places))  # type: ignore[misc]  # the prompt decides
        orders = (False, True) if "first" in places and swap else (False,)
        self.asked = [Way(*way) for way in product(range(len(self.prompts)), orders, range(repeats))]
        """All ways in which it is asked."""
        if only is not None and only >= len(self.asked):
            raise UserError(f"llm-judge[only={only}]: it is asked in {len(self.asked)} ways, numbered from 0.")
        self._only = only
        self.refused: dict[str, int] = {}
        """How many segments have no score, by reason."""
        self._known: OrderedDict[bytes, Opinion] = OrderedDict()
        self._patience = Patience()

    @property
    def prompt(self) -> str:
        """The prompt of the way in which it is asked, or of the first."""
        return self.prompts[self.way.prompt]

    @property
    def way(self) -> Way:
        """The way in which it is asked, where that is one."""
        return self.asked[self._only or 0]

    @cached_property
    def ways(self) -> tuple[Scorer, ...]:
        """The same judge once for each prompt, order and repeat."""
        if self._only is not None or len(self.asked) == 1:
            return (self,)
        return tuple(self._in_way(number) for number in range(len(self.asked)))

    def _in_way(self, number: int) -> "LlmJudge":
        one = copy(self)
        one.__dict__.pop("ways", None)
        one._only, one._known = number, OrderedDict()
        if hasattr(self, "spec"):
            one.spec = self.spec.with_options(only=number)
        one.label = self.name if hasattr(self, "spec") else None
        return one

    def together(self, rows: Sequence[Array]) -> Array:
        """The mean of what the ways say, where any says something."""
        sums = np.sum(rows, axis=0)
        given = sums[:, 1] > 0
        means = np.where(given, sums[:, 0] / np.maximum(sums[:, 1], 1), 0.0)
        return np.stack([means, given.astype(np.float64)], axis=1)

    @property
    def signature(self) -> str:
        """Model, server or precision, style, sampling, and the prompts' hash; of a single way also which it is."""
        several = self._only is None and len(self.asked) > 1
        here = self._local
        return signature(
            "llm-judge",
            model=self.model if here is None else content_of(self.model),
            url=self.url if self.url != ENDPOINT and here is None else None,
            style=self.style,
            temperature="server" if self._temperature is None else f"{self._temperature:g}",
            seed=self._seed,
            max_tokens=self._max_tokens,
            prompt=digest(list(self.prompts)) if several else digest([self.prompt]),
            ways=len(self.asked) if several else None,
            swapped=True if not several and self.way.swapped else None,
            repeat=self.way.repeat or None if not several else None,
            dtype=here.precision if here else None,
            transformers=installed("transformers") if here else None,
        )

    @property
    def limits(self) -> Limits:
        """One segment a call, several calls at a time."""
        return self._limits

    def judge(self, questions: Questions) -> Array:
        """One score per segment, NaN where the model gave none."""
        rows = self.statistics(questions)
        return np.where(rows[:, 1] > 0, rows[:, 0], np.nan)

    def statistics(self, questions: Questions) -> Array:
        """Rows of (score, 1); (0, 0) for a segment without a score, so that means leave it out."""
        if len(self.ways) > 1:
            return self.together([one.statistics(questions) for one in self.ways])
        scores = [one.score for one in self._opinions(questions.one_by_one(self.needs))]
        return np.array([(score or 0.0, float(score is not None)) for score in scores]).reshape(-1, 2)

    def cost(self, questions: Sequence[Question]) -> Cost:
        """Tokens of prompts and texts, and of answers as they usually are."""
        sent = sum(tokens_sent(self._messages(question)) for question in questions)
        answered = ANSWER_TOKENS[self.style] * len(questions)
        return Cost(super().cost(questions).characters, sent + answered, dollars(sent, answered, *self._prices))

    @property
    def marks_errors(self) -> bool:
        return self.style == "errors"

    def remembers(self, question: Question) -> bool:
        return question.key in self._known

    def spans(self, questions: Questions) -> list[list[Span]]:
        if not self.marks_errors:
            return super().spans(questions)
        return [list(one.spans) for one in self._opinions(questions.one_by_one(self.needs))]

    def close(self) -> None:
        self._client.close()
        if self._local is not None:
            self._local.close()

    def _opinions(self, questions: Sequence[Question]) -> list[Opinion]:
        """What the model says of each segment; those that it remembers are not asked again."""
        new = [question for question in dict.fromkeys(questions) if question.key not in self._known]
        found = dict(zip(new, self._read_all(new), strict=True))
        for question, one in found.items():
            self._known[question.key] = one
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            if one.score is None:
                self.refused[one.why] = self.refused.get(one.why, 0) + 1
                what = "answers left out of" if len(self.asked) > 1 else "segments without a score by"
                count_warning(f"{what} {self.name} because {one.why}", 1)
        return [found[one] if one in found else self._known[one.key] for one in questions]

    def _read_all(self, questions: Sequence[Question]) -> list[Opinion]:
        if self._local is None:
            return [self._read_strictly(question, self._answer) for question in questions]
        tokens = self._local.tokens([self._messages(question) for question in questions])
        seeds = [seed_of(self._seed or 0, self._key(question)) for question in questions]
        said = dict(zip(questions, self._local.answers(tokens, seeds), strict=True))
        return [self._read_strictly(question, said.__getitem__) for question in questions]

    def _messages(self, question: Question) -> list[dict[str, str]]:
        """The prompt with the texts in their places."""
        texts = {"translation": question.translation, "source": question.source or ""}
        texts["reference"] = (question.references or ("",))[0]
        order = ("second", "first") if self.way.swapped else ("first", "second")
        texts |= dict(zip(order, (texts["translation"], texts["reference"]), strict=True))
        return [{"role": "user", "content": PLACE.sub(lambda match: texts[match[1]], self.prompt)}]

    def _key(self, question: Question) -> str:
        """Everything that was asked, which time it is included."""
        return f"{self._messages(question)[0]['content']}\x1f{self.way.repeat}"

    def _answer(self, question: Question) -> str:
        """What a server's model says."""
        key, text = self._client.key, self._key(question)
        seed = None if self._seed is None else seed_of(self._seed, text)
        sampling = {"temperature": self._temperature, "seed": seed, "max_tokens": self._max_tokens}
        request = chat_request(self.url, self.model, self._messages(question), key, **sampling)
        answer = self._client.post(request, SETTINGS.offline)
        return _spoken(answer.json)

    def _read_strictly(self, question: Question, answer: Callable[[Question], str]) -> Opinion:
        """What an answer says; a judge whose first answers all say nothing is given up."""
        patience = self._patience
        try:
            said = answer(question)
        except (UnusableError, TooLargeError) as error:
            return Opinion(None, why=str(error))
        try:
            found = opinion(said, self.style, question.translation, swapped=self.way.swapped)
        except UnusableError as error:
            if patience.lost:
                patience.unread.append(said)
                if len(patience.unread) >= PATIENCE:
                    raise UserError(self._given_up(patience.unread)) from None
            return Opinion(None, why=str(error))
        patience.lost = False
        return found

    def _given_up(self, answers: Sequence[str]) -> str:
        shown = "; ".join(f"“{visible(text.strip()[:120])}”" for text in answers[:SHOWN])
        return (
            f"{self.name}: none of the first {len(answers)} answers is {WANTED[self.style]}: {shown}. "
            "Use another model, or a prompt that says more clearly what to answer."
        )


def opinion(answer: str, style: Style, translation: str, *, swapped: bool = False) -> Opinion:
    """An answer read strictly: the number, the list of errors or the choice that was asked for.

    A choice is 100 where the translation won, 0 where the reference did, 50 for a tie; `swapped` says that the
    reference came first.
    """
    if answer.endswith(CUT):
        raise UnusableError("the answer was cut off at the limit of tokens")
    said = THOUGHTS.sub("", answer).strip()
    if style == "pairwise":
        choice = CHOICE.fullmatch(said)
        if choice is None:
            raise UnusableError("the answer is not A, B or TIE")
        won = WON[choice[1].lower()]
        return Opinion(100 - won if swapped else won)
    if style == "score":
        number = NUMBER.fullmatch(said)
        if number is None or float(number[1]) > 100:
            raise UnusableError("the answer is not a number from 0 to 100")
        return Opinion(float(number[1]))
    fenced = FENCE.match(said)
    try:
        listed = json.loads(fenced[1] if fenced else said)
    except (ValueError, RecursionError):
        raise UnusableError("the answer is not a JSON array of errors") from None
    spans = _spans(listed, translation)
    return Opinion(float(-min(WORST, sum(PENALTIES[span.severity] for span in spans))), spans)


def _spans(listed: Any, translation: str) -> tuple[Span, ...]:
    """The errors with their places in the translation; every one must be as it was asked for."""
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise UnusableError("the answer is not a JSON array of errors")
    found: list[Span] = []
    for item in listed:
        text, severity = item.get("span"), item.get("severity")
        if not isinstance(text, str) or severity not in PENALTIES:
            raise UnusableError("an error in the answer has no span or no severity")
        after = max((span.end for span in found if span.text == text), default=0)
        start = translation.find(text, after) if text else len(translation)
        if start < 0:
            raise UnusableError("an error in the answer is not in the translation")
        found.append(Span(text, severity, start, start + len(text), 1.0))
    return tuple(found)


def _spoken(body: Any) -> str:
    """What the model said, marked where it was cut off; a refusal or a filtered answer is none."""
    try:
        choice = body["choices"][0]
        message = choice["message"]
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            raise UnusableError("the model refused")
        if not isinstance(message["content"], str):
            raise TypeError
        return str(message["content"]) + (CUT if choice.get("finish_reason") == "length" else "")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise UnusableError("the answer is JSON without a message") from None


@cache
def _wordings() -> dict[str, list[str]]:
    """Instructions by style, the usual one first."""
    said = table_of_room("scorers", "llm_judge")
    return {style: [f"{wording}\n\n" for wording in wordings] for style, wordings in said.items()}


def _prompts(style: Style, inputs: str, prompt: str | None, variants: str | None) -> tuple[str, ...]:
    """All prompts with which the judge is asked, the usual one first."""
    first, *further = _wordings()[style]
    usual = _written(style, inputs, first) if prompt is None else _read(prompt, "prompt")
    if variants is None:
        found = [usual]
    elif variants == OURS:
        others = further if prompt is None else [first, *further]
        found = [usual, *(_written(style, inputs, one) for one in others)]
    else:
        lines = _read(variants, "variants").splitlines()
        found = [usual, *(line.replace("\\n", "\n") for line in lines if line.strip())]
    for one in found:
        _check(one, style, f"llm-judge[prompt={prompt}]" if one is usual else f"llm-judge[variants={variants}]")
    if len({frozenset(_needed(set(PLACE.findall(one)))) for one in found}) > 1:
        raise UserError(f"llm-judge[variants={variants}]: all prompts must show the same texts to the judge.")
    return tuple(dict.fromkeys(found))


def _check(prompt: str, style: Style, where: str) -> None:
    places = set(PLACE.findall(prompt))
    if style == "pairwise" and not {"first", "second"} <= places:
        raise UserError(f"{where} has no {{first}} and {{second}}: say where the two translations go.")
    if style != "pairwise" and "translation" not in places:
        raise UserError(f"{where} has no {{translation}}: say where the translation goes.")
    if slip := misspelt_place(prompt, PLACES):
        raise UserError(f"{where}: {slip}")


def _needed(places: set[str]) -> set[str]:
    """What a prompt with these places needs beside the translation."""
    return places & {"source", "reference"} | ({"reference"} if "first" in places else set())


def _written(style: Style, inputs: str, instruction: str) -> str:
    """Our own prompt for what the model is to see."""
    if style == "pairwise":
        return instruction + TEXTS["source"] + BOTH
    seen: Sequence[str] = ("source", "reference") if inputs == "all" else (inputs,)
    if inputs == "reference":
        instruction = instruction.replace("source text", "reference translation")
    return instruction + "".join(TEXTS[name] for name in (*seen, "translation"))


def _read(file: str, option: str) -> str:
    try:
        return text_of(file, "prompt")
    except (OSError, UserError) as problem:
        raise UserError(f"llm-judge[{option}={file}]: expected a text file with a prompt. {problem}") from None
