"""Numbers that a test fixes, and what is computed from them: ``color = rank / 2`` is 0 where ``rank == 0``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from opi_xform.memory.poly import Poly, number
from opi_xform.memory.symbols import Symbol, Symbols
from opi_xform.values.arithmetic.folding import folded

Signs = frozenset[int]
Test = tuple[Poly, Signs]  # a difference, with the signs that it may have

STEPS = 64  # symbols that are looked at for one test


def fixed_by(tests: Iterable[Test]) -> dict[int, int]:
    """The numbers that tests leave one value."""
    out: dict[int, int] = {}
    for p, signs in tests:
        others = [(m, c) for m, c in p.terms if m]
        if signs != {0} or len(others) != 1 or len(others[0][0]) != 1:
            continue
        (((s,), factor),) = others
        if p.constant_term % factor == 0:
            out[s] = -p.constant_term // factor
    return out


def number_of(symbols: Symbols, p: Poly, fixed: Mapping[int, int]) -> int | None:
    """What a polynomial is where some numbers are fixed; None: it is not known."""
    return _computed(symbols, p, dict(fixed), list(p.symbols()))


def asked_for(symbols: Symbols, p: Poly) -> tuple[frozenset[int], int | None]:
    """The symbols that ``number_of`` looks at where none of them is fixed, and what it finds then.

    Whatever others are fixed, it does the same.
    """
    known: dict[int, int | None] = {}
    work = list(p.symbols())
    found = _computed(symbols, p, known, work)
    return frozenset(known).union(work), found


def _computed(symbols: Symbols, p: Poly, known: dict[int, int | None], work: list[int]) -> int | None:
    """``number_of``; known gets what was found, and work what was not come to."""
    for _ in range(STEPS):
        if not work:
            return _inserted(p, known)
        s = work[-1]
        parts = None if s in known else _parts(symbols, symbols.table[s])
        missing = [t for part in parts or () for t in part.symbols() if t not in known]
        if s in known or not missing:
            work.pop()
        if s not in known and not missing:
            known[s] = _result(symbols.table[s], parts, known)
        work += [t for t in missing if t not in work]
    return None


def made_of(symbols: Symbols, joins: Mapping[int, tuple[Poly, ...]], p: Poly) -> frozenset[int]:
    """The symbols of a polynomial, and those from which they are computed, or chosen."""
    seen = set(p.symbols())
    work = list(seen)
    for _ in range(STEPS):
        if not work:
            break
        s = work.pop()
        for part in (*symbols.table[s].operands, *joins.get(s, ())):
            fresh = set(symbols.resolve(part).symbols()) - seen
            seen |= fresh
            work += sorted(fresh)
    return frozenset(seen)


def _parts(symbols: Symbols, info: Symbol) -> tuple[Poly, ...] | None:
    """The operands of an operation on numbers that C computes as it is written; None for anything else."""
    if info.kind != "op" or len(info.key) != 3 or info.key[1] is not False or not isinstance(info.key[2], tuple):
        return None
    parts = info.key[2]
    return tuple(map(symbols.resolve, parts)) if all(isinstance(part, Poly) for part in parts) else None


def _result(info: Symbol, parts: tuple[Poly, ...] | None, known: Mapping[int, int | None]) -> int | None:
    values = [_inserted(part, known) for part in parts or ()]
    numbers = [v for v in values if v is not None]
    return folded(str(info.key[0]), numbers) if numbers and len(numbers) == len(values) else None


def _inserted(p: Poly, known: Mapping[int, int | None]) -> int | None:
    return p.substitute(lambda s: None if (n := known.get(s)) is None else number(n)).constant
