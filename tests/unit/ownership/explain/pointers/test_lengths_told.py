"""What is told of how much comes and how much is packed: counts, datatypes, conditions of a packing loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from told_programs import kept, line_of


def test_the_length_of_a_datatype(tmp_path: Path) -> None:
    """Elements that lie one after the other have no gaps: only their number is not known."""
    before = """struct group { int n; MPI_Datatype row; };
static void make(struct group *g)
{
    MPI_Type_contiguous(g->n, MPI_DOUBLE, &g->row);
    MPI_Type_commit(&g->row);
}
"""
    inside = """
    struct group *g = malloc(2 * sizeof *g);
    for (int i = 0; i < 2; i++) {
        g[i].n = n + i;
        make(&g[i]);
    }
    double *b = malloc(n * sizeof *b);
    for (int i = 0; i < n; i++)
        b[i] = i;
    MPI_Send(b, 1, g[rank].row, 1, 0, MPI_COMM_WORLD);
    free(b);
"""
    text, site = kept(before, inside, tmp_path)
    at = line_of(text, "MPI_Type_contiguous")
    made = f"which `MPI_Type_contiguous` makes at line {at}"
    assert site["message"] == f"could not show how long `g[…].row` is, {made}"
    rows = """double **p = malloc(4 * sizeof *p), *b = malloc(4 * n * sizeof *b);
    for (int i = 0; i < 4; i++)
        p[i] = &b[i * n]; // PART
    for (int i = 0; i < n; i++)
        p[rank][i] = i;
    MPI_Send(p[rank], 1, g[rank].row, 1, 0, MPI_COMM_WORLD);
    free(b);
"""
    text, site = kept(before, inside[: inside.index("double *b")] + rows, tmp_path)
    part = f"the call names a row of `p`, and line {line_of(text, 'PART')} makes its rows parts of one block"
    also = f"also, could not show how long `g[…].row` is, which `MPI_Type_contiguous` makes at line {at}"
    assert site["message"] == f"{part}; a message needs a buffer of its own; {also}"


def test_rows_of_structs_go_before_the_datatype_of_a_struct(tmp_path: Path) -> None:
    """A struct's datatype need not have gaps; that a row is a part of a block is sure."""
    inside = """
    struct dot { char r, g, b; } **p = malloc(4 * sizeof *p), *b = calloc(4 * n, sizeof *b);
    int of[3] = {1, 1, 1};
    MPI_Aint at[3] = {rank, 1, 2};
    MPI_Datatype dot, old[3] = {MPI_CHAR, MPI_CHAR, MPI_CHAR};
    MPI_Type_create_struct(3, of, at, old, &dot); // MADE
    MPI_Type_commit(&dot);
    for (int i = 0; i < 4; i++)
        p[i] = &b[i * n]; // PART
    MPI_Recv(p[rank], n, dot, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s = b[n].r;
    free(b);
"""
    text, site = kept("", inside, tmp_path)
    part = f"the call names a row of `p`, and line {line_of(text, 'PART')} makes its rows parts of one block"
    made = f"it is made by `MPI_Type_create_struct` at line {line_of(text, 'MPI_Type_create_struct')}"
    also = f"also, could not show that the datatype has no gaps: {made}"
    assert site["message"] == f"{part}; a message needs a buffer of its own; {also}"
    whole = inside.replace("p[rank], n, dot", "b, 4 * n, dot").replace("p[i] = &b[i * n];", "p[i] = NULL;")
    text, site = kept("", whole, tmp_path)
    assert f"it is made by `MPI_Type_create_struct` at line {line_of(text, 'MADE')}" in site["message"]


def test_a_count_that_is_not_known_to_be_that_of_the_receive(tmp_path: Path) -> None:
    before = """static MPI_Request sent;
static int count_of(MPI_Request *r)
{
    MPI_Status status;
    int c;
    MPI_Wait(r, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &c); // TOLD
    return c;
}
"""
    inside = """
    double *b = malloc(5000 * sizeof *b);
    for (int t = 0; t < 3; t++) {
        MPI_Irecv(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &sent);
        int c = count_of(&sent);
        for (int i = 0; i < c; i++)
            s += b[i]; // READ
    }
    free(b);
"""
    text, site = kept(before, inside, tmp_path)
    told = f"could not show that the count which line {line_of(text, 'TOLD')} tells is that of this receive"
    assert site["message"] == f"{told}: line {line_of(text, 'READ')} reads no more of `b`"
    assert (line_of(text, "TOLD"), "how much has come is told here") in [
        (n["line"], n["message"]) for n in site["notes"]
    ]


