"""Names with options in brackets: `chrf[char_order=4]`, `misspell[level=0.05|0.1]`, `command[cmd="tr a b"]`.

One grammar serves the command line, YAML and Python. A value may be quoted; brackets inside a value must balance;
`|` outside quotes and brackets separates alternatives, which `expand` turns into one spec each.

A signature says exactly how a number was made, in one line (in the manner of sacreBLEU): `part|key:value|…`, names with
their options, then facts such as seed, precision, data hash and versions.
"""

import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from babelquake.errors import UserError, did_you_mean
from babelquake.version import VERSION

T = TypeVar("T")
SPECIAL = frozenset("[],|=\"'\\ ")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'", re.DOTALL)
ESCAPED = re.compile(r"\\([\\\"'])")


@dataclass(frozen=True)
class Range:
    """The closed interval an option accepts, written `Annotated[float, Range(0, 1)]`."""

    low: float
    high: float


@dataclass(frozen=True)
class Spec:
    """A name and its options, still as text; equal specs print equally."""

    name: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        if not self.options:
            return self.name
        inside = ",".join(f"{key}={_quoted(value)}" for key, value in sorted(self.options))
        return f"{self.name}[{inside}]"

    def with_options(self, **options: object) -> "Spec":
        """The same name with further options; those given here win."""
        given = {key: _written(value) for key, value in options.items() if value is not None}
        return Spec(self.name, tuple(sorted((dict(self.options) | given).items())))

    def without(self, *names: str) -> "Spec":
        """The same name less some options."""
        return Spec(self.name, tuple((key, value) for key, value in self.options if key not in names))


def parse(text: str) -> Spec:
    """Read one spec; alternatives (`|`) are an error here."""
    specs = expand(text)
    if len(specs) > 1:
        raise UserError(f"'{text}' gives several values with '|' where one is expected.")
    return specs[0]


def expand(text: str) -> list[Spec]:
    """Read a spec and spell out its alternatives: `m[level=0.1|0.2]` → two specs."""
    text = text.strip()
    name, bracket, rest = text.partition("[")
    name = name.strip()
    if not name or (not bracket and "]" in name):
        raise UserError(f"'{text}' is not a name with options, such as chrf or chrf[char_order=4].")
    if not bracket:
        return [Spec(name)]
    if not rest.endswith("]"):
        raise UserError(f"'{text}' opens a bracket that is not closed: expected {name}[key=value,…].")
    options: dict[str, list[str]] = {}
    for item in _split(rest[:-1], ",", text):
        if not item.strip():
            continue
        key, equals, value = item.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise UserError(f"'{item.strip()}' in '{text}' is not an option: expected key=value.")
        if key in options:
            raise UserError(f"'{text}' gives {key} twice.")
        options[key] = [_unquoted(choice.strip()) for choice in _split(value, "|", text)]
    names = sorted(options)
    return [Spec(name, tuple(zip(names, choice, strict=True))) for choice in product(*(options[key] for key in names))]


def split_list(text: str) -> list[str]:
    """Split a comma-separated list of specs at top level: `a,b[x=1,y=2]` → two items."""
    return [item.strip() for item in _split(text, ",", text) if item.strip()]


def split_chain(text: str) -> list[str]:
    """Split a chain at `+` outside brackets: `fold+spell[margin=1]` → two items."""
    items = [item.strip() for item in _split(text, "+", text)]
    if not all(items):
        raise UserError(f"'{text}' is not a chain of names joined by '+', such as fold+spell.")
    return items


def parameters(target: Callable[..., Any], skip: frozenset[str] = frozenset()) -> dict[str, inspect.Parameter]:
    """The options a function or class accepts: its keyword parameters, less those the caller supplies itself."""
    found: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(target, eval_str=True).parameters.items():
        if get_origin(parameter.annotation) is typing.Unpack:
            found |= _shared(get_args(parameter.annotation)[0])
        elif parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            found[name] = parameter
    return {name: parameter for name, parameter in found.items() if name not in skip | {"self"}}


