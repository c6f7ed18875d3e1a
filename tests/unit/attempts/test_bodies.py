"""Calls of functions that pack, written out: which text stands for them, and which calls stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from other_texts import Whole, whole

from opi_xform.attempts.again import Again
from opi_xform.attempts.bodies import written_out
from opi_xform.attempts.computed_starts import Starting
from opi_xform.attempts.written_calls import WrittenCalls
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Plan

PROGRAM = """static double v[2 * N], u[2 * N];
static int at;

static void pack(double *b, int from, int n)
{
    for (int i = 0; i < n; i++)
        b[from + i] = u[i];
}

int main(int argc, char **argv)
{
    int n = argc + 2;
    at = 3 * argc;
    pack(CALL);
    MPI_Send(&v[at], n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // ONE
    return 0;
}
"""


def program(folder: Path, call: str = "v, at, n", *changes: tuple[str, str]) -> Whole:
    text = PROGRAM.replace("CALL", call)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return whole(folder, text)


def texts(found: Whole) -> list[str]:
    """What is written for each call of ``pack``, its lines joined."""
    known = written_out(found.program, found.units, {"f0.c:pack", "pack", *found.program.functions})
    return [" ".join(b"".join(e.text for e in one.edits).decode().split()) for one in known]


def test_arguments_that_are_names_are_written_for_the_parameters(tmp_path: Path) -> None:
    assert texts(program(tmp_path)) == ["{ for (int i = 0; i < n; i++) v[at + i] = u[i]; }"]


def test_other_arguments_are_held_by_variables(tmp_path: Path) -> None:
    held = "{ int from_given = at + 1; for (int i = 0; i < n; i++) v[from_given + i] = u[i]; }"
    assert texts(program(tmp_path, "v, at + 1, n")) == [held]


def test_the_address_of_an_element_is_the_array_and_its_number(tmp_path: Path) -> None:
    (text,) = texts(program(tmp_path, "&v[at, n], 0, n"))
    assert text.startswith("{ const long b_at = (at, n); int from_given = 0; for")
    assert "v[b_at + (from_given + i)] = u[i];" in text


def test_a_parameter_that_is_set_is_a_variable_of_the_body(tmp_path: Path) -> None:
    (text,) = texts(program(tmp_path, "v, at, n", ("= u[i];\n", "= u[i];\n    n = 0;\n")))
    assert text == "{ int n_given = n; for (int i = 0; i < n_given; i++) v[at + i] = u[i]; n_given = 0; }"


ELEMENT = "    for (int i = 0; i < n; i++)\n        b[from + i] = u[i];\n"


@pytest.mark.parametrize(
    ("body", "argument", "expected"),
    [
        ("    b[from] = n;\n", "at + 1", "{ v[at + 1] = n; }"),
        ("    b[from] += b[from] * n;\n", "N + at", "{ v[N + at] += v[N + at] * n; }"),
        ("    from[b] = n;\n", "at + 1", "{ (at + 1)[v] = n; }"),
        ("    at++;\n    b[from] = n;\n", "at + 1", "{ int from_given = at + 1; at++; v[from_given] = n; }"),
        ("    b[2 * from] = n;\n", "at + 1", "{ int from_given = at + 1; v[2 * from_given] = n; }"),
        (
            "    int at = 2;\n    b[from] = at;\n",
            "at + 1",
            "{ int from_given = at + 1; int at = 2; v[from_given] = at; }",
        ),
        ("    b[from] = n;\n", "at + 1L", "{ int from_given = at + 1L; v[from_given] = n; }"),
    ],
)
def test_a_sum_is_written_for_an_elements_number_that_it_still_is(
    body: str, argument: str, expected: str, tmp_path: Path
) -> None:
    assert texts(program(tmp_path, f"v, {argument}, n", (ELEMENT, body))) == [expected]


def test_a_number_of_one_byte_is_converted_to_the_parameters_type(tmp_path: Path) -> None:
    char = ("int n = argc + 2;", "unsigned char n = argc + 2;")
    (text,) = texts(program(tmp_path, "v, at, n", ("int n)", "_Bool n)"), char))
    assert text.startswith("{ _Bool n_given = n; for")


@pytest.mark.parametrize(
    "change",
    [
        ("        b[from", "        if (n == 7) return; else b[from"),
        ("    for (int i", "    static int calls; calls++;\n    for (int i"),
        ("    for (int i", "    u[0] = __LINE__;\n    for (int i"),
        ("    for (int i", "#define MORE\n    for (int i"),
        ("    int n = argc + 2;", "    int n = argc + 2, u = 3;\n    n += u;"),
        ("int main(", "#define u v\nint main("),
        ("    pack(v, at, n);", "    for (pack(v, at, n); n < 3; n++)\n        ;"),
        ("    pack(v, at, n);", "    pack(v, at /* here */ + 1, n);"),
    ],
)
def test_a_call_stays_where_the_body_may_mean_something_else(change: tuple[str, str], tmp_path: Path) -> None:
    assert texts(program(tmp_path, "v, at, n", change)) == []


def starting(again: Again, program: Program, plan: Plan) -> tuple[Plan, dict[str, bytes] | None]:
    tried = Starting(program, again.units, plan, again).run()
    return (plan, None) if tried is None else (tried.plan, tried.changed)


def test_what_packs_in_a_function_is_a_passage_where_it_is_called(tmp_path: Path) -> None:
    found = program(tmp_path)
    assert found.decisions == {"ONE": "keep"}
    assert WrittenCalls(found.program, found.plan, found.units, found.again).run() is None  # nothing comes later
    again = replace(found.again, further=starting)
    tried = WrittenCalls(found.program, found.plan, found.units, again).run()
    assert tried is not None
    assert found.of(tried.plan) == {"ONE": "convert"}
    (d,) = tried.plan.decisions
    assert d.message.endswith("; the calls of `pack` are written out")


def test_what_packs_another_place_is_none(tmp_path: Path) -> None:
    found = program(tmp_path, "v, at + 1, n")
    again = replace(found.again, further=starting)
    assert WrittenCalls(found.program, found.plan, found.units, again).run() is None


HANDED = """struct halo { double *out[2], *kept[2]; };
static int get(double **to, int n)
{
    *to = malloc(n * sizeof **to);
    return *to == NULL;
}
static struct halo *make(int n)
{
    struct halo *h = malloc(sizeof *h);
    for (int d = 0; d < 2; d++) {
        if (get(&h->kept[d], 9))
            exit(1);
        if (get(&h->out[d], n))
            exit(1);
    }
    return h;
}
int main(int argc, char **argv)
{
    struct halo *h = make(argc);
    for (int d = 0; d < 2; d++) {
        for (int i = 0; i < argc; i++)
            h->out[d][i] = i;
        MPI_Send(h->out[d], argc, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // ONE
    }
    return h->kept[0] == h->kept[1];
}
"""


def test_what_hands_out_memory_is_written_out_where_it_is_a_messages(tmp_path: Path) -> None:
    found = whole(tmp_path, HANDED)
    assert found.decisions == {"ONE": "keep"}
    again = replace(found.again, further=lambda _again, _program, plan: (plan, None))
    tried = WrittenCalls(found.program, found.plan, found.units, again).run()
    assert tried is not None
    assert found.of(tried.plan) == {"ONE": "convert"}
    (text,) = tried.changed.values()
    assert (text.count(b"get(&h->kept[d], 9)"), text.count(b"get(&h->out[d], n)")) == (1, 0)
