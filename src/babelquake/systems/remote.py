"""Translation services behind HTTP, and what all systems there share: cutting requests, sorting answers, and what
becomes of texts that get none.

A provider's class says how a request looks, where the translations are in the answer, and what its error codes mean. An
answer is looked at before anybody keeps it. Texts whose translation is missing or no good are asked again, each alone,
so that one of them cannot spoil the others; those that stay without one are named in an `UnansweredError`, beside what
was translated. Of an answer that was cut off, the whole part is kept. An answer of the wrong length belongs to nobody
for sure: its texts are asked again in halves, then alone, so that nothing is charged more than a few times.
"""

import os
import threading
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from babelquake.errors import ResumableError, UnansweredError
from babelquake.http import Client, Request, Service, TooLargeError, UnusableError, Verdict, usual_verdict
from babelquake.languages import Language
from babelquake.models.chat import ENDPOINT
from babelquake.resource import SETTINGS, Limits
from babelquake.spec import Range, signature
from babelquake.systems.base import System
from babelquake.text import is_whole

__all__ = ["Remote", "Request", "UnusableError", "Verdict"]

ALONE = 3
"""Times a text is asked for alone before it counts as one without a translation."""
IN_A_ROW = 10
"""Texts in a row without a translation after which the service, not the text, is to blame."""


WITH_KEY = frozenset({ENDPOINT})
"""Addresses that answer nobody without a key, of services that other servers offer without one."""


