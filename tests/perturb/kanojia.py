"""The translations of Kanojia 2021, Tables 2 and 3."""

UKIP = (
    "In the 2014 European Parliamentary elections, UKIP, party of extreā dreaptā, obtained more than 20 seats "
    "in the European Parliament."
)
BLACKWOOD = (
    "At a hearing in December, Blackwood said he had not intended to offend Buddhism when he posted the image, and "
    "after realizing it had caused widespread outrage, deleted it and issued an apology."
)
