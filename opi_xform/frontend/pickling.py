"""Units as bytes, for the cache and for the way between processes.

Frozen dataclasses with slots pickle slowly by themselves (a Python call per object each way); here an object is its
class and the tuple of its fields.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable
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


_TABLE: dict[type[Any], Callable[[Any], Any]] = {
    cls: _reducer(cls)
    for module in (ast, span, types)
    for cls in vars(module).values()
    if isinstance(cls, type) and is_dataclass(cls)
}


class _Pickler(pickle.Pickler):
    dispatch_table = {**copyreg.dispatch_table, **_TABLE}  # noqa: RUF012 - the pickle module's own protocol


def dumps(unit: Unit) -> bytes:
    """The unit as bytes.  Nesting costs stack here: ``deep`` trees raise RecursionError (``cli/inputs/parsing.py``)."""
    out = io.BytesIO()
    _Pickler(out, pickle.HIGHEST_PROTOCOL).dump(unit)
    return out.getvalue()


def loads(data: bytes) -> Unit:
    """The unit that ``dumps`` wrote.  Raises ValueError for bytes that are no unit."""
    try:
        unit = pickle.loads(data)
    except Exception as error:  # pickle raises nearly anything on corrupt bytes
        raise ValueError(f"not a pickled unit: {error}") from error
    if not isinstance(unit, Unit):
        raise ValueError("not a pickled unit")
    return unit
