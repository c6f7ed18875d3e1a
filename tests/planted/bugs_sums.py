"""Planted bugs of loops that are said to count the same."""

from tests.planted.bug import Bug

_SUMS = "opi_xform.memory.sums"
_GROWN = "opi_xform.memory.grown"

SUMS = (
    Bug(
        "two loops count the same whatever their conditions are",
        _SUMS,
        "forms = [self.guard(guard, loop) for guard in step.guards]",
        "forms: list[Form | None] = [()]",
        ("counted_otherguard", "counted_elsearm", "counted_guardchanged"),
        condition="packed",
    ),
    Bug(
        "two loops count the same however often they run",
        _SUMS,
        "return Total(phi.loop, added, (turns, frozenset(told)), frozenset(sizes), exact, alone)",
        "return Total(phi.loop, added, (frozenset(told),), frozenset(sizes), exact, alone)",
        ("counted_loopmore", "counted_cellschanged"),
        condition="packed",
    ),
    Bug(
        "memory is the same at all times",
        _SUMS,
        "        for part in info.key:\n",
        "        for part in info.key[:1]:\n",
        ("counted_changedbetween",),
        condition="packed",
    ),
    Bug(
        "where ways meet, only one of them counts",
        _SUMS,
        "if len(numbers) == 1 and numbers <= totals:",
        "numbers &= totals\n                if numbers:",
        ("counted_join",),
        condition="packed",
    ),
    Bug(
        "the same numbers compare the same in whatever type",
        _SUMS,
        "return test if self.told_alike(test) and not wraps(",
        "return test if not wraps(",
        ("counted_marknext", "counted_marksigned", "counted_markwider"),
        condition="packed",
    ),
    Bug(
        "a number of turns that stands alone is not negative",
        _SUMS,
        "if mine is None or mine.alone:",
        "if mine is None:",
        ("counted_read_alone",),
        condition="read after receive",
    ),
    Bug(
        "where ways meet, a counter's number came by each of them",
        _SUMS,
        "return (NEGATED[test.op] if holds == value else test.op), difference",
        'return "<", ONE',
        ("counted_read_stale",),
        condition="read after receive",
    ),
    Bug(
        "reads end where the counter is, whatever they read there",
        _GROWN,
        "shift = self.shift(loop, cell, block, lo + length, scale)",
        "shift = self.shift(loop, cell, block, lo, scale)",
        ("counted_read_ahead",),
        condition="read after receive",
    ),
    Bug(
        "every counter begins with zero",
        _GROWN,
        "return [Stretch(init, init + added.scaled(scale), other, sizes) for added, sizes, other in found]",
        "return [Stretch(init, shift + added.scaled(scale), other, sizes) for added, sizes, other in found]",
        ("counted_read_begins",),
        condition="read after receive",
    ),
    Bug(
        "every counter only grows",
        _GROWN,
        "return first is not None and end is not None and self.symbols.is_nonneg(end - first)",
        "return True",
        ("counted_read_back",),
        condition="read after receive",
    ),
    Bug(
        "a counter ends where the last turn began",
        _GROWN,
        "return len(loop.exits) == 1 and self.values.out.at_end(loop.exits[0][0], phi.cell) == symbol(phi.symbol)",
        "return len(loop.exits) == 1",
        ("counted_read_last",),
        condition="read after receive",
    ),
    Bug(
        "no program makes a size of which reads are counted negative",
        "opi_xform.ownership.buffer_events",
        "if any(negative(self.program.graph, self.values, p) for p in sizes):",
        "if sizes is None:",
        ("counted_read_negative",),
        condition="read after receive",
    ),
)
