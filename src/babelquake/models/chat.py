"""Chat models, for translators and judges alike: what they are sent, what that costs, what they say, here or elsewhere.

`LocalChat` is a decoder-only model of the transformers library, or a .gguf file of one. The conversation is written
with the model's chat template; the model goes on from there until it ends its turn, says a `stop` text, or has written
`max_new_tokens` – then its answer is marked as cut off. Conversations of the same number of tokens are decoded
together, so that nothing is padded. With a temperature every answer has its own random stream, keyed by the seed and
everything that was asked: neither order nor batches change it.
"""

import hashlib
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stderr
from difflib import get_close_matches
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

from babelquake.errors import UserError, did_you_mean
from babelquake.http import Request, Verdict, usual_verdict
from babelquake.limits import reading
from babelquake.models.loading import device_of, installed, offline, only_numbers, quietly
from babelquake.spec import Range

Message = dict[str, str]
"""One turn: `role` and `content`."""
CUT = "\x1e"
"""At the end of an answer that ran into the limit of tokens."""
THOUGHTS = re.compile(
    r"\A\s*(?:<(think|thinking|reasoning)>)?(?:(?!</?(?:think|thinking|reasoning)>).)*"
    r"</(?:think|thinking|reasoning)>",
    re.DOTALL,
)
"""Thinking in front of an answer; some servers swallow the tag that opens it."""
IN_BRACES = re.compile(r"\{\s*([A-Za-z][\w -]{0,40})\s*\}")
NEAR = 0.6
"""How alike a word in braces and a place must be for it to be a slip."""
BYTES_PER_TOKEN = 4
ENDPOINT = "https://api.openai.com/v1"
"""Where conversations go unless another server is named."""
PER_MESSAGE = 4
"""Tokens that the protocol adds to each message."""
LOCAL = "Works without a network: a folder, model=DIR, or a file, model=FILE.gguf."


class Cost(NamedTuple):
    """What it takes to have texts translated or judged; tokens are estimates, None where nobody counts them."""

    characters: int | None
    """None where the texts do not exist yet."""
    tokens: int | None = None
    """Of prompts, texts and answers."""
    dollars: float | None = None


class ChatOptions(TypedDict, total=False):
    """How a model behind the chat protocol is asked, and how often at the same time.

    `temperature=none` leaves the temperature to the server. `price_in` and `price_out` are dollars per million tokens,
    for `--dry-run`; `rate` is calls per second.
    """

    temperature: Annotated[float | None, Range(0, 2)]
    max_tokens: Annotated[int | None, Range(1, 10**6)]
    price_in: Annotated[float | None, Range(0, 10**6)]
    price_out: Annotated[float | None, Range(0, 10**6)]
    rate: Annotated[float | None, Range(0.001, 10_000)]
    concurrent: Annotated[int | None, Range(1, 256)]
    retries: Annotated[int, Range(0, 20)]
    timeout: Annotated[float, Range(0.01, 3600)]


CHAT_TIMEOUT = 120.0
"""Seconds that a chat model may think about one answer."""


def misspelt_place(prompt: str, places: Sequence[str]) -> str:
    """What to say of a place in a prompt that is spelt nearly like one of these; empty where there is none.

    Other words in braces stand as they are: they may be what an answer is to look like.
    """
    for found in IN_BRACES.finditer(prompt):
        if found[1] not in places and get_close_matches(found[1].casefold(), places, cutoff=NEAR):
            return f"the prompt has {found[0]}, which is not a place. {did_you_mean(found[1], places)}"
    return ""


def chat_request(url: str, model: str, messages: list[Message], key: str | None, **sampling: float | None) -> Request:
    """A conversation as OpenAI's protocol has it; what is not said of the sampling is left to the server."""
    given = {name: value for name, value in sampling.items() if value is not None}
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return Request(f"{url}/chat/completions", {"model": model, "messages": messages, **given}, headers)


def chat_verdict(status: int, body: Any) -> Verdict:
    """A spent quota is a 429 that waiting does not mend."""
    return Verdict.QUOTA if "insufficient_quota" in str(body) else usual_verdict(status, body)


def tokens_in(text: str) -> int:
    """About how many tokens a text has: one for four bytes of UTF-8, as vocabularies of chat models have it."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def tokens_sent(messages: Sequence[Message]) -> int:
    """About how many tokens a conversation has."""
    return sum(tokens_in(message["content"]) + PER_MESSAGE for message in messages)


def dollars(sent: int, answered: int, price_in: float | None, price_out: float | None) -> float | None:
    """What tokens cost at prices for a million of them; None where no price is known."""
    known = price_in is not None or price_out is not None
    return (sent * (price_in or 0) + answered * (price_out or 0)) / 1e6 if known else None


def seed_of(seed: int, asked: str) -> int:
    """The seed of one answer, keyed by all that was asked: two texts never share their draws, nor do repeats.

    With one seed for all, a perturbed text would be sampled like the clean one, and seem closer to it than the clean
    text is to itself when asked again.
    """
    key = hashlib.blake2b(f"{seed}\x1f{asked}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(key) % 2**31


def content_of(model: str) -> str:
    """A model's name, or a hash of its folder's or file's content: the same signature wherever it lies."""
    path = Path(model)
    if is_gguf(model) and path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()[:12]
    if not path.is_dir():
        return model
    state = hashlib.blake2b(digest_size=6)
    for each in sorted(each for each in path.iterdir() if each.is_file()):
        with each.open("rb") as file:
            state.update(each.name.encode() + hashlib.file_digest(file, "blake2b").digest())
    return state.hexdigest()


def is_gguf(model: str) -> bool:
    """Whether a model is a file of llama.cpp's."""
    return model.endswith(".gguf")


