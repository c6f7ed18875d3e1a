"""What writes a message's memory before it is sent again, and blocks of which a receive brings a part."""

from __future__ import annotations

from pathlib import Path

import pytest
from grid_programs import FIRST, ROW, TAKE, TWO, sites
from ownership_support import source
from read_programs import line_of

from opi_xform.ir import instr as ins
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.explain.reaching.packed import begins_late, writes_between
from opi_xform.ownership.explain.reaching.touching import Touching
from opi_xform.ownership.model.names import names_of
from tests.unit.ownership.explain.pointers.told_programs import first_site, kept


@pytest.mark.parametrize(
    ("between", "wanted"),
    [
        ("memset(p + n / 2, 0, 8);", "line {} writes into it before that"),
        ("fill(p);", "`fill` at line {}, of which nothing is known, may write into it before that"),
        ("fill(q);", ""),
    ],
)
def test_what_may_write_a_buffer_of_either_before_it_is_sent_again(between: str, wanted: str, tmp_path: Path) -> None:
    lines = [
        *TWO,
        "double *p = n > 7 ? a : b, *q = malloc(8 * m);",
        "for (int i = 0; i < m; i++) p[i] = i;",
        f"MPI_Send(p, {ROW});",
        f"{between} // BETWEEN",
        f"MPI_Send(p, {ROW}); // HERE",
    ]
    text, found = sites(lines, tmp_path, "void fill(double *);\n")
    told_first = f"; {wanted.format(line_of(text, 'BETWEEN'))}, perhaps without" if wanted else ", perhaps without"
    start = f"the message lies in `p`, and line {line_of(text)} sends it"
    assert (found[0]["decision"], found[0]["message"].startswith(start + told_first)) == ("keep", True), found[0]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (f"MPI_Send(p + (n - 1) * m, {ROW});", True),
        (f"MPI_Send(p, n * {ROW});", True),
        (f"MPI_Send(p, {ROW});", False),
    ],
)
def test_a_block_that_is_a_number_of_times_as_long_as_a_message(other: str, said: bool, tmp_path: Path) -> None:
    lines = [
        *TWO,
        "double *p = n > 7 ? a : b;",
        FIRST,
        f"MPI_Recv(p, {ROW}, {TAKE}",
        other,
        "for (int i = 0; i < m * m; i++) p[i] += p[i / 2]; // HERE",
        'printf("%g\\n", p[n]);',
    ]
    text, found = sites(lines, tmp_path)
    wanted = f"the message lies in `p`, and line {line_of(text)} may read bytes there that this receive does not bring"
    assert found[0]["message"].startswith(wanted) is said, found[0]


@pytest.mark.parametrize(("place", "said"), [("&r[1][1]", True), ("&r[1][0]", False)])
def test_rows_of_their_own_that_are_longer_than_a_message(place: str, said: bool, tmp_path: Path) -> None:
    lines = [
        "int m = n + 2; double sum = 0, **r = malloc(m * sizeof *r);",
        "for (int i = 0; i < m; i++) r[i] = calloc(m, 8);",
        "MPI_Datatype t; MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &t); MPI_Type_commit(&t);",
        f"MPI_Recv(&r[n][0], 1, t, 1, 0, MPI_COMM_WORLD, {TAKE}",
        f"MPI_Recv({place}, 1, t, 1, 0, MPI_COMM_WORLD, {TAKE}",
        "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) r[i][j] = sum += r[i][j]; // HERE",
        'printf("%g\\n", sum);',
    ]
    text, found = sites(lines, tmp_path)
    wanted = f"the message lies in `r`, and line {line_of(text)} may read bytes there that this receive does not bring"
    assert found[0]["message"].startswith(wanted) is said, found[0]


def test_of_no_memory_nothing_is_said() -> None:
    send = "MPI_Send(b, 9, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
    program = source(f"static double b[9];\nint main(void) {{ {send} {send} return 0; }}\n").program
    first, second = list(collect(program))
    assert writes_between(Touching(program), program, first, (), second.node) == ("", ())


