"""Planted bugs of places that are products, and of loops that run as often as such a number says."""

from tests.machines.planted.bug import Bug

_FACTS = "opi_xform.values.facts"
_INTERCHANGED = "opi_xform.regions.interchanged"
_SYMBOLS = "opi_xform.memory.symbols"
_TELESCOPE = "opi_xform.regions.telescope"

BUGS = (
    Bug(
        "the larger one of two numbers is no greater than either",
        "opi_xform.memory.least",
        'small, large = (test.left, test.right) if test.op in ("<", "<=") else (test.right, test.left)',
        "small, large = test.left, test.right",
        ("parts_named_larger",),
        condition="rows and parts",
    ),
    Bug(
        "a loop runs as often in each turn of those around it",
        _SYMBOLS,
        'scope = self.around(loop) if info.kind == "count" else info.scope',
        "scope = info.scope",
        ("product_last_row_counts",),
        condition="values",
    ),
    Bug(
        "a loop never runs less than 0 turns",
        "opi_xform.values.interp",
        "if self.facts.before(loop).nonneg(trips):",
        "if True:",
        ("product_two_signs_counter", "product_sign_of_one"),
        condition="packed",
    ),
    Bug(
        "a loop that runs less than 0 turns is a shorter one, whatever is multiplied with it",
        _TELESCOPE,
        "given = given if self.symbols.is_nonneg(trips) else self.requiring(loop, given, trips, factor)",
        "pass",
        ("product_two_signs_counter",),
        condition="packed",
    ),
    Bug(
        "what is written behind loops begins where they would end with fewer than 0 turns",
        _TELESCOPE,
        "        if times is None or (unsure and not self.symbols.is_nonneg(times)):\n            return None\n",
        "",
        ("product_behind_fewer",),
        condition="packed",
    ),
    Bug(
        "of the turns of two loops one is never negative",
        _TELESCOPE,
        "given = self.requiring(loop, given, t, other)",
        "pass",
        ("product_behind_two_signs",),
        condition="packed",
    ),
    Bug(
        "a quotient has no sign of what is divided",
        "opi_xform.regions.signs",
        "work += [p for s in item.symbols() for p in _divided(values, s)]",
        "pass",
        ("product_two_signs_quotient",),
        condition="packed",
    ),
    Bug(
        "a test at the end of a turn holds in it",
        _FACTS,
        "return len(self.graph.preds[b]) == 1 and self.nest.dominates(b, block)",
        "return self.nest.dominates(b, block)",
        ("product_tested_at_the_end",),
        condition="read after receive",
    ),
    Bug(
        "a test in the middle of a turn holds in front of it",
        _FACTS,
        "return len(self.graph.preds[b]) == 1 and self.nest.dominates(b, block)",
        "return len(self.graph.preds[b]) == 1",
        ("product_leave_late",),
        condition="read after receive",
    ),
    Bug(
        "strides are not negative",
        _FACTS,
        "        if not self.nonneg(factor):\n            return None\n",
        "",
        ("product_backwards",),
        condition="read after receive",
    ),
    Bug(
        "unsigned bounds of places that are products do not wrap",
        _FACTS,
        "if wraps(self.graph, self.nest, self.values, comparison):",
        "if False:",
        ("product_unsigned_rows",),
        condition="numbers that wrap",
    ),
    Bug(
        "every turn of a loop comes to the loop inside",
        _INTERCHANGED,
        "return bool(known) and all(nest.dominates(inside.header, latch) for latch in around.latches)",
        "return bool(known)",
        ("product_order_some",),
        condition="packed",
    ),
    Bug(
        "every turn of an inner loop writes",
        _INTERCHANGED,
        "if interval.given or not all(telescope.nest.dominates(interval.block, b) for b in innermost.latches):",
        "if interval.given:",
        ("product_order_odd",),
        condition="packed",
    ),
    Bug(
        "two numbers of turns are not negative",
        _INTERCHANGED,
        "list(combinations(signed, 2))",
        "[]",
        ("product_two_signs_order",),
        condition="packed",
    ),
    Bug(
        "what a turn writes is not negative",
        _INTERCHANGED,
        "numbers = [interval.hi - interval.lo, *(n for _, n in digits)]",
        "numbers = [n for _, n in digits]",
        ("product_sign_of_row",),
        condition="packed",
    ),
    Bug(
        "only a size by itself may be negative",
        "opi_xform.regions.signs",
        "if joined is not None:",
        "if joined is not None and len(item.terms) == 1:",
        ("product_interior",),
        condition="packed",
    ),
)
