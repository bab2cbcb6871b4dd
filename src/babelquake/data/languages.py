"""Language codes, and the language pair a file or folder name tells."""

import re
from collections.abc import Iterable
from pathlib import Path

from babelquake.errors import UserError

TWO_LETTERS = frozenset((
    "aa", "ab", "af", "ak", "am", "an", "ar", "as", "av", "ay", "az", "ba", "be", "bg", "bh", "bi", "bm", "bn",
    "bo", "br", "bs", "ca", "ce", "ch", "co", "cr", "cs", "cu", "cv", "cy", "da", "de", "dv", "dz", "ee", "el",
    "en", "eo", "es", "et", "eu", "fa", "ff", "fi", "fj", "fo", "fr", "fy", "ga", "gd", "gl", "gn", "gu", "gv",
    "ha", "he", "hi", "ho", "hr", "ht", "hu", "hy", "hz", "ia", "id", "ie", "ig", "ii", "ik", "io", "is", "it",
    "iu", "ja", "jv", "ka", "kg", "ki", "kj", "kk", "kl", "km", "kn", "ko", "kr", "ks", "ku", "kv", "kw", "ky",
    "la", "lb", "lg", "li", "ln", "lo", "lt", "lu", "lv", "mg", "mh", "mi", "mk", "ml", "mn", "mr", "ms", "mt",
    "my", "na", "nb", "nd", "ne", "ng", "nl", "nn", "no", "nr", "nv", "ny", "oc", "oj", "om", "or", "os", "pa",
    "pi", "pl", "ps", "pt", "qu", "rm", "rn", "ro", "ru", "rw", "sa", "sc", "sd", "se", "sg", "sh", "si", "sk",
    "sl", "sm", "sn", "so", "sq", "sr", "ss", "st", "su", "sv", "sw", "ta", "te", "tg", "th", "ti", "tk", "tl",
    "tn", "to", "tr", "ts", "tt", "tw", "ty", "ug", "uk", "ur", "uz", "ve", "vi", "vo", "wa", "wo", "xh", "yi",
    "yo", "za", "zh", "zu",
))  # fmt: skip
THREE_LETTERS = {
    "afr": "af", "amh": "am", "ara": "ar", "arb": "ar", "asm": "as", "aze": "az", "bel": "be", "ben": "bn", "bos": "bs",
    "bul": "bg", "cat": "ca", "ces": "cs", "cze": "cs", "chi": "zh", "zho": "zh", "cmn": "zh", "cym": "cy", "dan": "da",
    "deu": "de", "ger": "de", "ell": "el", "gre": "el", "eng": "en", "epo": "eo", "est": "et", "ekk": "et", "eus": "eu",
    "fas": "fa", "pes": "fa", "fin": "fi", "fra": "fr", "fre": "fr", "gle": "ga", "glg": "gl", "guj": "gu", "hau": "ha",
    "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "ibo": "ig", "ind": "id", "isl": "is", "ice": "is",
    "ita": "it", "jpn": "ja", "kan": "kn", "kat": "ka", "kaz": "kk", "khm": "km", "kor": "ko", "lao": "lo", "lav": "lv",
    "lvs": "lv", "lit": "lt", "mal": "ml", "mar": "mr", "mkd": "mk", "mlt": "mt", "mon": "mn", "msa": "ms", "mya": "my",
    "nep": "ne", "npi": "ne", "nld": "nl", "dut": "nl", "nor": "no", "nob": "nb", "nno": "nn", "ori": "or", "pan": "pa",
    "pol": "pl", "por": "pt", "pus": "ps", "ron": "ro", "rum": "ro", "rus": "ru", "sin": "si", "slk": "sk", "slv": "sl",
    "som": "so", "spa": "es", "sqi": "sq", "srp": "sr", "swa": "sw", "swh": "sw", "swe": "sv", "tam": "ta", "tel": "te",
    "tgl": "tl", "tha": "th", "tur": "tr", "ukr": "uk", "urd": "ur", "uzb": "uz", "vie": "vi", "xho": "xh", "yor": "yo",
    "zul": "zu",
}  # fmt: skip
LANGUAGE_NAMES = {
    "chinese": "zh", "czech": "cs", "french": "fr", "german": "de", "hindi": "hi", "italian": "it", "japanese": "ja",
    "polish": "pl", "russian": "ru", "spanish": "es", "english": "en",
}  # fmt: skip

HYPHENATED = re.compile(r"(?<![a-z])([a-z]{2,3})-([a-z]{2,3})(?![a-z])", re.IGNORECASE)
MLQE_NAME = re.compile(r"^(?:train|dev|test\d*)\.([a-z]{2})([a-z]{2})\.")
GIVEN = re.compile(r"^([a-z]{2,3})((?:[_-][A-Z][A-Za-z]+)?)-([a-z]{2,3})((?:[_-][A-Z][A-Za-z]+)?)$")


def code(text: str) -> str | None:
    """The code babelquake uses for a language: two letters where there are two (`deu` → `de`), None if unknown."""
    lower = text.lower()
    return lower if lower in TWO_LETTERS else THREE_LETTERS.get(lower)


def named(text: str) -> str | None:
    """The code of a language written out in English, such as `german` or `chinese_simple`."""
    return LANGUAGE_NAMES.get(text.lower().partition("_")[0]) or code(text)


def pair(text: str) -> str:
    """A language pair as the user gave it, with three-letter codes made short; an error if it is not one."""
    found = GIVEN.match(text.strip())
    if not found:
        raise UserError(f"'{text}' is not a language pair: expected two codes with a hyphen, such as de-en.")
    source, source_region, target, target_region = found.groups()
    return f"{code(source) or source}{source_region}-{code(target) or target}{target_region}"


def normalised(text: str | None) -> str | None:
    """A language pair from a data column: short codes where it is one, otherwise as it stands."""
    if not text:
        return None
    return pair(text) if GIVEN.match(text.strip()) else text


def detect(path: str | Path) -> str | None:
    """The language pair in a file's name or the two folders above it: `de-en`, `deu-eng`, `test20.eten.df.short`."""
    given = Path(path)
    return next((found for name in (given.name, *_folders(given)) if (found := _in_name(name))), None)


def from_endings(source: str | Path, target: str | Path) -> str | None:
    """The language pair of two parallel files by their endings: `a.de` and `a.en` → `de-en`."""
    first, second = (code(Path(path).name.removesuffix(".gz").rpartition(".")[2]) for path in (source, target))
    return f"{first}-{second}" if first and second else None


def _folders(path: Path) -> Iterable[str]:
    return [folder.name for folder in list(path.parents)[:2]]


def _in_name(name: str) -> str | None:
    together = MLQE_NAME.match(name)
    candidates = [together.groups()] if together else HYPHENATED.findall(name)
    for first, second in candidates:
        source, target = code(first), code(second)
        if source and target and source != target:
            return f"{source}-{target}"
    return None
