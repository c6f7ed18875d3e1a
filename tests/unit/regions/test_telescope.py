"""What loops are sure to have written when they are left, in any order; what growing counters tell of reads."""

from __future__ import annotations

import pytest
from core_support import Found, judge, members, program

from opi_xform.memory.poly import Poly, number
from opi_xform.regions.grown import Grown
from opi_xform.regions.interchanged import Interval, interchanged
from opi_xform.regions.signs import negative
from opi_xform.regions.telescope import Telescope
from opi_xform.values.equal_counts import Sums

FRAME = """
static char b[900]; static int flag[9]; static unsigned sizes[9]; int unknown(void);
int main(int n, char **v) {{ int m = unknown(), i, j, k = 0; {} return b[0]; }}
"""


def telescope(found: Found, births: frozenset[int] = frozenset(), **given: bool) -> Telescope:
    """Of all certain writes to ``b``."""
    at = found.program
    writes: dict[int, list[tuple[Poly, Poly]]] = {}
    for n, accesses in at.values.accesses.of(found.object("b")).items():
        for a in accesses:
            if a.kind == "W" and a.must and a.lo is not None and a.length is not None:
                writes.setdefault(at.graph.nodes[n].block, []).append((a.lo, a.length))
    return Telescope(at.graph, at.nest, at.values, writes, births, **given)


def written(body: str) -> set[tuple[str, str]]:
    """From where to where the outermost loop is sure to have written, where these are numbers or the one of ``n``."""
    found = program(FRAME.format(body))
    symbols = found.program.values.symbols
    out = set()
    for intervals in telescope(found).exits(0).values():
        for interval in intervals:
            out.add(tuple(found.show(symbols.resolve(p)) for p in (interval.lo, interval.hi)))
    return {(a, b) for a, b in out}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (i = 0; i < 10; i++) b[i] = 1;", {("0", "10")}),
        ("for (i = 3; i < 10; i++) b[i] = 1;", {("3", "10")}),
        ("for (i = 9; i >= 0; i--) b[i] = 1;", {("0", "10")}),
        ("for (i = 0; i < 10; i++) b[2 * i] = 1;", set()),  # with gaps
        ("for (i = 0; i < 10; i++) { b[2 * i] = 1; b[2 * i + 1] = 2; }", {("0", "20")}),
        ("for (i = 0; i < 10; i++) if (flag[i]) b[i] = 1;", set()),
        ("for (i = 0; i < 10; i++) { if (flag[i]) break; b[i] = 1; }", {("0", "exit")}),  # up to where it stopped
        ("for (i = 0; i < 3; i++) for (j = 0; j < 4; j++) b[4 * i + j] = 1;", {("0", "12")}),
        ("for (i = 0; i < 10; i++) b[k++] = 1;", {("0", "10")}),
    ],
)
def test_what_a_loop_is_sure_to_have_written(body: str, expected: set[tuple[str, str]]) -> None:
    found = written(body)
    assert expected <= found
    assert bool(found) == bool(expected)


def test_nothing_is_known_of_a_loop_in_which_the_object_begins_anew() -> None:
    found = program(FRAME.format("for (i = 0; i < 10; i++) b[i] = 1;"))
    (loop,) = found.program.nest.loops
    with_birth = telescope(found, births=frozenset({min(loop.blocks)}))
    assert [*with_birth.exits(0).values()] == [[]]
    assert all(telescope(found).exits(0).values())


def test_writes_that_touch_are_one_run() -> None:
    found = program(FRAME.format("for (i = 0; i < 10; i++) b[i] = 1;"))
    (loop,) = found.program.nest.loops
    one, two = Interval(loop.header, number(0), number(4)), Interval(loop.header, number(4), number(8))
    runs = telescope(found).runs([one, two])
    assert {(r.lo, r.hi) for r in runs} >= {(number(0), number(8))}
    apart = telescope(found).runs([one, Interval(loop.header, number(5), number(8))])
    assert {(r.lo, r.hi) for r in apart} == {(number(0), number(4)), (number(5), number(8))}


# --- loops in another order -------------------------------------------------------------------------------------------


