"""COMET's sentence vectors as an encoder: the engine encodes each source, reference and translation once."""

from babelquake.models.comet import Network
from babelquake.models.comet_settings import FILES, settings
from babelquake.models.precision import Precision
from babelquake.models.published import PublishedEncoder


class CometEncoder(PublishedEncoder[Network]):
    """The encoder of a COMET checkpoint, its layers mixed and its tokens pooled as trained."""

    metric = "comet"
    owner = "Unbabel"
    files = FILES

    def __init__(
        self,
        model: str,
        encoder: str | None = None,
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        super().__init__(model, precision, device)
        self.settings = settings(self.checkpoint.folder)
        self._below = encoder

    def load(self, device: str) -> Network:
        """The encoder below, the mixture and the estimator."""
        return Network(self.checkpoint.folder, self._below, self.precision, device)
