"""The stretch in which an access with a subscript of products lies: ``b[k * ny + j]`` in loops over k and j.

Integer sets know nothing of a product, so the place of such an access could be anywhere.  What comparisons say of the
numbers of turns, put in one after the other, tells how far it goes at most (delinearisation): ``j <= ny - 1`` and
``k <= nz - 1`` make ``k * ny + j <= nz * ny - 1``, where ny is not negative.
"""

from __future__ import annotations

from functools import partial

from opi_xform.memory.poly import Poly
from opi_xform.values.facts import Facts, Hull, Known


def hulls(facts: Facts, block: int, lo: Poly, length: Poly) -> list[Hull]:
    """Stretches that hold every byte that an access in the block touches; none where its place is no product."""
    symbols = facts.symbols
    lo, length = symbols.resolve(lo), symbols.resolve(length)
    loops = facts.nest.chain(block)
    around = frozenset(loops)
    if not any(len(m) > 1 and any(symbols.table[s].scope & around for s in m) for m, _ in lo.terms):
        return []
    known = facts.hulls.get((block, lo, length))
    if known is None:
        known = facts.hulls[block, lo, length] = _hulls(facts, block, lo, length)
    return known


def _hulls(facts: Facts, block: int, lo: Poly, length: Poly) -> list[Hull]:
    symbols, loops = facts.symbols, facts.nest.chain(block)
    here = facts.at(block)
    lo, length = (symbols.resolve(p.substitute(here.left.get)) for p in (lo, length))
    lo, length = (symbols.resolve(p.substitute(partial(facts.ran, block))) for p in (lo, length))
    out: dict[Hull, None] = {}
    varied = tuple(sorted(here.facts, key=lambda fact: -len(symbols.scope(fact))))  # in tiles: up to the last place
    for order in dict.fromkeys((here.facts, here.facts[::-1], varied)):
        known = Known(symbols, order, {})
        for least in _most(known, loops, -lo):
            out[Hull(-least, None)] = None
        for most in _most(known, loops, lo + length):
            out[Hull(None, most)] = None
    return list(out)


def _most(known: Known, loops: tuple[int, ...], value: Poly) -> list[Poly]:
    """Numbers that ``value`` is never greater than: one for each loop, without its number of turns and those inside."""
    out: list[Poly] = []
    for loop in loops:
        if known.symbols.count(loop) in set(value.symbols()):
            found = known.most(loop, value)
            if found is None:
                break
            value = known.symbols.resolve(found)
            out.append(value)
    return out
