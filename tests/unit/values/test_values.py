"""What the forward pass knows of values and accesses: one construct a test."""

from __future__ import annotations

import pytest
from core_support import Found, program

HEAD = "static int mark, g[9]; static double b[20], m[4][5]; int other(void); int keep(int *);\n"


def run(body: str) -> Found:
    return program(f"{HEAD}int main(int argc, char **argv) {{ int n = argc, i = 0, j; {body} return 0; }}")


def marks(body: str) -> list[str]:
    """The values given to ``mark``; k0, k1, … are iteration numbers, ``load`` is n or another value read."""
    found = run(body)
    return [found.show(v) for v in found.marked()]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (i = 0; i < n; i++) mark = i;", ["k0"]),
        ("for (i = n; i > 0; i--) mark = i;", ["load + -1*k0"]),
        ("for (i = 3; i < n; i += 2) mark = 5 * i + 1;", ["16 + 10*k0"]),
        ("while (i < n) { mark = i; i = i + n; }", ["load*k0"]),
        ("for (i = 0; i < 3; i++) for (j = i; j < 5; j++) mark = j - i;", ["k1"]),
        ("for (i = 1; i < n; i *= 2) mark = i;", ["phi"]),
        ("for (i = 0; i < 10; i++) ; mark = i;", ["10"]),
        ("for (i = 9; i >= 0; i -= 3) ; mark = i;", ["-3"]),
        ("for (i = 5; i < 3; i++) ; mark = i;", ["5"]),
        ("for (i = 0; i < n; i++) ; mark = i;", ["exit"]),
        ("do i++; while (i < n); mark = i;", ["1 + exit"]),
        ("mark = n ? 1 : 2;", ["phi"]),
        ("if (n) i = 3; mark = i;", ["phi"]),
        ("if (n) i = 3; else i = 3; mark = i;", ["3"]),
        ("i = n; if (other()) i = n; mark = i - n;", ["0"]),
        ("mark = (n + 1) * (n - 1) - n * n;", ["-1"]),
        ("mark = 7 / 2; mark = -7 / 2; mark = -7 % 3;", ["3", "-3", "-1"]),
        ("mark = (4 * n) / 2;", ["2*load"]),
        ("mark = (char)300;", ["44"]),
        ("mark = (int)(long)n - n;", ["0"]),
        ("if (n) { i = 2; goto on; } i = 3; on: mark = i; i--; if (other()) goto on;", ["phi + -1*k0"]),
        ("double *p = &b[1]; if (n) p++; if (other()) p++; mark = p - b;", ["phi"]),
        ("struct { int a, c; } s; s.a = 3; s.c = 4; mark = s.c;", ["4"]),
    ],
)
def test_closed_forms(body: str, expected: list[str]) -> None:
    assert marks(body) == expected


def test_loads_are_equal_until_something_is_stored() -> None:
    first, again, after = run("mark = g[1]; mark = g[1]; g[n] = 3; mark = g[1];").marked()
    assert first == again
    assert first != after


def test_a_store_elsewhere_leaves_a_load_alone() -> None:
    first, again = run("mark = g[1]; b[n] = 3; mark = g[1];").marked()
    assert first == again


def test_loads_in_a_loop_that_stores_differ_from_turn_to_turn() -> None:
    found = run("for (i = 0; i < n; i++) { mark = g[1]; g[n] = i; }")
    (value,) = found.marked()
    assert found.program.values.symbols.scope(value)
    still = run("for (i = 0; i < n; i++) { mark = g[1]; b[n] = i; }")
    assert not still.program.values.symbols.scope(still.marked()[0])


def test_contents_first_looked_at_behind_a_store_on_one_path() -> None:
    """The object was read on one path only when the second branch stores to it: the reads are not the same."""
    first, second = run("if (argc > 2) mark = g[1]; if (argc > 3) g[n] = 5; mark = g[1];").marked()
    assert first != second
    first, second = run("if (argc > 2) mark = g[1]; mark = g[1];").marked()
    assert first == second