def _shared(options: type) -> dict[str, inspect.Parameter]:
    """Options that several things have in common, `**options: Unpack[SomeTypedDict]`; all may be left out."""
    kinds = typing.get_type_hints(options, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return {name: inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in kinds.items()}


def bind(spec: Spec, accepted: Mapping[str, inspect.Parameter], kind: str) -> dict[str, Any]:
    """Turn a spec's text into typed values, or say which option is wrong and what it accepts."""
    values: dict[str, Any] = {}
    for key, text in spec.options:
        if key not in accepted:
            hint = did_you_mean(key, accepted) or "It takes no options."
            raise UserError(f"{kind} '{spec.name}' has no option '{key}'. {hint}")
        values[key] = _convert(text, accepted[key].annotation, f"{spec.name}[{key}={text}]")
    missing = [
        name for name, parameter in accepted.items() if parameter.default is parameter.empty and name not in values
    ]
    if missing:
        raise UserError(f"{kind} '{spec.name}' needs {missing[0]}: write {spec.name}[{missing[0]}=…].")
    return values


def named(spec: Spec, known: Mapping[str, T], kind: str) -> T:
    """What a table has under a spec's name; a wrong name gets a hint."""
    if spec.name not in known:
        raise UserError(f"no {kind} is called '{spec.name}'. {did_you_mean(spec.name, known)}")
    return known[spec.name]


def make(what: str | Spec, known: Mapping[str, Callable[..., T]], kind: str, *given: Any) -> T:
    """The thing that a spec names, made with its options; `given` comes before them, by position."""
    spec = parse(what) if isinstance(what, str) else what
    build = named(spec, known, kind)
    supplied = frozenset(list(inspect.signature(build).parameters)[: len(given)])
    return build(*given, **bind(spec, parameters(build, supplied), kind))


def check_range(value: float, accepted: Range, where: str) -> None:
    """Refuse a number outside its interval, naming the interval."""
    if not accepted.low <= value <= accepted.high:
        raise UserError(f"{where}: {value:g} is outside {accepted.low:g} to {accepted.high:g}.")


def _convert(text: str, annotation: Any, where: str) -> Any:
    accepted: Range | None = None
    if get_origin(annotation) is Annotated:
        annotation, *notes = get_args(annotation)
        accepted = next((note for note in notes if isinstance(note, Range)), None)
    if get_origin(annotation) in (typing.Union, types.UnionType):
        if text.lower() in ("none", "") and type(None) in get_args(annotation):
            return None
        given = next(kind for kind in get_args(annotation) if kind is not type(None))
        return _convert(text, Annotated[given, accepted] if accepted else given, where)
    if get_origin(annotation) is Literal:
        choices = [str(choice) for choice in get_args(annotation)]
        if text not in choices:
            raise UserError(f"{where}: expected {' or '.join(choices)}.")
        return get_args(annotation)[choices.index(text)]
    if annotation is bool:
        if text.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise UserError(f"{where}: expected true or false.")
        return text.lower() in ("true", "yes", "1")
    if annotation in (int, float):
        try:
            number = annotation(text)
        except ValueError:
            whole = "a whole number" if annotation is int else "a number"
            within = f" from {accepted.low:g} to {accepted.high:g}" if accepted else ""
            raise UserError(f"{where}: expected {whole}{within}.") from None
        if accepted:
            check_range(number, accepted, where)
        return number
    return text


def _split(text: str, separator: str, whole: str) -> list[str]:
    """Split at a separator that stands outside quotes and brackets."""
    parts, current, depth, quote, escaped = [], "", 0, "", False
    for char in text:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char if not current or current[-1] in "=|, " else ""
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if depth < 0:
                break
        elif char == separator and depth == 0:
            parts.append(current)
            current = ""
            continue
        current += char
    if depth or quote:
        raise UserError(f"'{whole}': brackets or quotes do not balance.")
    return [*parts, current]


def _unquoted(value: str) -> str:
    """The text between quotes that enclose the whole value; `'a b' 'c d'` has inner quotes only and stays."""
    return ESCAPED.sub(r"\1", value[1:-1]) if QUOTED.fullmatch(value) else value


def _quoted(value: str) -> str:
    if value and not SPECIAL & set(value) and value == value.strip():
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _written(value: object) -> str:
    """A Python value as a spec writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def signature(*parts: object, **facts: object) -> str:
    """Join names and facts in the order given; facts that are None are left out."""
    named = [f"{key}:{value}" for key, value in facts.items() if value is not None]
    return "|".join([*(str(part) for part in parts), *named])


def run_signature(*parts: object, **facts: object) -> str:
    """A signature that ends with babelquake's own version."""
    return signature(*parts, **facts, babelquake=VERSION)
