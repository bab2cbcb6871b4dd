"""LibreTranslate, on one's own machine or elsewhere: `libretranslate[url=https://…]`.

Protocol: POST /translate with `q` (a list), `source`, `target`, `format`, and `api_key` where the server wants one.
"""

from collections.abc import Sequence
from typing import Any

from babelquake.resource import Limits
from babelquake.systems.remote import Remote, Request


class LibreTranslate(Remote):
    """A LibreTranslate server. Key, where there is one, in LIBRETRANSLATE_API_KEY."""

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