def numbers(body: str) -> list[tuple[str, str]]:
    found = program(FRAME.format(body))
    at = found.program
    loop = next(lp for lp in at.nest.loops if lp.parent < 0)
    return [(found.show(lo), found.show(hi)) for lo, hi, _ in interchanged(telescope(found), loop)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (j = 0; j < 4; j++) for (i = 0; i < 3; i++) b[4 * i + j] = 1;", [("0", "12")]),
        ("for (j = 0; j < 4; j++) for (i = 0; i < 3; i++) b[7 + 4 * i + j] = 1;", [("7", "19")]),
        ("for (j = 0; j < 4; j++) for (i = 0; i < 3; i++) b[5 * i + j] = 1;", []),  # a gap after each row
        ("for (j = 0; j < 4; j++) for (i = 0; i < 3; i++) if (flag[i]) b[4 * i + j] = 1;", []),
        ("for (j = 0; j < 4; j++) for (i = 0; i < 3; i++) b[4 * j + i] = 1;", []),
        ("for (i = 0; i < 3; i++) for (j = 0; j < 4; j++) b[4 * i + j] = 1;", []),  # in their own order
        ("for (j = 0; j < 4; j++) for (i = 0; i < j; i++) b[4 * i + j] = 1;", []),  # a triangle
        ("for (j = 0; j < 10; j += 4) for (i = j; i < (j + 4 < 10 ? j + 4 : 10); i++) b[i] = 1;", [("0", "10")]),
    ],
)
def test_all_numbers_with_so_many_digits_come_up(body: str, expected: list[tuple[str, str]]) -> None:
    assert numbers(body) == expected


# --- counters that only grow ------------------------------------------------------------------------------------------


def grown(body: str) -> bool:
    """A read of ``b`` lies between what its counter is before the loops and after them."""
    found = program(FRAME.format(body))
    at = found.program
    told = Grown(at.graph, at.nest, at.values, Sums(at.graph, at.nest, at.values))
    reads = [a for a in found.access("b", "R") if at.nest.chain(at.graph.nodes[a.node].block)]
    assert reads
    out = []
    for a in reads:
        assert a.lo is not None
        assert a.length is not None
        out.append(bool(told.stretches(at.graph.nodes[a.node].block, a.lo, a.length)))
    return all(out)


COUNTED = "int total = 0; for (i = 0; i < 9; i++) if (flag[i]) total += sizes[i];"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{COUNTED} for (i = 0; i < 9; i++) if (flag[i]) for (unsigned c = 0; c < sizes[i]; c++) m += b[k++];", True),
        (f"{COUNTED} for (i = 0; i < 9; i++) if (flag[i]) for (unsigned c = 0; c < sizes[i]; c++) m += b[k--];", False),
        (f"{COUNTED} for (i = 0; i < 9; i++) {{ if (unknown()) k = 0; m += b[k++]; }}", False),
    ],
)
def test_reads_at_a_counter_that_only_grows(body: str, expected: bool) -> None:
    assert grown(body) is expected


# --- signs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [("n > 3 ? n : 4", False), ("n > 3 ? n : -1", True), ("(n > 3 ? n : -1) / 2", True), ("n", False), ("-n", True)],
)
def test_sizes_that_the_program_makes_negative(value: str, expected: bool) -> None:
    found = program(f"int mark; int main(int n, char **v) {{ mark = {value}; return 0; }}")
    (size,) = found.marked()
    assert negative(found.program.graph, found.program.values, size, lambda _: False) is expected


# --- the live region: opi_xform.regions.live --------------------------------------------------------------------------


def live(body: str) -> frozenset[int]:
    """The first twelve bytes of ``b`` that are live after the send."""
    found = program(FRAME.format(f"MPI_Send(b, 12, MPI_INT, 0, 0, 0); {body}").replace("return b[0]", "return m"))
    judged = judge(found, "b")
    answers, _ = judged.live(None)
    (node,) = answers
    return members(answers[node], {}, 12)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", ()),
        ("m = b[3];", (3,)),
        ("b[3] = 1; m = b[3];", ()),
        ("if (n) b[3] = 1; m = b[3];", (3,)),
        ("for (i = 2; i < 6; i++) m += b[i];", (2, 3, 4, 5)),
        ("for (i = 0; i < 4; i++) b[i] = 1; for (i = 2; i < 6; i++) m += b[i];", (4, 5)),
        ("for (i = 0; i < 6; i++) { m += b[i]; b[i + 1] = 2; }", (0,)),
        ("while (unknown()) { m += b[7]; b[7] = 1; }", (7,)),
    ],
)
def test_bytes_that_are_live(body: str, expected: tuple[int, ...]) -> None:
    assert live(body) == frozenset(expected)
