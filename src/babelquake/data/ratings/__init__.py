"""Human ratings of translations, read from whatever the field exports: `read_ratings(path)`."""

from babelquake.data.ratings.reading import read_ratings
from babelquake.data.ratings.table import COUNTED, RATINGS, SEGMENT_MEANS, Ratings, ratings_frame

__all__ = ["COUNTED", "RATINGS", "SEGMENT_MEANS", "Ratings", "ratings_frame", "read_ratings"]
