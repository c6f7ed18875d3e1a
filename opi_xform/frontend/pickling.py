"""Units as bytes, for the cache and for the way between processes.

Frozen dataclasses with slots pickle slowly by themselves (a Python call per object each way); here an object is its
class and the tuple of its fields.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any

from opi_xform.ir import ast, span, types
from opi_xform.ir.ast import Unit


def _reducer(cls: type[Any]) -> Callable[[Any], tuple[type[Any], tuple[Any, ...]]]:
    names = [f.name for f in fields(cls)]
    get = attrgetter(*names)
    if len(names) == 1:
        return lambda value: (cls, (get(value),))
    return lambda value: (cls, get(value))


_CLASSES: tuple[type[Any], ...] = tuple(
    cls for module in (ast, span, types) for cls in vars(module).values() if isinstance(cls, type) and is_dataclass(cls)
)
_TABLE: dict[type[Any], Callable[[Any], Any]] = {cls: _reducer(cls) for cls in _CLASSES}


class _Pickler(pickle.Pickler):
    dispatch_table = {**copyreg.dispatch_table, **_TABLE}  # noqa: RUF012 - the pickle module's own protocol


def dumps(unit: Unit) -> bytes:
    """The unit as bytes.  Nesting costs stack here: ``deep`` trees raise RecursionError (``cli/inputs/parsing.py``)."""
    out = io.BytesIO()
    _Pickler(out, pickle.HIGHEST_PROTOCOL).dump(unit)
    return out.getvalue()


def renamed(unit: Unit, files: Mapping[str, str]) -> Unit:
    """The unit, with other names of its files: in spans, and in the keys of what is a file's own.

    Raises RecursionError as ``dumps`` does.
    """
    longest = sorted(files, key=len, reverse=True)
    names = re.compile("|".join(map(re.escape, longest)) or "(?!)")
    known: dict[str, str] = {}

    def name(text: str) -> str:
        found = known.get(text)
        if found is None:
            found = known[text] = names.sub(lambda m: files[m[0]], text)
        return found

    class Moving(pickle.Pickler):
        dispatch_table = {**copyreg.dispatch_table, **{cls: _mover(cls, name) for cls in _CLASSES}}  # noqa: RUF012

    out = io.BytesIO()
    Moving(out, pickle.HIGHEST_PROTOCOL).dump(unit)
    return loads(out.getvalue())


def _mover(cls: type[Any], name: Callable[[str], str]) -> Callable[[Any], tuple[type[Any], tuple[Any, ...]]]:
    """As ``_reducer`` makes them, with texts renamed that may name a file."""
    plain = _reducer(cls)
    at = tuple(i for i, f in enumerate(fields(cls)) if re.search(r"\bstr\b", str(f.type)))
    if not at:
        return plain

    def reduced(value: Any) -> tuple[type[Any], tuple[Any, ...]]:
        given = list(plain(value)[1])
        for i in at:
            given[i] = _renamed(given[i], name)
        return cls, tuple(given)

    return reduced


def _renamed(value: Any, name: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return name(value)
    if isinstance(value, (tuple, frozenset)):
        return type(value)(name(v) if isinstance(v, str) else v for v in value)
    if isinstance(value, Mapping):
        return {name(key): of for key, of in value.items()}
    return value


def loads(data: bytes) -> Unit:
    """The unit that ``dumps`` wrote.  Raises ValueError for bytes that are no unit."""
    try:
        unit = pickle.loads(data)
    except Exception as error:  # pickle raises nearly anything on corrupt bytes
        raise ValueError(f"not a pickled unit: {error}") from error
    if not isinstance(unit, Unit):
        raise ValueError("not a pickled unit")
    return unit
