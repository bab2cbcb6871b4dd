"""Any language model behind the chat protocol: OpenAI, or a server such as vLLM by `base_url`.

Protocol: POST {base_url}/chat/completions with one user message per text. Prompt and temperature are in the signature.
"""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.resource import Limits
from babelquake.signature import signature
from babelquake.spec import Range
from babelquake.systems.remote import Remote, Request, UnusableError, Verdict

PROMPT = "Translate the following text from {source} into {target}. Reply with the translation only.\n\n{text}"
THOUGHTS = re.compile(
    r"\A\s*(?:<(think|thinking|reasoning)>)?(?:(?!</?(?:think|thinking|reasoning)>).)*"
    r"</(?:think|thinking|reasoning)>",
    re.DOTALL,
)
"""Thinking in front of an answer; some servers swallow the tag that opens it."""
THINKING = re.compile(r"<(?:think|thinking|reasoning)>")
NO_ANSWER = {
    "length": "the answer was cut off at the server's limit of tokens",
    "content_filter": "the server's content filter withheld the answer",
}
"""Finish reasons of answers that are no translation."""
PLACEHOLDER = re.compile(r"\{(source|target|text)\}")
LANGUAGES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fi": "Finnish",
    "fr": "French",
    "gu": "Gujarati",
    "ha": "Hausa",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "kk": "Kazakh",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "ne": "Nepali",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "si": "Sinhala",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sv": "Swedish",
    "sw": "Swahili",
    "ta": "Tamil",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
"""Names for the prompt; a code that is not here is used as it is."""


class OpenAI(Remote):
    """A chat model. Key in OPENAI_API_KEY, which servers of one's own need not want.

    A `prompt` of one's own has the places `{text}`, `{source}` and `{target}`. `temperature=none` leaves the
    temperature to the server, for models that accept no other.
    """

    label = "the chat server"
    endpoint = "https://api.openai.com/v1"
    variable = "OPENAI_API_KEY"
    key_optional = True
    batch = Limits(texts=1, concurrent=4)

    def __init__(
        self,
        model: str,
        source: str,
        target: str,
        base_url: str | None = None,
        prompt: str = PROMPT,
        temperature: Annotated[float | None, Range(0, 2)] = 0.0,
        rate: Annotated[float | None, Range(0.001, 10_000)] = None,
        concurrent: Annotated[int | None, Range(1, 256)] = None,
        retries: Annotated[int, Range(0, 20)] = 6,
        timeout: Annotated[float, Range(0.01, 3600)] = 120.0,
    ) -> None:
        super().__init__(source, target, base_url, rate, concurrent, retries, timeout)
        if "{text}" not in prompt:
            raise UserError("openai[prompt=…] has no {text}: say where the text goes.")
        self._model = model
        self._prompt = prompt
        self._temperature = temperature

    @property
    def signature(self) -> str:
        """Model, languages, server, temperature and the whole prompt."""
        return signature(
            "openai",
            model=self._model,
            source=self.source,
            target=self.target,
            url=self.url if self.url != self.endpoint else None,
            temperature="server" if self._temperature is None else f"{self._temperature:g}",
            prompt=json.dumps(self._prompt, ensure_ascii=False),
        )

    def request(self, texts: Sequence[str], key: str | None) -> Request:
        """The prompt with the text in place, as the user's only message."""
        (text,) = texts
        places = {"source": _language(self.source), "target": _language(self.target), "text": text}
        content = PLACEHOLDER.sub(lambda match: places[match[1]], self._prompt)
        body: dict[str, Any] = {"model": self._model, "messages": [{"role": "user", "content": content}]}
        if self._temperature is not None:
            body["temperature"] = self._temperature
        return Request(f"{self.url}/chat/completions", body, {"Authorization": f"Bearer {key}"} if key else {})

    def answers(self, body: Any) -> list[str]:
        """`{"choices": [{"message": {"content": …}}]}`; a refusal to translate is this model's answer too.

        What a model thinks aloud in front of its translation is left out. An answer that ran out of tokens, was
        filtered or is nothing but thinking is no translation.
        """
        choice = body["choices"][0]
        if (reason := choice.get("finish_reason")) in NO_ANSWER:
            raise UnusableError(NO_ANSWER[reason])
        message = choice["message"]
        content = message["content"] if message["content"] is not None else message["refusal"]
        spoken = THOUGHTS.sub("", content).strip()
        if THINKING.match(spoken):
            raise UnusableError("the answer is nothing but thinking")
        return [spoken]

    def verdict(self, status: int, body: Any) -> Verdict:
        """A spent quota is a 429 that waiting does not mend."""
        return Verdict.QUOTA if "insufficient_quota" in str(body) else super().verdict(status, body)


def _language(code: str) -> str:
    found = Language.known(code)
    return LANGUAGES.get(found.code, code) if found else code
