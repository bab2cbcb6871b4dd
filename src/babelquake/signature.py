"""Signatures: one line that says exactly how a number was made (in the manner of sacreBLEU).

`part|key:value|…` – names with their options, then facts such as seed, precision, data hash and versions.
"""

from babelquake.version import VERSION


def signature(*parts: object, **facts: object) -> str:
    """Join names and facts in the order given; facts that are None are left out."""
    named = [f"{key}:{value}" for key, value in facts.items() if value is not None]
    return "|".join([*(str(part) for part in parts), *named])


def run_signature(*parts: object, **facts: object) -> str:
    """A signature that ends with babelquake's own version."""
    return signature(*parts, **facts, babelquake=VERSION)
