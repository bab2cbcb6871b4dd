"""Compiled code works where nothing can be kept on disk."""

from collections.abc import Callable
from typing import Any

from babelquake.compiled import compiled


def test_a_function_without_a_file_to_cache_beside_is_compiled_all_the_same() -> None:
    namespace: dict[str, Callable[..., Any]] = {}
    exec("def double(number):\n    return 2 * number", namespace)
    assert compiled(namespace["double"])(21) == 42
