"""Tokenizers as their checkpoint has them.

`tokenizer.json` is taken word for word: some transformers classes rebuild parts of it from their own idea of the model,
and other tokens are other scores. Where a checkpoint has none, the class makes one of the vocabulary.
"""

from collections.abc import Sequence
from typing import Any

from babelquake.models.settings import offline
from babelquake.paths import table_of_room


def tokenizer(where: str, kind: str) -> Any:
    """The fast tokenizer of a folder or hub name; `kind` is the class to use where there is no `tokenizer.json`."""
    import transformers

    marks = table_of_room("models", "tokenizing")[kind]
    verbatim: Any = transformers.PreTrainedTokenizerFast
    try:
        found = verbatim.from_pretrained(where, local_files_only=offline(), **marks)
        if found.get_vocab():
            return found
    except (OSError, ValueError, TypeError, AttributeError):
        pass
    return getattr(transformers, kind).from_pretrained(where, local_files_only=offline())


def started(backend: Any) -> None:
    """Start a compiled tokenizer's threads while a model is loaded.

    Where they find no memory later on, the library ends the process or waits for threads that never came.
    """
    try:
        backend.encode_batch_fast(["", ""])
    except BaseException as error:  # what a panic of the library is
        if type(error).__name__ != "PanicException":
            raise
        raise MemoryError("out of memory: the tokenizer's threads cannot be started") from None


def cut_pair(first: Sequence[int], second: Sequence[int], room: int) -> tuple[list[int], list[int]]:
    """Two texts cut to a common length, token by token from whichever is longer, from the second where they are equal.

    So does BERT's own code, and with it BLEURT and TransQuest.
    """
    a, b = len(first), len(second)
    surplus = a + b - room
    if surplus > 0:
        longer = min(surplus, abs(a - b))
        a, b = (a - longer, b) if a > b else (a, b - longer)
        rest = surplus - longer
        b -= (rest + 1) // 2
        a -= rest // 2
    return list(first[:a]), list(second[:b])


def beginning(tokenizer: Any, text: str, tokens: int) -> str:
    """The part of a text that its first tokens stand for.

    A tokenizer that cuts a pair also keeps what it cuts off, in every combination of windows: two texts of 100,000
    characters would take some ten gigabytes.
    """
    if not tokenizer.is_fast:
        return text
    spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)["offset_mapping"]
    return text[: spans[tokens - 1][1]] if len(spans) > tokens else text
