"""What stands between the project and the rest of the world: headers, form signatures, limits."""

import hashlib
import hmac
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex, nofollow",
}
LARGEST_BODY = 128 * 1024
OLDEST_FORM = 12 * 3600.0
"""Seconds for which a form that was shown can be sent."""
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class SecureHeaders:
    """Adds the headers to every answer, errors included, and turns away bodies that are too large."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def secured(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                if scope.get("scheme") == "https":
                    extra.append((b"strict-transport-security", b"max-age=31536000"))
                message["headers"] = [*message["headers"], *(pair for pair in extra if pair[0] not in given)]
            await send(message)

        await self.app(scope, receive, secured)


def sign(secret: str, *parts: object) -> str:
    """A signature only this project can make; what it covers cannot be changed or used elsewhere."""
    text = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def signed(secret: str, signature: str, *parts: object) -> bool:
    """Whether a signature covers these parts."""
    return hmac.compare_digest(sign(secret, *parts).encode(), signature.encode("utf-8", "surrogatepass"))


class Limiter:
    """A bucket per key that refills steadily: so many at once, so many a second in the long run."""

    def __init__(self, burst: float, per_second: float, keys: int = 10_000) -> None:
        self.burst, self.per_second, self.keys = burst, per_second, keys
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, key: str, cost: float = 1.0) -> bool:
        """Take from the key's bucket; False where it does not hold enough. Cost 0 only looks."""
        now = time.monotonic()
        level, since = self._buckets.get(key, (self.burst, now))
        level = min(self.burst, level + (now - since) * self.per_second)
        enough = level >= max(cost, 1.0)
        self._buckets[key] = (level - cost if enough else level, now)
        self._buckets.move_to_end(key)
        while len(self._buckets) > self.keys:
            self._buckets.popitem(last=False)
        return enough
