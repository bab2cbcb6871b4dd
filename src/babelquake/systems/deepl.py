"""DeepL API v2, Free and Pro; keys of the free plan end in `:fx` and have their own host.

Protocol: POST https://api.deepl.com/v2/translate with `text`, `source_lang`, `target_lang`.
"""

from collections.abc import Sequence
from typing import Any

from babelquake.languages import Language
from babelquake.resource import Limits
from babelquake.systems.remote import Remote, Request, Verdict

FREE = "https://api-free.deepl.com/v2/translate"
TARGETS = {"EN": "EN-US", "PT": "PT-PT", "NO": "NB"}
"""Targets for which DeepL wants a variant, and the one a bare language code means here."""


class DeepL(Remote):
    """DeepL's current model for the pair. Key in DEEPL_AUTH_KEY."""

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
