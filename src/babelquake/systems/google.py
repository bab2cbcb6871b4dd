"""Google Cloud Translation – Basic (v2), the edition that works with an API key.

Protocol: POST https://translation.googleapis.com/language/translate/v2 with `q`, `source`, `target`, `format`.
"""

from collections.abc import Sequence
from typing import Any

from babelquake.resource import Limits
from babelquake.systems.remote import Remote, Request, Verdict


class Google(Remote):
    """Google's general model. Key in GOOGLE_API_KEY."""

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
