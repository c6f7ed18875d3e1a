"""Planted bugs of loops over tiles, and of the smaller one of two numbers."""

from tests.machines.planted.bug import Bug

_CHECK = "opi_xform.divide.check"
_FACTS = "opi_xform.values.facts"
_INTERCHANGED = "opi_xform.regions.interchanged"
_LEAST = "opi_xform.memory.least"
_REGIONS = "opi_xform.regions.sets"

BUGS = (
    Bug(
        "what is merged after a test is the smaller number",
        _LEAST,
        "same = holds == symbols.resolve(small) and fails == symbols.resolve(large)",
        "same = True",
        ("tile_short_end", "tile_larger_end", "tile_merged"),
        condition="packed",
    ),
    Bug(
        "two loops go through tiles, wherever their ends are",
        _INTERCHANGED,
        "if not symbols.scope(total) & inner and _ends_at(telescope, loop, size, total):",
        "if not symbols.scope(total) & inner:",
        ("tile_last", "tile_one_less", "tile_other_end", "tile_leaves"),
        condition="packed",
    ),
    Bug(
        "a loop over tiles is left in one way only",
        _INTERCHANGED,
        "    if len(info.exits) != 1:\n        return False\n",
        "",
        ("tile_leaves",),
        condition="packed",
    ),
    Bug(
        "tiles that are counted are as many as there are",
        _INTERCHANGED,
        "if by != size or not symbols.is_nonneg(divided - size + ONE + more - total):",
        "if by != size:",
        ("tile_floor", "tile_count_less"),
        condition="packed",
    ),
    Bug(
        "tiles are counted by their size",
        _INTERCHANGED,
        "if by != size or not symbols.is_nonneg(",
        "if not symbols.is_nonneg(",
        ("tile_count_other",),
        condition="packed",
    ),
    Bug(
        "the size of tiles that are counted is not negative",
        _INTERCHANGED,
        "return Facts(telescope.graph, telescope.nest, telescope.values).before(loop).nonneg(size - ONE)",
        "return True",
        ("tile_count_sign",),
        condition="packed",
    ),
    Bug(
        "every remainder is that of the quotient in the place",
        _REGIONS,
        "quotient = self.quotients.get(m[0]) if len(m) == 1 else None",
        "quotient = next(iter(self.quotients.values())) if m and self.symbols.table[m[0]].key[:1] == ('%',) else None",
        ("rest_other",),
        condition="packed",
    ),
    Bug(
        "places go on from tile to tile",
        _INTERCHANGED,
        "if ahead is None or one is None or ahead != size * one:",
        "if ahead is None or one is None:",
        ("tile_first_only", "tile_diagonal"),
        condition="packed",
    ),
    Bug(
        "what holds for the smaller number holds for both, also where it is taken away",
        _FACTS,
        "if factor is not None and factor.terms and self.symbols.is_nonneg(factor):",
        "if factor is not None and factor.terms:",
        ("tile_behind",),
        condition="read after receive",
    ),
    Bug(
        "all numbers that facts name are not negative",
        _FACTS,
        "return large[0][0] if all(table[s].nonneg for m, c in fact.terms if c < 0 for s in m) else None",
        "return large[0][0]",
        ("product_backwards_tested",),
        condition="read after receive",
    ),
    Bug(
        "a stretch that ends in a part begins in it",
        _CHECK,
        "low = any(h.lo is not None and prover.proves(h.lo - begin) for h in found)",
        "low = True",
        ("parts_tile_before",),
        condition="rows and parts",
    ),
    Bug(
        "a stretch that begins in a part ends in it",
        _CHECK,
        "return low and any(h.hi is not None and prover.proves(end - h.hi) for h in found)",
        "return low",
        ("parts_tile_behind",),
        condition="rows and parts",
    ),
)