def test_a_receive_of_a_datatype_of_which_the_length_is_not_known(tmp_path: Path) -> None:
    before = """struct part { int n; float x[1000]; };
static MPI_Datatype one;
static void make(struct part *p)
{
    int counts[2] = {1, 1};
    MPI_Aint at[2], start;
    MPI_Datatype kinds[2] = {MPI_INT, MPI_FLOAT};
    MPI_Type_contiguous(p->n * p->n, MPI_FLOAT, &kinds[1]);
    MPI_Get_address(p, &start);
    MPI_Get_address(p->x, &at[1]);
    at[0] = 0;
    at[1] -= start;
    MPI_Type_create_struct(2, counts, at, kinds, &one); // MADE
    MPI_Type_commit(&one);
}
"""
    inside = """
    struct part *b = malloc(sizeof *b), *all = malloc(sizeof *all);
    all->n = b->n = n;
    make(all);
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < b->n * b->n; i++)
            s += b->x[i]; // READ
        MPI_Sendrecv_replace(b, 1, one, 1, 0, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
"""
    text, site = kept(before, inside, tmp_path)
    made = f"how much `one` has, which line {line_of(text, 'MADE')} makes, is not known"
    assert site["message"].endswith(f"may read bytes of `b` that this call does not bring: {made}")
    assert (line_of(text, "MADE"), "made here") in [(note["line"], note["message"]) for note in site["notes"]]


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("&b[(n + 1) * n]", "the message lies in `b`, and line {READ} may read bytes there"),
        ("b", "how much `row` has, which line {MADE} makes, is not known"),
    ],
)
def test_a_row_of_a_field_is_told_as_such_however_long_it_is(tmp_path: Path, start: str, told: str) -> None:
    inside = f"""
    MPI_Datatype row;
    MPI_Type_contiguous(n, MPI_DOUBLE, &row); // MADE
    MPI_Type_commit(&row);
    double *b = calloc((n + 2) * n, sizeof(double)), *c = calloc((n + 2) * n, sizeof(double));
    for (int t = 0; t < 4; t++) {{
        for (int i = n; i < (n + 1) * n; i++)
            c[i] = b[i - n] + b[i + n]; // READ
        double *p = b;
        b = c;
        c = p;
        MPI_Recv({start}, 1, row, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }}
    s = b[0];
"""
    text, site = kept("", inside, tmp_path)
    told = told.format(READ=line_of(text, "READ"), MADE=line_of(text, "MADE"))
    assert told in site["message"]
    assert ("how much" in site["message"]) == ("how much" in told)


@pytest.mark.parametrize(("count", "empty"), [("0", True), ("2", False)])
def test_a_message_without_elements_is_empty(tmp_path: Path, count: str, empty: bool) -> None:
    before = f"static void never(void) {{ MPI_Send(NULL, {count}, MPI_INT, 0, 0, MPI_COMM_WORLD); }}\n"
    _, site = kept(before, f"    MPI_Send(&n, {count}, MPI_INT, 0, 0, MPI_COMM_WORLD); never();\n", tmp_path)
    assert ("the message is empty" in site["message"]) == empty


@pytest.mark.parametrize(
    ("store", "where"),
    [
        ("if (rank != 3) out[i] = i;", "only where `rank != 3`"),
        ("if (rank == 3) continue; else out[i] = i;", "only where `rank == 3` does not hold"),
        ("if (i % 2 && rank) out[i] = i;", "only under the condition in line"),
        ("out[i + i % 2] = i;", ""),
        ("if (i) if (rank) out[i] = i;", ""),
    ],
)
def test_a_message_that_is_packed_under_a_condition(store: str, where: str, tmp_path: Path) -> None:
    inside = f"""
    double *out = malloc(1000 * sizeof *out);
    for (int t = 0; t < n; t++) {{
        for (int i = 0; i < 1000; i++) {{
            {store}
        }}
        MPI_Send(out, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    }}
    free(out);
"""
    text, site = kept("", inside, tmp_path)
    said = site["message"].partition("surely written after this send")[2]
    told = f": line {line_of(text, 'out[i')} writes it {where}" if where else ""
    assert said.startswith(told)
    assert where or "writes it only" not in said


def test_a_condition_of_each_turn_is_told_where_two_analyses_disagree(tmp_path: Path) -> None:
    inside = """
    double *out = malloc(1000 * sizeof *out);
    for (int t = 0; t < n; t++) {
        int to = t % 2 ? rank + 1 : rank - 1;
        for (int i = 0; i < 1000; i++) {
            if (to >= 0)
                out[i] = i; // STORE
        }
        if (to >= 0)
            MPI_Send(out, 1000, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // SEND
    }
    free(out);
"""
    text, site = kept("", inside, tmp_path)
    assert site["code"] == "OPI910"
    assert f"line {line_of(text, 'STORE')} writes it only where `to >= 0`" in site["message"]
    assert [note["line"] for note in site["notes"]] == [line_of(text, "STORE"), line_of(text, "SEND")]


def test_an_unsigned_count_is_told(tmp_path: Path) -> None:
    inside = """
    size_t most = n, many = n / 2; // COUNT
    char *in = malloc(many + 1);
    if (most > many)
        exit(1);
    MPI_Recv(in, many, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < most; i++)
        s += in[i]; // READ
    free(in);
"""
    text, site = kept("", inside, tmp_path)
    brings = f"line {line_of(text, 'READ')} reads no more of `in` than this receive brings (`many`, an unsigned number)"
    assert site["message"] == f"could not show that {brings}"


@pytest.mark.parametrize(("count", "said"), [("200", True), ("100", False), ("n", False)])
def test_a_count_of_more_than_the_array_has(count: str, said: bool, tmp_path: Path) -> None:
    inside = f"b[0] = n;\nMPI_Send(b, {count}, MPI_INT, 1, 0, MPI_COMM_WORLD);\ns += b[1];\n"
    _, site = kept("static int b[100];\n", inside, tmp_path)
    assert site["message"].endswith("; its count is of 800 bytes, and `b` has 400 there") is said
