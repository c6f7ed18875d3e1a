"""Where a message lies, by the words of the call."""

from pathlib import Path

import pytest
from core_support import program

from opi_xform.ir import ast
from opi_xform.ir.calls import calls_of
from opi_xform.ir.walk import uncast
from opi_xform.ownership.explain.choosing.argument import (
    begins_inside,
    by_its_arguments,
    further_in,
    in_a_number,
    is_text,
    one_of_two,
    pointers_themselves,
    row_of_arrays,
    sent_and_received,
)
from tests.unit.ownership.explain.pointers.told_programs import kept, line_of

WORDS = (by_its_arguments, further_in, sent_and_received)  # what is tested here, by way of the whole tool

TEXT = """
int f(const void *);
static double b[100], *p[4], g[4][4];
int main(int argc, char **argv) {{ double *q = b; return f({argument}); }}
"""


def argument(text: str) -> ast.Expr:
    functions = program(TEXT.format(argument=text)).program.functions
    (call,) = calls_of(functions["main"])
    return call.args[0]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("&b[3]", "at its byte 24"),
        ("b + argc", "at a place that"),
        ("(char *)(q + 2)", "at its byte 16"),
        ("b + sizeof(char)", "at its byte 8"),
    ],
)
def test_places_after_the_first(text: str, where: str) -> None:
    told = begins_inside(argument(text))
    assert told is not None
    assert where in told.message


@pytest.mark.parametrize("text", ["b", "&b[0]", "q", "p[1]"])
def test_places_that_are_the_first(text: str) -> None:
    assert begins_inside(argument(text)) is None


def test_the_address_of_a_pointer() -> None:
    assert pointers_themselves(argument("&p[1]")) is not None
    assert pointers_themselves(argument("p[1]")) is None


def test_texts_and_casts() -> None:
    assert is_text(argument('"abc"'))
    assert not is_text(argument("b"))
    assert not isinstance(uncast(argument("(void *)(char *)b")), ast.Cast)


@pytest.mark.parametrize(("sent", "received"), [("b", "b"), ("&b[n]", "&b[n]"), ("b", "(void *)b")])
def test_a_call_that_receives_where_it_sends(sent: str, received: str, tmp_path: Path) -> None:
    inside = f"""
    double *b = malloc(2 * n * sizeof *b);
    for (int i = 0; i < 2 * n; i++) b[i] = i;
    MPI_Sendrecv({sent}, n, MPI_DOUBLE, 1, 0, {received}, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * n; i++) s += b[i];
    free(b);
    """
    _, site = kept("", inside, tmp_path)
    assert site["code"] == "OPI106"
    assert "the call sends from the same place in `b` at which it receives" in site["message"]
    assert "MPI_Sendrecv_replace" in site["message"]


@pytest.mark.parametrize(("received", "same"), [("&c[0][3 * n].u", False), ("&c[1][n].u", False), ("&c[0][n].u", True)])
def test_members_are_the_same_place_where_all_indices_are(received: str, same: bool, tmp_path: Path) -> None:
    inside = f"""
    struct cell {{ double u, v; }} *c[2] = {{malloc(4 * n * sizeof **c), malloc(4 * n * sizeof **c)}};
    for (int i = 0; i < 4 * n; i++) c[0][i].u = c[1][i].u = i;
    MPI_Sendrecv(&c[0][n].u, 99, MPI_DOUBLE, 1, 0, {received}, 99, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4 * n; i++) s += c[0][i].u + c[1][i].u;
    """
    _, site = kept("", inside, tmp_path)
    assert ("the call sends from the same place in `c`" in site["message"]) is same


def test_a_call_that_receives_beside_what_it_sends(tmp_path: Path) -> None:
    inside = """
    double *b = malloc(2 * n * sizeof *b);
    for (int i = 0; i < 2 * n; i++) b[i] = i;
    MPI_Sendrecv(b, n, MPI_DOUBLE, 1, 0, &b[n], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * n; i++) s += b[i];
    free(b);
    """
    _, site = kept("", inside, tmp_path)
    assert "the same place" not in site["message"]


def test_two_datatypes_may_pick_other_elements_of_one_place(tmp_path: Path) -> None:
    inside = """
    MPI_Datatype even, odd;
    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &even);
    MPI_Type_vector(n, 1, 3, MPI_DOUBLE, &odd);
    double *b = malloc(3 * n * sizeof *b);
    for (int i = 0; i < 3 * n; i++) b[i] = i;
    MPI_Sendrecv(b, 1, even, 1, 0, b, 1, odd, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * n; i++) s += b[i];
    free(b);
    """
    _, site = kept("", inside, tmp_path)
    assert "the same place" not in site["message"]


def test_a_part_that_is_sent_by_the_next_call(tmp_path: Path) -> None:
    inside = """
    int first = n / 3;
    double *b = malloc(n * sizeof *b);
    for (int i = 0; i < n; i++) b[i] = i;
    MPI_Send(b, first, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(&b[first], n - first, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); // HERE
    free(b);
    """
    text, site = kept("", inside, tmp_path)
    again = f"`b` may be sent again at line {line_of(text, 'HERE')}, from another place in it on, and nothing is"
    assert site["message"].startswith(again)


def test_an_address_in_an_integer() -> None:
    """`int q = malloc(n)`: nothing of a buffer's form is what has to change first."""
    found = in_a_number(argument("(void *)(long)argc"))
    assert found is not None
    assert found.message.startswith("`argc` is an integer, and the message begins at the address in it")
    assert in_a_number(argument("b")) is None
    assert in_a_number(argument("(void *)0")) is None
    assert in_a_number(argument("&argc")) is None


def test_a_row_of_an_array_of_arrays_lies_in_it(tmp_path: Path) -> None:
    inside = """
    int x[n + 2][n];
    for (int i = 0; i < n + 2; i++) for (int j = 0; j < n; j++) x[i][j] = rank;
    MPI_Recv(x[0], n, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += x[i][j]; // READ
"""
    text, site = kept("", inside, tmp_path)
    message = (
        f"the message lies in `x`, and line {line_of(text, '// READ')} may read bytes there that this receive does"
    )
    assert (site["code"], site["message"]) == ("OPI201", f"{message} not bring")
    assert row_of_arrays(argument("(&g[1][0])"))
    assert not row_of_arrays(argument("&b[1]"))


def test_one_of_two_pointers() -> None:
    told = one_of_two(argument("(char *)(argc > 1 ? q : b)"))
    assert told is not None
    assert told.message.startswith("the call names `q` or `b`, by a condition")
    assert one_of_two(argument("argc > 1 ? b : b")) is None
