"""A careful HTTP client for paid services, whatever they answer: translations for a system, judgements for a scorer."""

from babelquake.http.client import (
    Answer,
    Client,
    Request,
    Service,
    TooLargeError,
    UnusableError,
    Verdict,
    usual_verdict,
)

__all__ = ["Answer", "Client", "Request", "Service", "TooLargeError", "UnusableError", "Verdict", "usual_verdict"]
