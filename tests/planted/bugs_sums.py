"""Planted bugs of loops that are said to count the same."""

from tests.planted.bug import Bug

_SUMS = "opi_xform.memory.sums"

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
        "return Total(phi.loop, added, (turns, frozenset(told)), frozenset(sizes), exact)",
        "return Total(phi.loop, added, (frozenset(told),), frozenset(sizes), exact)",
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
)
