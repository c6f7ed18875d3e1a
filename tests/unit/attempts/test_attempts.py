"""Programs of which another text converts more: what each attempt makes of them, and where it makes nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from other_texts import Whole, whole

from opi_xform.attempts.computed_starts import Starting
from opi_xform.attempts.divided import PARTED, Parting
from opi_xform.attempts.own_parameters import own_parameters
from opi_xform.attempts.passed_on import passed_on
from opi_xform.attempts.short_names import Plainly
from opi_xform.attempts.struct_arrays import Loosening
from opi_xform.attempts.structs_by_address import Passing
from opi_xform.ownership.model.plan import Plan
from opi_xform.text.edit import ByteEdit, apply_edits


def main(body: str, top: str = "") -> str:
    start = "int rank;\nMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
    return (
        f"static double u[2 * N], v[2 * N];\n{top}\nint main(int argc, char **argv)\n{{\n{start}{body}\nreturn 0;\n}}\n"
    )


def text(changed: dict[str, bytes] | None) -> str:
    assert changed is not None
    (data,) = (data for name, data in changed.items() if name.endswith("f0.c"))
    return data.decode()


def message(found: Whole, plan: Plan, mark: str) -> str:
    (d,) = (d for d in plan.decisions if found.line.get(d.span.line) == mark)
    return d.message


# --- buffers that several messages share ------------------------------------------------------------------------------

HALVES = """double *b = malloc(2 * N * sizeof(double));
for (int t = 0; t < 3; t++) {
    for (int i = 0; i < N; i++) {
        b[i] = u[i] + t;
        b[N + i] = u[N + i] * t;
    }
    MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // ONE
    MPI_Send(&b[N], N, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD); // TWO
}
free(b);"""


def parting(found: Whole) -> Parting:
    return Parting(found.program, found.units, found.plan, found.sources, found.again)


def test_two_halves_of_one_allocation_become_two_buffers(tmp_path: Path) -> None:
    found = whole(tmp_path, main(HALVES))
    assert set(found.decisions.values()) == {"keep"}
    tried = parting(found).run()
    assert found.of(tried.plan) == {"ONE": "convert", "TWO": "convert"}
    assert message(found, tried.plan, "TWO").endswith(f"; `b` becomes 2 buffers, {PARTED}")
    assert "MPI_Send" not in text(tried.changed)


def test_a_buffer_that_is_read_across_its_halves_stays_one_and_the_line_is_noted(tmp_path: Path) -> None:
    across = HALVES.replace("    MPI_Send(b", "    memcpy(v, b + N - 1, 16); // ACROSS\n    MPI_Send(b")
    found = whole(tmp_path, main(across))
    tried = parting(found).run()
    assert tried.changed is None
    assert found.of(tried.plan) == found.decisions == {"ONE": "keep", "TWO": "keep"}
    (line,) = (n for n, mark in found.line.items() if mark == "ACROSS")
    for d in tried.plan.decisions:
        assert any(f"its parts stay one buffer: line {line} " in note.message for note in d.notes), d


# --- messages that begin at a computed place --------------------------------------------------------------------------

COMPUTED = """int at = 3 * argc, n = argc + 2;
for (int t = 0; t < 3; t++) {
    for (int i = 0; i < n; i++)
        v[at + i] = u[i] + t;
    MPI_Send(&v[at], n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // ONE
}"""


def test_a_message_that_begins_at_a_computed_place_gets_a_block_of_its_own(tmp_path: Path) -> None:
    found = whole(tmp_path, main(COMPUTED))
    assert found.decisions == {"ONE": "keep"}
    tried = Starting(found.program, found.units, found.plan, found.again).run()
    assert tried is not None
    assert found.of(tried.plan) == {"ONE": "convert"}
    assert "these elements of `v` get a block of their own at line" in message(found, tried.plan, "ONE")
    assert "v[at + i]" not in text(tried.changed)


@pytest.mark.parametrize(
    "more",
    [
        "rank = v[at] > 1;",  # read after the passage
        "v[at + 1] += 1;",  # read before it is packed anew
    ],
)
def test_what_is_read_outside_is_no_passage(more: str, tmp_path: Path) -> None:
    found = whole(tmp_path, main(COMPUTED.replace("// ONE\n", f"// ONE\n    {more}\n")))
    assert Starting(found.program, found.units, found.plan, found.again).run() is None


# --- short names ------------------------------------------------------------------------------------------------------

NAMED = """for (int t = 0; t < 3; t++) {
    for (int i = 0; i < N; i++)
        h.out[i] = u[i] + t;
    double *out = h.out;
    MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // ONE
}"""
HALO = "struct halo { int n; double *out; };\nstatic struct halo h;"
MADE = "h.out = malloc(N * sizeof(double));\nif (!h.out) exit(1);\n"


def plainly(found: Whole) -> Plainly:
    return Plainly(found.program, found.plan, found.sources, found.again)


def test_a_short_name_is_written_out_where_the_call_needs_it(tmp_path: Path) -> None:
    found = whole(tmp_path, main(MADE + NAMED + "\nfree(h.out);", HALO))
    assert found.decisions == {"ONE": "keep"}
    tried = plainly(found).run()
    assert tried is not None
    assert found.of(tried.plan) == {"ONE": "convert"}
    assert message(found, tried.plan, "ONE").endswith("`h.out` is written for `out`")
    assert "double *out = h.out;" not in text(tried.changed)


def test_a_short_name_that_names_two_blocks_is_none(tmp_path: Path) -> None:
    two = NAMED.replace("double *out = h.out;", "double *out = h.out;\n    if (argc > 2) out = v;")
    found = whole(tmp_path, main(MADE + two + "\nfree(h.out);", HALO))
    assert plainly(found).run() is None


@pytest.mark.parametrize(
    ("lost", "last", "names"),
    [
        ("", True, ["p"]),
        ("other(out);\n", True, []),
        ("several(1, out);\n", True, []),
        ("other(out);\n", False, ["p"]),  # what comes later may take the message out of the array
        ("again(out, argc);\n", True, ["p"]),  # a function of the program's, which has a text, too
    ],
)
def test_a_parameter_for_an_array_that_unknown_code_has_stays(
    lost: str, last: bool, names: list[str], tmp_path: Path
) -> None:
    """It is as lost under its own name."""
    top = "static double out[N];\nvoid other(void *);\n"
    top += "static void again(double *p, int n) { p[0] = n; if (n) again(p, n - 1); }\n"
    top += "static void several(int n, ...) { v[1] = n; }\n"
    top += "static void pack(double *p) { for (int i = 0; i < N; i++) p[i] = u[i]; }"
    send = "pack(out);\nMPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // ONE\nv[0] = out[1];"
    found = whole(tmp_path, main(lost + send, top))
    assert found.decisions == {"ONE": "keep"}
    further = None if last else lambda again, program, plan: (plan, None)
    tried = Plainly(found.program, found.plan, found.sources, replace(found.again, further=further))
    assert [name.name for name in tried.names] == names


# --- arrays in structs ------------------------------------------------------------------------------------------------

LIFTED = """for (int t = 0; t < 3; t++) {
    for (int i = 0; i < N; i++)
        s.out[i] = u[i] + t;
    MPI_Send(s.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // ONE
    s.turns = t;
}"""
STRUCT = "static struct { double out[N]; int turns; } s;\nvoid other(void *);"


def test_an_array_leaves_its_struct(tmp_path: Path) -> None:
    found = whole(tmp_path, main(LIFTED, STRUCT))
    assert found.decisions == {"ONE": "keep"}
    tried = Loosening(found.program, found.plan, found.units, found.again).run()
    assert tried is not None
    assert found.of(tried.plan) == {"ONE": "convert"}
    assert message(found, tried.plan, "ONE").endswith("`s.out` leaves its struct")


def test_an_array_of_a_struct_that_others_get_stays(tmp_path: Path) -> None:
    found = whole(tmp_path, main(f"{LIFTED}\nother(&s);", STRUCT))
    assert Loosening(found.program, found.plan, found.units, found.again).run() is None


# --- structs by value -------------------------------------------------------------------------------------------------

GIVES = """static void give(struct halo h, int t)
{
    for (int i = 0; i < N; i++)
        h.out[i] = u[i] + t;
    MPI_Send(h.out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // ONE
}"""
VALUE = """struct halo h;
h.out = malloc(N * sizeof(double));
if (!h.out) exit(1);
for (int t = 0; t < 3; t++)
    give(h, t);
free(h.out);"""


def test_a_struct_that_a_function_gets_by_value_is_passed_by_address(tmp_path: Path) -> None:
    found = whole(tmp_path, main(VALUE, f"struct halo {{ int n; double *out; }};\n{GIVES}"))
    assert found.decisions == {"ONE": "keep"}
    tried = Passing(found.program, found.plan, found.units, found.again).run()
    assert tried is not None
    assert found.of(tried.plan) == {"ONE": "convert"}
    assert message(found, tried.plan, "ONE").endswith("functions get the address of the struct instead of a copy")
    assert "give(&h, t)" in text(tried.changed)


def test_a_copy_that_the_function_changes_stays_a_copy(tmp_path: Path) -> None:
    changed = GIVES.replace("MPI_Send(h.out", "h.out += argc_of();\n    MPI_Send(h.out")
    top = f"int argc_of(void);\nstruct halo {{ int n; double *out; }};\n{changed}"
    found = whole(tmp_path, main(VALUE, top))
    assert Passing(found.program, found.plan, found.units, found.again).run() is None


# --- locals that only pass something on -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("double *m = N > 3 ? malloc(8) : NULL;\na = m;", "a = N > 3 ? malloc(8) : NULL;"),
        ("{ void *m = malloc(8); a = (double *)m; }", "a = (double *)(malloc(8));"),
        ("double *m = malloc(8);\nrank++;\na = m;", ""),
        ("double *m = malloc(8);\na = m;\nm[0] = 1;", ""),
        ("double *m = malloc(8), *k;\na = m;", ""),
        ("double *m = malloc(8);\na = m + 1;", ""),
        ("static double *m = u;\na = m;", ""),
        ("double *m = malloc(8);\nb = m;", ""),
        ("double *m = malloc(8);\n#ifdef OTHER\nm = u;\n#endif\na = m;", ""),
        ("int *m = malloc(8);\na = (double *)m;", "a = (double *)(malloc(8));"),
        ("double *m;\nm = malloc(8);\na = m;", "a = malloc(8);"),
        ("double *m;\nm = malloc(8);\nrank++;\na = m;", ""),
        ("double *m;\nm = malloc(8);\na = m;\nm[0] = 1;", ""),
        ("double *m;\nm = malloc(8);\na = m;\nm = u;", ""),
        ("double *m;\nif (rank) goto on;\nm = malloc(8);\non: a = m;", ""),
        ("double *m = u;\nm = malloc(8);\na = m;", ""),
        ("static double *m;\nm = malloc(8);\na = m;", ""),
    ],
)
def test_what_a_local_passes_on(tmp_path: Path, words: str, written: str) -> None:
    send = "\nMPI_Send(u, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // SENT"
    found = whole(tmp_path, main(words + send, "static double *a, *b;"))
    ways = list(passed_on(found.program, found.units, {"a"}))
    assert len(ways) == bool(written)
    if written:
        data = Path(found.units[0].path).read_bytes()
        edits = [ByteEdit(e.span.begin, e.span.end, (), e.text.encode()) for one in ways for e in one.edits]
        assert written in apply_edits(data, edits).decode()


@pytest.mark.parametrize(
    ("given", "body", "written"),
    [
        ("double *b", "b = u;", "f(double *b_given) {\ndouble *b = b_given;\nb = u;"),
        ("double b[]", "b = u;", "f(double b_given[]) {\ndouble *b = b_given;\nb = u;"),
        (
            "int n, const double b[N]",
            "b = u;",
            "f(int n, const double b_given[N]) {\nconst double *b = b_given;\nb = u;",
        ),
        ("double *restrict b, int n", "b = u;", "f(double *restrict b_given, int n) {\ndouble *b = b_given;\nb = u;"),
        ("double **b /* rows */", "b = 0;", "f(double **b_given /* rows */) {\ndouble **b = b_given;\nb = 0;"),
        (
            "double *b",
            "\n\n    // none\n  b = u;",
            "f(double *b_given) {\n    double *b = b_given;\n\n    // none\n  b = u;",
        ),
        ("double *b, double *c", "b = c = u;", "{\ndouble *b = b_given;\ndouble *c = c_given;\n"),
        ("double *b", "b[0] = 1;", ""),
        ("double *b", "b += 1;", ""),
        ("double (*b)[N]", "b = 0;", ""),
        ("double *b, double (*c)[sizeof *b]", "b = u;", ""),
        ("T *b, int T", "b = 0;", ""),
        ("T b", "b = 0;", ""),
        ("AS(double *b)", "b = u;", ""),
    ],
)
def test_a_parameter_that_is_set(tmp_path: Path, given: str, body: str, written: str) -> None:
    """It gets another name, and a variable has its own."""
    body = body if body.startswith("\n") else f"\n{body}"
    top = f"typedef double *T;\n#define AS(x) x\nstatic void f({given}) {{{body}\n}}\n"
    send = "f(0" + ", 0" * given.count(",") + ");\nMPI_Send(u, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // SENT"
    found = whole(tmp_path, main(send, top))
    ways = list(own_parameters(found.program, found.units, {"b", "c"}))
    assert len(ways) == bool(written)
    if written:
        data = Path(found.units[0].path).read_bytes()
        edits = [ByteEdit(e.span.begin, e.span.end, (), e.text.encode()) for one in ways for e in one.edits]
        assert written in apply_edits(data, edits).decode()
