"""Any language model behind the chat protocol: OpenAI, or a server such as vLLM or llama.cpp by `base_url`.

Protocol: POST {base_url}/chat/completions with one conversation per text. How the model is asked stands in
`prompts`; the prompt's hash is in the signature.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Unpack

from babelquake.models.chat import (
    CHAT_TIMEOUT,
    ENDPOINT,
    THOUGHTS,
    ChatOptions,
    Cost,
    chat_request,
    chat_verdict,
    seed_of,
)
from babelquake.resource import Limits
from babelquake.spec import Range, signature
from babelquake.systems.prompts import (
    Prompt,
    PromptOptions,
    Reading,
    cost_in_tokens,
    inquiry,
    marked_as_cut,
    prompt_of,
    reading_of,
)
from babelquake.systems.remote import Remote, Request, UnusableError, Verdict

THINKING = re.compile(r"<(?:think|thinking|reasoning)>")
FILTERED = "content_filter"
CUT_OFF = "length"
LONGEST = 6000
"""Characters of a part of a document: about 1,500 tokens, which every chat model takes and answers."""


class OpenAIOptions(PromptOptions, ChatOptions):
    """What a chat model that translates can be told."""


class OpenAI(Remote):
    """A chat model. The key is read from OPENAI_API_KEY; a local server may not need one.

    Its prompt is described by `prompts.PromptOptions`, how it is asked by `chat.ChatOptions`. A document of more than
    `longest` characters is sent in parts.
    """

    label = "the chat server"
    endpoint = ENDPOINT
    variable = "OPENAI_API_KEY"
    key_optional = True
    batch = Limits(texts=1, concurrent=4)
    documents = True
    prompt: Prompt
    indifferent = Remote.indifferent | {"price_in", "price_out"}

    def __init__(
        self,
        model: str,
        source: str,
        target: str,
        base_url: str | None = None,
        seed: Annotated[int | None, Range(0, 2**31)] = None,
        longest: Annotated[int, Range(1, 10**7)] = LONGEST,
        **options: Unpack[OpenAIOptions],
    ) -> None:
        rate, concurrent = options.get("rate"), options.get("concurrent")
        retries, timeout = options.get("retries", 6), options.get("timeout", CHAT_TIMEOUT)
        super().__init__(source, target, base_url, rate, concurrent, retries, timeout)
        self.prompt = prompt_of("openai[…]", options)
        self.prompt_column = options.get("column")
        self._model, self._seed, self._longest = model, seed, longest
        self._temperature, self._max_tokens = options.get("temperature", 0.0), options.get("max_tokens")
        self._prices = options.get("price_in"), options.get("price_out")

    @property
    def signature(self) -> str:
        """Model, languages, server, sampling, and the hash of the prompt."""
        return signature(
            "openai",
            model=self._model,
            source=self.source,
            target=self.target,
            url=self.url if self.url != self.endpoint else None,
            temperature="server" if self._temperature is None else f"{self._temperature:g}",
            seed=self._seed,
            max_tokens=self._max_tokens,
            answer=self.prompt.answer if self.prompt.answer != "text" else None,
            prompt=self.prompt.hash,
        )

    def holds(self, text: str) -> bool:
        return len(text) <= self._longest

    def cost(self, asked: Sequence[str]) -> Cost:
        """Tokens of prompts and texts, and about as many for the answers as for the texts."""
        return cost_in_tokens(self.prompt, asked, self.source, self.target, *self._prices)

    def said(self, asked: Sequence[str]) -> list[str]:
        return self.exchange(asked)

    def reading(self, answer: str) -> Reading:
        """The translation in an answer, which must look as the prompt declares."""
        return reading_of(self.prompt.form, answer)

    def translate(self, texts: Sequence[str]) -> list[str]:
        """One translation per text; an answer of another form than declared stands as it is."""
        return [self.reading(answer).translation for answer in self.said(texts)]

    def request(self, texts: Sequence[str], key: str | None) -> Request:
        """The conversation with the text in place; every text and every repeat has its own seed."""
        (text,) = texts
        messages = self.prompt.messages(inquiry(text), self.source, self.target)
        seed = None if self._seed is None else seed_of(self._seed, text)
        sampling = {"temperature": self._temperature, "seed": seed, "max_tokens": self._max_tokens}
        return chat_request(self.url, self._model, messages, key, **sampling)

    def answers(self, body: Any) -> list[str]:
        """`{"choices": [{"message": {"content": …}}]}`; a refusal to translate is this model's answer too.

        What a model thinks aloud in front of its translation is left out. An answer that was filtered or is nothing
        but thinking is not a translation; one that ran out of tokens is marked as such.
        """
        choice = body["choices"][0]
        reason = choice.get("finish_reason")
        if reason == FILTERED:
            raise UnusableError("the server's content filter withheld the answer")
        message = choice["message"]
        content = message["content"] if message["content"] is not None else message["refusal"]
        spoken = THOUGHTS.sub("", content).strip()
        if THINKING.match(spoken):
            raise UnusableError("the answer is nothing but thinking")
        return [marked_as_cut(spoken) if reason == CUT_OFF and spoken else spoken]

    def verdict(self, status: int, body: Any) -> Verdict:
        return chat_verdict(status, body)