class Remote(System):
    """A system behind HTTP. `rate` is calls per second, `concurrent` calls at the same time, `url` another endpoint."""

    remote = True
    indifferent = frozenset({"rate", "concurrent", "retries", "timeout"})
    label: ClassVar[str]
    """The provider as errors name it."""
    endpoint: ClassVar[str]
    """Where requests go unless `url` says otherwise."""
    variable: ClassVar[str]
    """The environment variable that holds the key."""
    key_optional: ClassVar[bool] = False
    """Whether the provider may be asked without a key."""
    batch: ClassVar[Limits]
    """The provider's documented limits for one request."""

    def __init__(
        self,
        source: str,
        target: str,
        url: str | None = None,
        rate: Annotated[float | None, Range(0.001, 10_000)] = None,
        concurrent: Annotated[int | None, Range(1, 256)] = None,
        retries: Annotated[int, Range(0, 20)] = 6,
        timeout: Annotated[float, Range(0.01, 3600)] = 60.0,
    ) -> None:
        self.source = source
        self.target = target
        keyless = self.key_optional and (url or self.endpoint).rstrip("/") not in WITH_KEY
        self._client = Client(Service(self.label, self.variable, keyless, self.verdict), rate, retries, timeout)
        self.url = self._client.address(url or self.endpoint)
        self._limits = replace(self.batch, concurrent=concurrent or self.batch.concurrent)
        self._fruitless = 0
        self.resent = 0
        """Characters that had to be sent more than once."""
        self._lock = threading.Lock()

    @abstractmethod
    def request(self, texts: Sequence[str], key: str | None) -> Request:
        """The provider's request for these texts."""

    @abstractmethod
    def answers(self, body: Any) -> list[Any]:
        """The translations in the provider's answer; KeyError, IndexError or TypeError when they are not there.

        UnusableError where the provider itself says that its answer is not a translation.
        """

    def verdict(self, status: int, body: Any) -> Verdict:
        """What an HTTP error means; providers add their own codes."""
        return usual_verdict(status, body)

    @property
    def limits(self) -> Limits:
        """The provider's limits, with the user's concurrency; smaller once the provider has asked for less."""
        return self._limits

    @property
    def signature(self) -> str:
        """Provider, languages and, where it is not the usual one, the endpoint."""
        elsewhere = self.url if self.url != self.endpoint.rstrip("/") else None
        return signature(type(self).__name__.lower(), source=self.source, target=self.target, url=elsewhere)

    def translate(self, texts: Sequence[str]) -> list[str]:
        return self.exchange(texts)

    def exchange(self, texts: Sequence[str]) -> list[str]:
        """One answer per text; a text twice is sent once, blank ones not at all."""
        done = {text: text for text in texts if not text.strip()}
        reasons: dict[str, str] = {}
        try:
            for batch in self._batches([text for text in dict.fromkeys(texts) if text not in done], reasons):
                self._ask(batch, done, reasons)
        except ResumableError as error:
            error.answers.update(done)
            raise
        if reasons:
            text, why = next(iter(reasons.items()))
            raise UnansweredError(
                f"{self.label} gave no usable translation of {len(reasons)} texts, of “{_short(text)}” because {why}.",
                done,
                reasons,
            )
        return [done[text] for text in texts]

    def close(self) -> None:
        self._client.close()

    def _batches(self, texts: Sequence[str], reasons: dict[str, str]) -> Iterator[list[str]]:
        """Cut texts so that every call is within the limits; a text that no call can hold gets its reason."""
        batch: list[str] = []
        size = 0
        for text in texts:
            most = self._limits.characters or float("inf")
            if len(text) > (self.batch.characters or float("inf")):
                reasons[text] = f"{self.label} takes {self.batch.characters:,} characters at once, it has {len(text):,}"
                continue
            if batch and (len(batch) >= self._limits.texts or size + len(text) > most):
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += len(text)
        if batch:
            yield batch

    def _ask(self, texts: list[str], done: dict[str, str], reasons: dict[str, str], halved: bool = False) -> None:
        """Translate texts into `done`, or explain in `reasons` why not."""
        try:
            good, bad = self._sorted(texts)
        except TooLargeError as error:
            if len(texts) == 1:
                reasons[texts[0]] = str(error)
                return
            self._ask_for_less(texts)
            for half in _halves(texts):
                self._ask(half, done, reasons, halved)
            return
        done.update(good)
        if len(bad) == len(texts) > 1 and not halved:
            self._count_again(texts)
            for half in _halves(texts):
                self._ask(half, done, reasons, halved=True)
            return
        for text, why in bad.items():
            self._ask_alone(text, why, 1 if len(texts) == 1 else 0, done, reasons)

    def _ask_alone(self, text: str, why: str, asked: int, done: dict[str, str], reasons: dict[str, str]) -> None:
        for attempt in range(asked, ALONE):
            self._client.back_off(attempt + 1)
            self._count_again([text])
            try:
                good, bad = self._sorted([text])
            except TooLargeError as error:
                why = str(error)
                break
            if good:
                done.update(good)
                return
            why = bad[text]
        reasons[text] = why
        with self._lock:
            self._fruitless += 1
            hopeless = self._fruitless >= IN_A_ROW
        if hopeless:
            raise ResumableError(
                f"{self.label} gave no usable translation of {IN_A_ROW} texts in a row, of “{_short(text)}” because "
                f"{why}. The same command continues from here."
            )

    def _sorted(self, texts: list[str]) -> tuple[dict[str, str], dict[str, str]]:
        """One request: translations by text, and reasons by text where there is none."""
        try:
            answer = self._client.post(self.request(texts, self._client.key), SETTINGS.offline)
            answers = self.answers(answer.json)
            if not isinstance(answers, list):
                raise TypeError
        except UnusableError as error:
            return {}, dict.fromkeys(texts, str(error))
        except (KeyError, IndexError, TypeError, AttributeError):
            return {}, dict.fromkeys(texts, "the answer is JSON without translations")
        missing = len(texts) - len(answers)
        if missing < 0 or (missing and not answer.cut):
            return {}, dict.fromkeys(texts, f"the answer has {len(answers)} translations for {len(texts)} texts")
        bad = dict.fromkeys(texts[len(answers) :], f"the answer {answer.cut}")
        good = {}
        for text, translation in zip(texts, answers, strict=False):
            if why := fault(translation):
                bad[text] = why
            else:
                good[text] = translation
        if good:
            with self._lock:
                self._fruitless = 0
        return good, bad

    def _count_again(self, texts: list[str]) -> None:
        with self._lock:
            self.resent += sum(map(len, texts))

    def _ask_for_less(self, texts: list[str]) -> None:
        """Remember that this much was too much."""
        texts_at_once = max(1, len(texts) // 2)
        characters = max(1, sum(map(len, texts)) // 2)
        with self._lock:
            known = self._limits.characters
            self._limits = replace(
                self._limits,
                texts=min(self._limits.texts, texts_at_once),
                characters=characters if known is None else min(known, characters),
            )


def fault(translation: Any) -> str:
    """Why this is not a translation of a text that is not blank; empty when it may be one."""
    if not isinstance(translation, str):
        return f"the translation is {type(translation).__name__}, not a text"
    if not is_whole(translation):
        return "the translation contains an unpaired surrogate"
    return "" if translation.strip() else "the translation is empty"


def _halves(texts: list[str]) -> tuple[list[str], list[str]]:
    middle = len(texts) // 2
    return texts[:middle], texts[middle:]


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


class Google(Remote):
    """Google's general model. Key in GOOGLE_API_KEY.

    Cloud Translation – Basic (v2), the edition that works with an API key: POST with `q`, `source`, `target`, `format`.
    """

    price_per_million = 20.0
    label = "Google"
    endpoint = "https://translation.googleapis.com/language/translate/v2"
    variable = "GOOGLE_API_KEY"
    batch = Limits(texts=128, characters=5_000, concurrent=4)
    """128 segments at most; 5,000 code points are the recommended length of a request."""

    def request(self, texts: Sequence[str], key: str | None) -> Request:
        """Plain text, so that no HTML entities come back."""
        json = {"q": list(texts), "source": self.source, "target": self.target, "format": "text"}
        return Request(self.url, json, {"X-Goog-Api-Key": key or ""})

    def answers(self, body: Any) -> list[str]:
        """`{"data": {"translations": [{"translatedText": …}]}}`"""
        return [translation["translatedText"] for translation in body["data"]["translations"]]

    def verdict(self, status: int, body: Any) -> Verdict:
        """403 is a wrong key, a spent day or a spent minute, 400 may be a wrong key: the reason says which."""
        said = str(body).lower().replace(" ", "")
        if status == 403 and "dailylimitexceeded" in said:
            return Verdict.QUOTA
        if status == 403 and "ratelimitexceeded" in said:
            return Verdict.AGAIN
        if status == 400 and ("apikeynotvalid" in said or "api_key_invalid" in said):
            return Verdict.KEY
        return super().verdict(status, body)


REGION = "AZURE_TRANSLATOR_REGION"
CODES = {"zh": "zh-Hans", "no": "nb"}
"""Languages that Microsoft writes differently."""


class Microsoft(Remote):
    """Microsoft's general model. Key in AZURE_TRANSLATOR_KEY, and for a regional one AZURE_TRANSLATOR_REGION.

    Azure AI Translator v3.0: POST /translate?api-version=3.0&from=…&to=… with `[{"Text": …}]`.
    """

    price_per_million = 10.0
    label = "Microsoft Translator"
    endpoint = "https://api.cognitive.microsofttranslator.com"
    variable = "AZURE_TRANSLATOR_KEY"
    batch = Limits(texts=1000, characters=50_000, concurrent=4)

    def request(self, texts: Sequence[str], key: str | None) -> Request:
        """Key and region travel in headers."""
        headers = {"Ocp-Apim-Subscription-Key": key or ""}
        if region := os.environ.get(REGION, "").strip():
            headers["Ocp-Apim-Subscription-Region"] = region
        source, target = (CODES.get(code, code) for code in (self.source, self.target))
        params = {"api-version": "3.0", "from": source, "to": target, "textType": "plain"}
        return Request(f"{self.url}/translate", [{"Text": text} for text in texts], headers, params)

    def answers(self, body: Any) -> list[str]:
        """`[{"translations": [{"text": …, "to": …}]}]`"""
        return [entry["translations"][0]["text"] for entry in body]

    def verdict(self, status: int, body: Any) -> Verdict:
        """403001: the free quota is spent. Other codes begin with the HTTP status."""
        return Verdict.QUOTA if "403001" in str(body) else super().verdict(status, body)


FREE = "https://api-free.deepl.com/v2/translate"
TARGETS = {"EN": "EN-US", "PT": "PT-PT", "NO": "NB"}
"""Targets for which DeepL wants a variant, and the one a bare language code means here."""


class DeepL(Remote):
    """DeepL's current model for the pair. Key in DEEPL_AUTH_KEY.

    API v2, Free and Pro; keys of the free plan end in `:fx` and have their own host: POST with `text`, `source_lang`,
    `target_lang`.
    """

    price_per_million = 25.0
    label = "DeepL"
    endpoint = "https://api.deepl.com/v2/translate"
    variable = "DEEPL_AUTH_KEY"
    batch = Limits(texts=50, characters=30_000, concurrent=4)
    """50 texts and 128 KiB at most, which hold 30,000 characters of any script."""

    def request(self, texts: Sequence[str], key: str | None) -> Request:
        """The key decides between the free and the paid host."""
        free = self.url == self.endpoint and (key or "").endswith(":fx")
        target = Language(self.target).upper()
        json = {
            "text": list(texts),
            "source_lang": Language(self.source).code.upper(),
            "target_lang": TARGETS.get(target, target),
        }
        return Request(FREE if free else self.url, json, {"Authorization": f"DeepL-Auth-Key {key}"})

    def answers(self, body: Any) -> list[str]:
        """`{"translations": [{"text": …}]}`"""
        return [translation["text"] for translation in body["translations"]]

    def verdict(self, status: int, body: Any) -> Verdict:
        """456 is DeepL's own code for a spent quota."""
        return Verdict.QUOTA if status == 456 else super().verdict(status, body)


class LibreTranslate(Remote):
    """A LibreTranslate server, your own or another: `url=https://…`. Key, if it wants one, in LIBRETRANSLATE_API_KEY.

    POST /translate with `q` (a list), `source`, `target`, `format` and `api_key`.
    """

    label = "LibreTranslate"
    endpoint = "http://localhost:5000"
    variable = "LIBRETRANSLATE_API_KEY"
    key_optional = True
    batch = Limits(texts=32, characters=5_000)
    """A server's operator sets the limits; these are customary on public ones."""

    def request(self, texts: Sequence[str], key: str | None) -> Request:
        """The key is part of the body."""
        json: dict[str, Any] = {"q": list(texts), "source": self.source, "target": self.target, "format": "text"}
        return Request(f"{self.url}/translate", json | ({"api_key": key} if key else {}))

    def answers(self, body: Any) -> list[str]:
        """`{"translatedText": […]}`, a list because `q` is one; a server that answers with one text is no use."""
        found = body["translatedText"]
        if not isinstance(found, list):
            raise TypeError("one text where a list belongs")
        return found
