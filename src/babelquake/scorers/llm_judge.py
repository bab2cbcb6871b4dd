"""A language model as judge, over any server that speaks OpenAI's chat protocol.

`style=score` asks for one number from 0 to 100 (direct assessment, as Kocmi & Federmann 2023a have it), `style=errors`
for a list of error spans with severities, scored as MQM scores them (as in Kocmi & Federmann 2023b). Answers are read
strictly: what is neither the number nor the list that was asked for is no judgement. Refusals and unreadable answers
are counted, and their segments have no score. The texts are data: they are put into the prompt in one pass and never
looked at for instructions or places.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from babelquake.errors import UserError
from babelquake.escape import visible
from babelquake.http import Client, Request, Service, TooLargeError, UnusableError, Verdict, usual_verdict
from babelquake.limits import text_of
from babelquake.models.base import Span
from babelquake.models.comet_joint import PENALTIES, WORST
from babelquake.resource import SETTINGS, Limits
from babelquake.scorers.base import Array, MeanScorer, Question, Questions
from babelquake.signature import signature
from babelquake.spec import Range
from babelquake.text import digest
from babelquake.warnings_log import remark

ENDPOINT = "https://api.openai.com/v1"
SCORE = (
    "How well does the translation say what the source text says? Answer with one whole number from 0 (nothing of the "
    "meaning is there) to 100 (meaning and grammar are perfect), and nothing else.\n\n"
)
ERRORS = (
    "List the errors in the translation. Answer with a JSON array and nothing else: one object per error with the keys "
    '"span" (the words of the translation that are wrong, copied exactly; "" where something is missing) and '
    '"severity" ("minor", "major" or "critical"). A translation without errors is [].\n\n'
)
TEXTS = {
    "source": "Source text: {source}\n",
    "reference": "Reference translation: {reference}\n",
    "translation": "Translation: {translation}\n",
}
PLACE = re.compile(r"\{(source|reference|translation)\}")
THOUGHTS = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL)
FENCE = re.compile(r"\A```(?:json)?\s*(.*?)\s*```\Z", re.DOTALL)
NUMBER = re.compile(r"(\d{1,3}(?:\.\d+)?)(?:\s*/\s*100)?\.?")
PATIENCE, SHOWN = 20, 3
"""Answers that cannot be read, before any that can, after which a judge is given up; and how many of them are shown."""
REMEMBERED = 10_000
"""Answers kept in memory, so that error spans cost no second call."""


@dataclass(frozen=True)
class Opinion:
    """What the model said of one segment; `score` is None where it said nothing that counts."""

    score: float | None
    spans: tuple[Span, ...] = ()
    why: str = ""


class LlmJudge(MeanScorer):
    """The judgement of a chat model: 0 to 100, or minus the MQM penalty of the errors it finds (0 down to -25).

    The key is read from OPENAI_API_KEY; a local server may not need one. `prompt` is a file with the places `{source}`,
    `{translation}` and `{reference}`; those it has are what the scorer needs. `temperature=none` leaves the temperature
    to the server.
    """

    tells_sides_apart: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"source"})
    costly: ClassVar[bool] = True
    remote: ClassVar[bool] = True

    def __init__(
        self,
        model: str,
        base_url: str = ENDPOINT,
        style: Literal["score", "errors"] = "score",
        inputs: Literal["source", "reference", "all"] = "source",
        prompt: str | None = None,
        temperature: Annotated[float | None, Range(0, 2)] = 0.0,
        rate: Annotated[float | None, Range(0.001, 10_000)] = None,
        concurrent: Annotated[int, Range(1, 256)] = 4,
        retries: Annotated[int, Range(0, 20)] = 6,
        timeout: Annotated[float, Range(0.01, 3600)] = 120.0,
    ) -> None:
        own = base_url.rstrip("/") != ENDPOINT
        self._client = Client(Service("the chat server", "OPENAI_API_KEY", own, _verdict), rate, retries, timeout)
        self.url = self._client.address(base_url)
        self.model, self.style = model, style
        self.prompt = _written(style, inputs) if prompt is None else _read(prompt)
        self._temperature = temperature
        self._limits = Limits(texts=1, concurrent=concurrent)
        places = set(PLACE.findall(self.prompt))
        if "translation" not in places:
            raise UserError(f"llm-judge[prompt={prompt}] has no {{translation}}: say where the translation goes.")
        self.needs = frozenset(places - {"translation"})  # type: ignore[misc]  # the prompt decides
        self.refused: dict[str, int] = {}
        """How many segments have no score, by reason."""
        self._known: OrderedDict[bytes, Opinion] = OrderedDict()
        self._unread: list[str] | None = []
        """Answers that could not be read; None once one could."""

    @property
    def signature(self) -> str:
        """Model, server, style, temperature and the prompt's hash."""
        return signature(
            "llm-judge",
            model=self.model,
            url=self.url if self.url != ENDPOINT else None,
            style=self.style,
            temperature="server" if self._temperature is None else f"{self._temperature:g}",
            prompt=digest([self.prompt]),
        )

    @property
    def limits(self) -> Limits:
        """One segment a call, several calls at a time."""
        return self._limits

    def judge(self, questions: Questions) -> Array:
        """One score per segment, NaN where the model gave none."""
        found = [self._opinion(question).score for question in questions.one_by_one(self.needs)]
        return np.array([np.nan if score is None else score for score in found], dtype=np.float64)

    def statistics(self, questions: Questions) -> Array:
        """Rows of (score, 1); (0, 0) for a segment without a score, so that means leave it out."""
        scores = self.judge(questions)
        given = ~np.isnan(scores)
        return np.stack([np.where(given, scores, 0.0), given.astype(np.float64)], axis=1)

    @property
    def marks_errors(self) -> bool:
        """Whether the model is asked for errors."""
        return self.style == "errors"

    def remembers(self, question: Question) -> bool:
        """Whether the model's answer is still known."""
        return question.key in self._known

    def spans(self, questions: Questions) -> list[list[Span]]:
        """The errors that the model lists in each translation."""
        if not self.marks_errors:
            return super().spans(questions)
        return [list(self._opinion(question).spans) for question in questions.one_by_one(self.needs)]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _opinion(self, question: Question) -> Opinion:
        known = self._known.get(question.key)
        if known is None:
            known = self._asked(question)
            self._known[question.key] = known
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            if known.score is None:
                self.refused[known.why] = self.refused.get(known.why, 0) + 1
                remark(f"segments without a score by {self.name} because {known.why}", 1)
        return known

    def _asked(self, question: Question) -> Opinion:
        texts = {"translation": question.translation, "source": question.source or ""}
        texts["reference"] = (question.references or ("",))[0]
        content = PLACE.sub(lambda match: texts[match[1]], self.prompt)
        body: dict[str, Any] = {"model": self.model, "messages": [{"role": "user", "content": content}]}
        if self._temperature is not None:
            body["temperature"] = self._temperature
        key = self._client.key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            answer = self._client.post(Request(f"{self.url}/chat/completions", body, headers), SETTINGS.offline)
            return self._read_strictly(_spoken(answer.json), question.translation)
        except (UnusableError, TooLargeError) as error:
            return Opinion(None, why=str(error))

    def _read_strictly(self, said: str, translation: str) -> Opinion:
        """What an answer says; a judge whose first answers all say nothing is given up."""
        try:
            found = opinion(said, self.style, translation)
        except UnusableError:
            if self._unread is not None:
                self._unread.append(said)
                if len(self._unread) >= PATIENCE:
                    raise UserError(self._given_up(self._unread)) from None
            raise
        self._unread = None
        return found

    def _given_up(self, answers: Sequence[str]) -> str:
        wanted = "a number from 0 to 100" if self.style == "score" else "a JSON array of errors"
        shown = "; ".join(f"“{visible(text.strip()[:120])}”" for text in answers[:SHOWN])
        return (
            f"{self.name}: none of the first {len(answers)} answers is {wanted}: {shown}. "
            "Use another model, or a prompt that says more clearly what to answer."
        )


