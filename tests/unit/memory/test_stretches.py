"""Stretches: what every path passes, against paths walked one by one."""

from __future__ import annotations

import pytest
from core_support import program

from opi_xform.memory.stretches import Region, Stretches, stretches_of

PROGRAMS = {
    "straight": "a = 1; a = 2;",
    "one branch": "if (a) a = 1; a = 2;",
    "two arms": "if (a) a = 1; else a = 3; a = 2;",
    "nested": "if (a) { if (b) a = 1; else b = 2; a = 4; } b = 3;",
    "a loop": "for (i = 0; i < a; i++) { if (b) b = 1; else a = 2; b = 7; } a = 5;",
    "two loops": "for (i = 0; i < a; i++) for (j = 0; j < b; j++) if (i == j) a = j; b = 5;",
    "left in the middle": "for (i = 0; i < a; i++) { if (b == i) break; if (a == i) continue; b = 1; } a = 2;",
    "a switch": "switch (a) { case 1: b = 1; break; case 2: b = 2; default: b = 3; } a = b;",
    "an early return": "if (a == 9) return 1; b = 2; if (b) a = 3;",
}


def successors(s: Stretches, loop: int, region: Region, i: int) -> list[int]:
    """Items that control goes to from an item; the one past the last is where the region is left or begins anew."""
    header = s.nest.loops[loop].header if loop >= 0 else -1
    block, inner = region.items[i]
    out = []
    for target in s.targets(block, inner, True):
        if target == header:
            out.append(region.last)
        elif target in s.item_of[loop]:
            out.append(region.at[s.item_of[loop][target]])
        else:
            out.append(region.last + 1)
    return out or [region.last + 1]


def passed(s: Stretches, loop: int, region: Region, start: int) -> set[int]:
    """Items after ``start`` that lie on each path from there: those without which no end can be reached."""
    ends = {region.last, region.last + 1}

    def reaches(avoiding: int) -> bool:
        work, seen = [start], {start}
        while work:
            i = work.pop()
            if i in ends:
                return True
            for t in successors(s, loop, region, i):
                if t not in seen and t != avoiding:
                    seen.add(t)
                    work.append(t)
        return False

    return {i for i in range(start + 1, region.last + 1) if not reaches(i)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_farthest_item_that_every_path_passes(name: str) -> None:
    found = program(f"int main(int a, char **v) {{ int b = 0, i, j; j = i = 0; {PROGRAMS[name]} return b + i + j; }}")
    at = found.program
    s = Stretches(at.graph, at.nest, at.values)
    looked_at = 0
    for loop in s.items:
        region = s.region(loop, True)
        for i in range(region.last):
            always = passed(s, loop, region, i)
            for limit in range(i, region.last + 1):
                wanted = max([i, *(k for k in always if k <= limit)])
                assert region.farthest(i, limit) == wanted, (loop, i, limit)
                looked_at += 1
    assert looked_at


def test_a_region_has_its_inner_loops_as_one_item_each() -> None:
    found = program("int main(int a, char **v) { int i, s = 0; for (i = 0; i < a; i++) s += i; return s; }")
    at = found.program
    s = stretches_of(at.graph, at.nest, at.values)
    assert stretches_of(at.graph, at.nest, at.values) is s
    whole = s.region(-1, True)
    assert [inner for _, inner in whole.items if inner >= 0] == [0]
    assert all(s.nest.of[block] < 0 for block, inner in whole.items if inner < 0)


def test_error_exits_are_tails() -> None:
    """Where the program cannot go on it is no way past anything; unless something of interest lies there."""
    found = program(
        """void exit(int);
        int main(void)
        {
            int b = 1, *p = malloc(8);
            if (!p)
                exit(3);
            b = 2;
            return b;
        }"""
    )
    at = found.program
    s = Stretches(at.graph, at.nest, at.values)
    dead = {n.block for n in found.on_line("exit(3)")}
    (after,) = {n.block for n in found.on_line("b = 2")}
    assert dead & s.tails
    assert s.tails_to(dead) >= dead & s.tails
    assert s.tails_to([0]) == frozenset()
    for tails_matter in (False, True):
        region = s.region(-1, tails_matter)
        passes = region.farthest(region.at[0], region.at[after]) == region.at[after]
        assert passes is not tails_matter