@pytest.mark.parametrize(("begin", "wanted"), [("lo", "from `lo` on"), ("0", ""), ("(int)lo", "from `lo` on")])
def test_a_loop_that_packs_from_a_number_on_that_the_program_computes(begin: str, wanted: str) -> None:
    before = "static double b[200]; static int lo;\n"
    loop = f"for (int i = {begin}; i < 20; i++)\nb[i] = i; // HERE"
    src = source(f"{before}int main(int argc, char **argv)\n{{\nlo = argc;\n{loop}\nreturn 0;\n}}\n")
    names = names_of(src.program)
    nodes = [n.number for n in src.program.graph.nodes if isinstance(n.action, ins.Store)]
    here = [n for n in nodes if names.span(n).line == src.line("// HERE")]
    told = begins_late(src.program, here[0])
    assert told.startswith(f": the loop in line {src.line('// HERE') - 1}" if wanted else "")
    assert told.endswith(f" writes it {wanted}" if wanted else "")
    assert bool(told) == bool(wanted)


def test_a_receive_of_the_first_row_of_a_grid_lies_in_it(tmp_path: Path) -> None:
    """Another receive brings a row further in, and the program computes the rest."""
    lines = """
    const int rows = (rank + 2) * n, last = rows - n;
    double *u = calloc(rows, sizeof *u);
    for (int t = 0; t < 9; t++) {
        MPI_Recv(u, n, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&u[last], n, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int c = n; c < 2 * n; c++) u[c] = u[c - n] + u[c + n]; // HERE
    }
    s = u[n];
    free(u);
    """
    text, site = kept("", lines, tmp_path)
    line = next(i for i, line in enumerate(text.splitlines(), 1) if "HERE" in line)
    brings = f"the message lies in `u`, and line {line} may read bytes there that this receive does not bring"
    assert (site["code"], site["message"]) == ("OPI201", brings)


def test_a_store_into_the_struct_that_keeps_a_pointer_writes_no_message(tmp_path: Path) -> None:
    """``s->busy = 1`` is no byte of ``s->buffer``, although that may be any memory."""
    text = """#include <mpi.h>
#include <stdlib.h>
struct end { int busy, to, size; char *buffer; MPI_Request request; };
struct link { int n[2]; struct end *ends[2]; };
void make(struct link *c, int side, int *sizes, int total)
{
    c->ends[side] = calloc(total, sizeof(struct end));
    struct end *s = c->ends[side];
    for (int i = 0; i < total; i++)
        if (sizes[i]) {
            s->size = sizes[i];
            s->buffer = malloc(sizes[i]);
            ++s;
        }
}
void start(const struct link *c, int side)
{
    struct end *s = c->ends[side];
    for (int i = 0; i < c->n[side]; i++, ++s) {
        MPI_Isend(s->buffer, s->size, MPI_BYTE, s->to, 1, MPI_COMM_WORLD, &s->request);
        FILL
        s->busy = 1;
    }
}
"""
    again = "the message lies in `s->buffer`, and this call may send it once more"
    for fill, first in (("", ""), ("s->buffer[0] = i;", "; line 21 writes into it before that")):
        for made in ("s->buffer = malloc(sizes[i]);", "MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &s->buffer);"):
            site = first_site(text.replace("FILL", fill).replace("s->buffer = malloc(sizes[i]);", made), tmp_path)
            assert site["message"] == f"{again}{first}, perhaps without all of it being written anew"


def test_a_pointer_in_a_struct_that_goes_on_in_each_turn(tmp_path: Path) -> None:
    """The next turn sends what the next struct of a list has."""
    text = """#include <mpi.h>
#include <stdlib.h>
struct kv { struct kv *next; char *buf; int size; };
struct ctx { struct kv *kv; };
void work(struct ctx *c)
{
    while (c->kv != NULL) {
        MPI_Send(c->kv->buf, c->kv->size, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        c->kv = c->kv->next;
    }
}
int main(int argc, char **argv)
{
    struct ctx c = { NULL };
    MPI_Init(&argc, &argv);
    for (int i = 0; i < argc; i++) {
        struct kv *k = malloc(sizeof *k);
        k->buf = malloc(100 + i); k->size = 100 + i; k->next = c.kv; c.kv = k;
        for (int j = 0; j < 100 + i; j++) k->buf[j] = j;
    }
    work(&c);
    MPI_Finalize();
    return 0;
}
"""
    site = first_site(text, tmp_path)
    assert site["message"].startswith("which object `c->kv` points to is not known")
