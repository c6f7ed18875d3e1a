"""Calls that get the address of a pointer, and calls whose result is wanted, written out."""

from __future__ import annotations

from pathlib import Path

import pytest
from other_texts import Whole, whole

from opi_xform.attempts.bodies import written_out
from opi_xform.attempts.calling import calling, leaving
from opi_xform.text.edit import apply_edits

PROGRAM = """struct grid { double *out; };
static struct grid one, two, *now = &one;
static double *all[2];
static int at;

static int make(double **to, int n)
{
    double *memory = malloc(n * sizeof(double));
    if (!memory)
        return 1;
    *to = memory;
    return 0;
}

static void release(double **of)
{
    free(*of);
    *of = NULL;
}

int main(int argc, char **argv)
{
    double *out;
    CALL
    MPI_Send(out, 300, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // ONE
    return 0;
}
"""
NO_EARLY = ("    if (!memory)\n        return 1;\n", "")


def program(folder: Path, call: str, *changes: tuple[str, str]) -> Whole:
    text = PROGRAM.replace("CALL", call)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return whole(folder, text)


def written(found: Whole) -> str:
    """``main`` with its calls written out, from its first statement to the message, in one line."""
    (unit,) = found.units
    edits = [e for one in written_out(found.program, found.units, found.program.functions) for e in one.edits]
    text = apply_edits(Path(unit.path).read_bytes(), edits).decode()
    return " ".join(text.partition("char **argv)\n{\n    double *out;")[2].partition("MPI_Send")[0].split())


def test_what_an_address_is_of_is_written_for_what_the_parameter_points_to(tmp_path: Path) -> None:
    assert written(program(tmp_path, "release(&out);")) == "{ free(out); out = NULL; }"
    assert written(program(tmp_path, "release(&now->out);")) == "{ free(now->out); now->out = NULL; }"
    assert written(program(tmp_path, "release(&all[1]);")) == "{ free(all[1]); all[1] = NULL; }"
    assert written(program(tmp_path, "release(&all[at]);")) == "{ free(all[at]); all[at] = NULL; }"


def test_what_binds_less_than_what_stands_around_it_is_in_parentheses(tmp_path: Path) -> None:
    indexed = ("    free(*of);", "    free(of[0] + 1);")
    assert "free((*q) + 1); (*q) = NULL;" in written(program(tmp_path, "double **q = &out; release(&*q);", indexed))
    assert "int n_given = (at, 300);" in written(program(tmp_path, "make(&out, (at, 300));"))


def test_an_address_of_anything_is_that_of_the_pointer_that_it_is_of(tmp_path: Path) -> None:
    anything = ("release(double **of)", "release(void **of)")
    assert written(program(tmp_path, "release((void **)&out);", anything)) == "{ free(out); out = NULL; }"


@pytest.mark.parametrize(
    ("call", "change"),
    [
        ("release(&now->out);", ("    free(*of);", "    now = &two;\n    free(*of);")),
        ("release(&all[at]);", ("    free(*of);", "    at = 1;\n    free(of[0]);\n    of[1] = NULL;")),
        ("release(&out);", ("    free(*of);", "    double *out = *of;\n    free(out);")),
        ("release(&out);", ("    free(*of);", "    while (at) return;\n    free(*of);")),
        ("if (at && make(&out, 300)) exit(1);", ("    free(*of);", "    free(*of);")),
        ("if (at + make(&out, 300)) exit(1);", ("    free(*of);", "    free(*of);")),
        ("while (make(&out, 300)) exit(1);", ("    free(*of);", "    free(*of);")),
        ("release((void **)&out);", ("release(double **of)\n{\n", "release(void **of)\n{\n    free(*of + 8);\n")),
    ],
)
def test_a_call_stays_where_the_words_may_mean_something_else(
    call: str, change: tuple[str, str], tmp_path: Path
) -> None:
    found = program(tmp_path, call, change)
    text = written(found)
    assert text == call or "of_given" in text or "of_at" in text


def test_a_result_is_set_before_the_statement_that_asks_for_it(tmp_path: Path) -> None:
    found = program(tmp_path, "if (make(&out, 300)) exit(1);", NO_EARLY)
    body = "{ int n_given = 300; double *memory = malloc(n_given * sizeof(double)); out = memory; make_1 = 0; }"
    assert written(found) == f"{{ int make_1; {body} if (make_1) exit(1); }}"


def test_a_variable_is_declared_after_the_body_that_makes_its_value(tmp_path: Path) -> None:
    text = written(program(tmp_path, "int error = make(&out, 300); if (error) exit(1);", NO_EARLY))
    assert text.startswith("int make_1; { int n_given")
    assert text.endswith("make_1 = 0; } int error = make_1; if (error) exit(1);")


def test_what_is_returned_early_leaves_a_loop_of_one_turn(tmp_path: Path) -> None:
    text = written(program(tmp_path, "if (make(&out, 300) != 0) exit(1);"))
    assert "if (!memory) { make_1 = 1; break; } out = memory; { make_1 = 0; break; } } while (0); }" in text
    assert text.endswith("if (make_1 != 0) exit(1); }")


def test_a_result_that_nobody_wants_is_made_for_nothing(tmp_path: Path) -> None:
    assert "out = memory; (void)( 0); }" in written(program(tmp_path, "make(&out, 300);", NO_EARLY))


def test_how_a_function_is_left_and_which_statement_calls_it(tmp_path: Path) -> None:
    (unit,) = program(tmp_path, "release(&out);").units
    functions = {f.name: f for f in unit.functions.values()}
    left, plain = leaving(functions["make"]), leaving(functions["release"])
    assert left is not None
    assert left.early
    assert plain is not None
    assert not plain.returns
    body = functions["main"].body
    found = [one for s in body.body if (one := calling(s, body, functions["main"].variables)) is not None]
    assert [one.wanted for one in found] == [False, False]
