"""SiameseTransQuest's sentence vectors as an encoder: each source and translation is encoded once."""

from babelquake.models.published import PublishedEncoder
from babelquake.models.transquest import FILES, SiameseTransQuest


class SiameseEncoder(PublishedEncoder[SiameseTransQuest]):
    """The mean of an XLM-R's token vectors, trained so that cosines follow human judgements."""

    metric = "transquest"
    owner = "TransQuest"
    files = FILES

    def load(self, device: str) -> SiameseTransQuest:
        """The network of two equal towers."""
        return SiameseTransQuest(self.checkpoint.folder, self.precision, device)