def pretrained(kind: str, model: str, revision: str | None, hint: str, **options: Any) -> Any:
    """What transformers' class of that name makes of a model; no code from its repository is run."""
    installed("transformers")
    import transformers

    path = Path(model)
    if path.is_file() and not is_gguf(model):
        raise UserError(
            f"{path} is a file, which cannot be loaded: expected a folder with config.json and weights "
            "(safetensors), a .gguf file, or a model's name on the hub."
        )
    if is_gguf(model):
        if path.parent.is_dir() and not path.is_file():
            raise UserError(f"{model} does not exist.")
        options["gguf_file"] = path.name
    more = "" if path.is_dir() else f" {hint}"
    silent: AbstractContextManager[object] = redirect_stderr(StringIO()) if is_gguf(model) else nullcontext()
    with reading(f"'{model}'", "a model of transformers", more, "loaded"), quietly(), silent, only_numbers(model):
        return getattr(transformers, kind).from_pretrained(
            str(path.parent) if is_gguf(model) else model,
            revision=revision,
            trust_remote_code=False,
            local_files_only=offline(),
            **options,
        )


def usual_precision(device: str) -> str:
    """In what numbers a network is computed there unless somebody says so: half precision on an accelerator."""
    if not device.startswith("cuda"):
        return "float32"
    import torch

    return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"


def on_device(network: Any, name: str, device: str, precision: str) -> Any:
    """A network where and how it is to be computed."""
    import torch

    try:
        return network.to(device=device, dtype=getattr(torch, precision)).eval()
    except RuntimeError as error:
        raise UserError(f"{name} does not go onto device '{device}': {error}") from None


class LocalChat:
    """A decoder-only model that answers conversations."""

    def __init__(
        self,
        model: str,
        temperature: float = 0.0,
        stop: str | None = None,
        max_new_tokens: int = 256,
        batch: int = 64,
        device: str = "auto",
        dtype: str = "auto",
        revision: str | None = None,
    ) -> None:
        self.model, self.temperature, self.stop = model, temperature, stop
        self.max_new_tokens, self.batch, self.revision = max_new_tokens, batch, revision
        self._device, self._dtype = device, dtype

    @cached_property
    def precision(self) -> str:
        """In what numbers it computes."""
        return usual_precision(device_of(self._device)) if self._dtype == "auto" else self._dtype

    @cached_property
    def tokenizer(self) -> Any:
        """Its tokenizer, with the chat template."""
        return pretrained("AutoTokenizer", self.model, self.revision, LOCAL)

    @cached_property
    def _network(self) -> Any:
        loaded = pretrained("AutoModelForCausalLM", self.model, self.revision, LOCAL)
        return on_device(loaded, self.model, device_of(self._device), self.precision)

    def close(self) -> None:
        """Give its memory back."""
        for name in ("tokenizer", "_network"):
            self.__dict__.pop(name, None)

    def tokens(self, conversations: Sequence[Sequence[Message]]) -> list[list[int]]:
        """The conversations up to where the model begins to answer; without a chat template, plain paragraphs."""
        tokenizer = self.tokenizer
        if getattr(tokenizer, "chat_template", None):
            texts = [
                tokenizer.apply_chat_template(list(one), tokenize=False, add_generation_prompt=True)
                for one in conversations
            ]
            return [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
        texts = ["\n\n".join(message["content"] for message in one) + "\n\n" for one in conversations]
        return [tokenizer(text)["input_ids"] for text in texts]

    def answers(self, tokens: Sequence[list[int]], seeds: Sequence[int]) -> list[str]:
        """What the model says to conversations; those of equal length go together, unless each is sampled."""
        import torch

        found = [""] * len(tokens)
        lengths: dict[int, list[int]] = {}
        for place, ids in enumerate(tokens):
            lengths.setdefault(len(ids), []).append(place)
        step = self.batch if self.temperature == 0 else 1
        with quietly():
            for places in lengths.values():
                for start in range(0, len(places), step):
                    part = places[start : start + step]
                    if self.temperature:
                        torch.manual_seed(seeds[part[0]])
                    for place, answer in zip(part, self._generated([tokens[one] for one in part]), strict=True):
                        found[place] = answer
        return found

    def _generated(self, tokens: list[list[int]]) -> list[str]:
        import torch

        model, tokenizer = self._network, self.tokenizer
        ids = torch.tensor(tokens, device=model.device)
        ends = tokenizer.eos_token_id
        sampling = {"do_sample": True, "temperature": self.temperature} if self.temperature else {"do_sample": False}
        start, stop = ids.shape[1], self.stop

        def ended(rows: Any, scores: Any, **_: Any) -> Any:
            """Which answers hold the stop text."""
            told = [stop is not None and stop in tokenizer.decode(row[start:]) for row in rows]
            return torch.tensor(told, device=rows.device)

        stopping = {"stopping_criteria": [ended]} if stop else {}
        with torch.inference_mode():
            found = model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=self.max_new_tokens,
                pad_token_id=tokenizer.pad_token_id if tokenizer.pad_token_id is not None else ends,
                num_beams=1,
                **sampling,
                **stopping,
            )
        return [self._spoken(row, tokenizer, model) for row in found[:, ids.shape[1] :].tolist()]

    def _spoken(self, row: list[int], tokenizer: Any, model: Any) -> str:
        """An answer without what ended it; marked where nothing did."""
        text = str(tokenizer.decode(row, skip_special_tokens=True))
        if self.stop and self.stop in text:
            return text.partition(self.stop)[0].strip()
        ends = model.generation_config.eos_token_id
        known = set(ends if isinstance(ends, list) else [ends]) | {tokenizer.eos_token_id}
        cut = len(row) >= self.max_new_tokens and not known & set(row)
        return text.strip() + (CUT if cut else "")