def opinion(answer: str, style: Literal["score", "errors"], translation: str) -> Opinion:
    """An answer read strictly: the number, or the list of errors, that was asked for."""
    said = THOUGHTS.sub("", answer).strip()
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
    """What the model said; a refusal, a filtered or a cut answer is none."""
    try:
        choice = body["choices"][0]
        message = choice["message"]
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            raise UnusableError("the model refused")
        if choice.get("finish_reason") == "length":
            raise UnusableError("the answer was cut off at the server's limit of tokens")
        if not isinstance(message["content"], str):
            raise TypeError
        return str(message["content"])
    except (KeyError, IndexError, TypeError, AttributeError):
        raise UnusableError("the answer is JSON without a message") from None


def _verdict(status: int, body: Any) -> Verdict:
    return Verdict.QUOTA if "insufficient_quota" in str(body) else usual_verdict(status, body)


def _written(style: str, inputs: str) -> str:
    """The prompt of our own for what the model is to see."""
    seen: Sequence[str] = ("source", "reference") if inputs == "all" else (inputs,)
    start = SCORE if style == "score" else ERRORS
    if inputs == "reference":
        start = start.replace("source text", "reference translation")
    return start + "".join(TEXTS[name] for name in (*seen, "translation"))


def _read(file: str) -> str:
    try:
        return text_of(file, "prompt")
    except (OSError, UserError) as problem:
        raise UserError(f"llm-judge[prompt={file}]: expected a text file with a prompt. {problem}") from None