def test_scalars_whose_address_is_taken() -> None:
    before, after = run("int *p = &n; mark = n; *p = 5; mark = n;").marked()
    assert after.constant == 5
    assert before != after
    one, two = run("mark = n; keep(&n); mark = n;").marked()
    assert one != two
    one, two = run("mark = n; other(); mark = n;").marked()
    assert one == two


def test_a_pointer_to_either() -> None:
    first, second = run("int x = 1, y = 2, *p = n ? &x : &y; *p = 7; mark = x; mark = y;").marked()
    assert first.constant is None
    assert second.constant is None


def places(body: str, name: str) -> list[str]:
    found = run(body)
    return ["?" if a.lo is None else found.show(a.lo) for a in found.access(name, "W")]


@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        ("for (i = 0; i < n; i++) b[2 * i + 1] = 1;", "b", ["8 + 16*k0"]),
        ("double *p = b; while (p < b + n) *p++ = 1;", "b", ["8*k0"]),
        ("double *p = b + n; while (p > b) *--p = 1;", "b", ["-8 + 8*load + -8*k0"]),
        ("double *p = &b[3]; p[-1] = 1; *(p + n) = 1;", "b", ["16", "24 + 8*load"]),
        ("m[n][2] = 1;", "m", ["16 + 40*load"]),
        ("double (*r)[5] = m + 1; r[1][1] = 1;", "m", ["88"]),
        ("for (i = 0; i < 4; i++) for (j = 0; j < 5; j++) m[i][j] = 1;", "m", ["8*k1 + 40*k0"]),
        ("double *p = n ? b : b + 2; *p = 1;", "b", ["16*phi"]),
        ("double *p = n ? b : &m[0][0]; *p = 1;", "b", ["?"]),
    ],
)
def test_places_of_writes(body: str, name: str, expected: list[str]) -> None:
    assert places(body, name) == expected


def test_certain_writes() -> None:
    sure = run("b[n] = 1;").access("b", "W")
    assert [(a.must, a.length.constant if a.length else None) for a in sure] == [(True, 8)]
    unsure = run("double *p = n ? b : &m[0][0]; *p = 1;").access("b", "W")
    assert [a.must for a in unsure] == [False]


FILL = "double *q[3]; for (i = 0; i < 3; i++) q[i] = malloc(80); {}"


def families(body: str) -> list[str]:
    return [o.name for o in run(FILL.format(body)).program.values.objects.table if o.kind == "family"]


def test_cells_that_own_a_buffer_each_are_a_family() -> None:
    assert families("q[n][3] = 2;") == ["q[]"]
    found = run(FILL.format("q[n][3] = 2;"))
    (family,) = [o for o in found.program.values.objects.table if o.kind == "family"]
    (access,) = [a for x in found.program.values.accesses.of(family.number).values() for a in x]
    assert access.lo is not None
    kinds = [found.program.values.symbols.table[s].kind for s in access.lo.symbols()]
    assert (kinds, access.lo.constant_term) == (["row"], 24)


@pytest.mark.parametrize("body", ["q[1] = q[0];", "q[2] = b;", "static double *kept; kept = q[0];", "keep((int *)q);"])
def test_cells_that_share_are_none(body: str) -> None:
    assert families(body) == []


def test_rows_are_known_by_their_index() -> None:
    found = run("m[i + n][3] = 1;")
    (access,) = found.access("m", "W")
    assert access.lo is not None
    assert [found.program.values.symbols.table[s].kind for s in access.lo.symbols()] == ["row"]
    assert access.within == 40


def test_what_is_known_not_to_be_negative() -> None:
    found = run("unsigned k = n; for (i = 0; i < n; i++) mark = i + 2; mark = n; mark = i - 1; mark = n & 7;")
    symbols = found.program.values.symbols
    assert [symbols.is_nonneg(v) for v in found.marked()] == [True, False, False, True]


def test_an_address_used_as_a_number_escapes() -> None:
    assert run("mark = (int)(uintptr_t)b;").object("b") in run("mark = (int)(uintptr_t)b;").program.values.escaped
    found = run("mark = &b[3] - b; b[0] = 1;")
    assert found.marked()[0].constant == 3
    assert found.object("b") not in found.program.values.escaped
