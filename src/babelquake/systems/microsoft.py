"""Microsoft (Azure AI) Translator, text translation v3.0.

Protocol: POST https://api.cognitive.microsofttranslator.com/translate?api-version=3.0&from=…&to=… with `[{"Text": …}]`.
"""

import os
from collections.abc import Sequence
from typing import Any

from babelquake.resource import Limits
from babelquake.systems.remote import Remote, Request, Verdict

REGION = "AZURE_TRANSLATOR_REGION"
CODES = {"zh": "zh-Hans", "no": "nb"}
"""Languages that Microsoft writes differently."""


class Microsoft(Remote):
    """Microsoft's general model. Key in AZURE_TRANSLATOR_KEY, and for a regional one AZURE_TRANSLATOR_REGION."""

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
