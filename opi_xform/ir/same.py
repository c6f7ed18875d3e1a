"""Whether two trees are equal, however deep: ``==`` of nested dataclasses recurses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass


def same(left: object, right: object) -> bool:
    """Equality of frozen dataclasses, tuples and mappings of them, and of anything else by ``==``."""
    work = [(left, right)]
    while work:
        a, b = work.pop()
        if a is b:
            continue
        if type(a) is not type(b):
            return False
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            work.extend(zip(a, b, strict=True))
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            if a.keys() != b.keys():
                return False
            work.extend((a[key], b[key]) for key in a)
        elif is_dataclass(a):
            work.extend((getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
        elif a != b:
            return False
    return True
