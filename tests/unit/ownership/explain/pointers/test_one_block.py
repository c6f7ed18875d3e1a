"""``by_part`` of ``opi_xform.ownership.explain.other_memory``: pointers of tables into the block of a message."""

from __future__ import annotations

import json
from pathlib import Path

from case_tools import run_tool
from ownership_support import source
from told_programs import HEAD, MAIN, TAIL, kept, line_of

from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.explain.pointers.second_names import others_into
from opi_xform.ownership.explain.pointers.settings import set_by_calls

WORDS = (set_by_calls,)  # what is tested here, by way of the whole tool

BODY = """    double *out[4], *in[4], *low[4];
    for (int g = 0; g < 4; g++) {
        out[g] = malloc(4 * n * (g + 1) * sizeof(double));
        in[g] = out[g] + n * (g + 1);
        low[g] = out[g] + (2 * n * (g + 1) + 1);
    }
    for (int t = 0; t < 9; t++) {
        int g = t % 4;
        for (int i = 0; i < n * (g + 1); i++)
            out[g][i] = low[g][i] = t + i;
        MPI_Send(out[g], n * (g + 1), MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Send(low[g], n * (g + 1), MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in[g], n * (g + 1), MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n * (g + 1); i++)
            s += in[g][i];
    }
"""


def test_what_is_read_by_a_pointer_into_the_block(tmp_path: Path) -> None:
    """The first row is the block's own pointer, the others are parts of it: that is told before what may be read."""
    text = HEAD + MAIN + BODY + TAIL
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    first, second, third = json.loads(out)["sites"]
    made, read = line_of(text, "in[g] = out[g] +"), line_of(text, "s += in[g][i]")
    points = f"line {made} makes `in` point into the block of `out`, which this call sends"
    shown = f"could not show that line {read}, which reads it after the send, reads beside the message"
    assert (first["code"], first["message"]) == ("OPI101", f"{points}, and {shown}")
    assert [note["line"] for note in first["notes"]] == [made, read]
    rows = "makes its rows parts of one block; a message needs a buffer of its own"
    part = f"the call names a row of `low`, and line {line_of(text, 'low[g] = out')} {rows}"
    assert (second["code"], second["message"]) == ("OPI104", part)
    assert third["code"] == "OPI204"


PARTS = """struct part { double x[3]; int id; };
char *room;
struct part *parts;
long *keys, *index_of;
static void allocate(int n)
{
    room = malloc(n * 1024);
    index_of = (long *) room; // INDEX
    parts = (struct part *) room;
    keys = (long *) (parts + n / 40);
}
static void exchange(struct part *all, int n, int to)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if (all[i].id % 2) { parts[count] = all[i]; keys[count] = i; count++; }
    MPI_Ssend(&parts[0], count * sizeof(struct part), MPI_BYTE, to, 1, MPI_COMM_WORLD);
    MPI_Ssend(&keys[0], count * sizeof(long), MPI_BYTE, to, 2, MPI_COMM_WORLD);
}
"""


def test_a_read_by_another_variable_of_the_block_is_told_by_the_names_of_the_call_and_of_the_reader(
    tmp_path: Path,
) -> None:
    inside = "    allocate(n);\n    struct part *all = malloc(2 * n * sizeof(struct part));\n"
    inside += "    for (int i = 0; i < n; i++) all[i].id = i;\n"
    inside += "    for (int t = 0; t < 9; t++) exchange(all, n, 1 - rank);\n    s += index_of[0]; // READ\n"
    text = HEAD + PARTS + MAIN + inside + TAIL
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    first, second = json.loads(out)["sites"]
    read = f"read at line {line_of(text, '// READ')} after the send, as `index_of`"
    assert (first["code"], first["message"]) == ("OPI101", f"`parts` is {read}")
    assert (second["code"], second["message"]) == ("OPI101", f"`keys` may be {read}")


GROWN = """struct sim { int ranks, *many, *most; double **in; struct sim *next; };
struct sim *find(const char *);
static void exchange(struct sim *r)
{
    MPI_Request rq[64];
    for (int i = 0; i < r->ranks; i++)
        while (r->most[i] < r->many[i]) {
            r->most[i] += 32;
            r->in[i] = realloc(r->in[i], 8 * r->most[i]); // GROWN
        }
    for (int i = 0; i < r->ranks; i++)
        MPI_Irecv(r->in[i], r->many[i], MPI_DOUBLE, i, 0, MPI_COMM_WORLD, &rq[i]);
    MPI_Waitall(r->ranks, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < r->ranks; i++)
        for (int j = 0; j < r->many[i]; j++) s += r->in[i][j];
}
"""


def test_pointers_of_a_table_that_is_not_known_are_told_where_they_are_set(tmp_path: Path) -> None:
    inside = "    struct sim *r = find(argv[1]);\n    r->in = calloc(r->ranks, sizeof(double *));\n"
    inside += "    for (int t = 0; t < n; t++) { exchange(r); r = r->next; }\n"
    text, site = kept(GROWN, inside, tmp_path)
    message = f"could not show which block `r->in[…]` is: line {line_of(text, '// GROWN')} sets it by `realloc`"
    assert (site["code"], site["message"]) == ("OPI402", message)
    _, site = kept(GROWN.replace("realloc(r->in[i], ", "malloc("), inside, tmp_path)
    makes = f"line {line_of(text, '// GROWN')} makes by `malloc`, one in each turn of a loop"
    assert site["message"] == f"could not show which of the blocks `r->in[…]` is that {makes}"
    other = GROWN.replace("// GROWN", "\n            if (i > 9) r->in[i] = r->in[0];")
    _, site = kept(other, inside, tmp_path)
    assert "could not show which block" not in site["message"]


INTO = """static char *room; static long *index_of; static double *here, *there, *copy; static int many;
static void allocate(int n)
{
    room = malloc(n * 1024);
    index_of = (long *) room; // INDEX
    here = (double *) room;
    there = here + many;
    copy = there; // COPY
}
int main(int argc, char **argv)
{
    allocate(argc);
    double *mine = there;
    MPI_Send(room, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(&there[0], N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(copy, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(mine, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    return (int) index_of[0];
}
"""


def test_another_variable_that_points_into_the_block_is_named() -> None:
    found = source(INTO)
    uses = collect(found.program)
    told = [others_into(found.program, use.call.args[use.argument]) for use in uses]
    room, there = told[0], told[1]
    assert room is not None
    assert there is not None
    assert told[2:] == [None, there]  # nothing is set from the one, and the other is a copy of the second
    message, notes = room
    assert message.startswith("`index_of` points into the block of `room` as well: ")
    assert message.endswith(", and other variables do so, too")
    assert [words for _, words in notes] == ["`index_of` is set from `room` here", "`here` is set from `room` here"]
    assert there[0].startswith("`there` points into the block of `here`: ")
