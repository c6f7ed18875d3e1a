"""What the program puts beside a message before it comes, where a line reads anything of the buffer after that."""

from __future__ import annotations

from pathlib import Path

from read_programs import TO, line_of, sites

from opi_xform.ownership.explain.culprits import writes_beside
from opi_xform.ownership.explain.part_reasons import beside_refusal

WORDS = (beside_refusal, writes_beside)  # what is tested here, by way of the whole tool
MIXED = """static void mixed(int *to, int *from, int n, int step)
{
    for (int i = 0; i < n; i += step) memcpy(to + (i << 1), from + i, step * sizeof(int)); // READ
}
"""
LINES = [
    "int all[N], both[N], k = n / 2;",
    "for (int i = 0; i < N; i++) all[i] = i;",
    "for (int t = 0; t < 4; t++) {",
    "if (rank & (1 << t)) {",
    "memcpy(both + k, all + k, k * sizeof(int)); // UPPER",
    "MPI_Recv(both, k, MPI_INT, rank ^ (1 << t), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    "} else {",
    "MPI_Recv(both + k, k, MPI_INT, rank ^ (1 << t), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    "memcpy(both, all, k * sizeof(int));",
    "}",
    "mixed(all, both, k, n / 8);",
    "}",
    "s += all[3];",
]


def test_what_is_written_beside_the_message_before_it_comes(tmp_path: Path) -> None:
    text, found = sites(LINES, tmp_path, MIXED)
    upper, read = line_of(text, "// UPPER"), line_of(text, "// READ")
    message = f"line {upper} writes `both` beside the message, before this receive, and line {read} may read that "
    assert (found[0]["code"], found[0]["message"]) == ("OPI201", message + "after it")
    assert (found[0]["notes"][-1]["line"], found[0]["notes"][0]["line"]) == (upper, read)


def test_what_may_be_of_the_message_is_not_told_as_beside_it(tmp_path: Path) -> None:
    lines = [line.replace("both + k, all + k", "both + t, all + k") for line in LINES]
    text, found = sites(lines, tmp_path, MIXED)
    brings = f"the message lies in `both`, and line {line_of(text, '// READ')} may read bytes there that this receive"
    assert found[0]["message"].startswith(brings)  # another turn's receive brings what lies further in
    lines = [line.replace("rank & (1 << t)", "rank & (1 << t) && memcpy(all, both, 8)") for line in LINES]
    lines[4], lines[5] = lines[5], lines[4]  # it comes after the message
    text, found = sites(lines, tmp_path, MIXED)
    assert "before this receive" not in found[0]["message"]


def test_a_receive_inside_a_buffer_is_told_as_that_where_it_is_not_known_what_is_read(tmp_path: Path) -> None:
    _, found = sites(LINES, tmp_path, MIXED)
    message = "the call begins inside `both`, at a place that the program computes; a message needs a buffer of its own"
    assert (found[1]["code"], found[1]["message"]) == ("OPI204", message)


SHARED = """static void spread(int rank, int size, int n, double *a)
{
    int part = n / size;
    if (rank == 0) {
        for (int i = 1; i < size; i++) MPI_Send(a + i * part, part, MPI_DOUBLE, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(a, part, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
static double sum(double *a, int from, int to)
{
    double t = 0;
    for (int i = from; i < to; i++) t += a[i]; // READ
    return t;
}
"""


def test_of_two_buffers_by_one_name_that_of_the_call_is_told(tmp_path: Path) -> None:
    lines = [
        "if (rank == 0) {",
        "double *a = malloc(n * 8);",
        "for (int i = 0; i < n; i++) a[i] = i;",
        "spread(rank, size, n, a);",
        "s = sum(a, 0, n / size);",
        "} else {",
        "double *a = malloc(n * 8);",
        "spread(rank, size, n, a);",
        "s = sum(a, n / size * rank, n);",
        "}",
    ]
    text, found = sites(lines, tmp_path, SHARED)
    assert found[1]["code"] == "OPI202"
    assert "the same call" not in found[1]["message"]
    assert f"line {line_of(text, 'READ')}" in found[1]["message"]
    lines[6:9] = [line.replace("(a", "(b").replace(" a)", " b)").replace("*a", "*b") for line in lines[6:9]]
    _, found = sites(lines, tmp_path, SHARED)
    assert "which stays: " in found[1]["message"] or "`b`" in found[1]["message"]


ROWS = """static float old[18][34], next[18][34];
static void step(void)
{
    for (int i = 1; i <= 16; i++)
        for (int j = 1; j <= 32; j++)
            next[i][j] = old[i - 1][j] + old[i][j - 1]; // READ
    memcpy(old, next, sizeof old);
}
"""


def test_a_line_that_reads_the_message_as_well_is_not_told_to_read_beside_it(tmp_path: Path) -> None:
    """The first thing that it reads is the row above, the second one the row that is sent."""
    lines = ["for (int t = 0; t < n; t++) {", "MPI_Send(&old[16][1], 32, MPI_FLOAT, " + TO, "step();", "}"]
    text, found = sites(lines, tmp_path, ROWS)
    assert (found[0]["code"], found[0]["message"]) == (
        "OPI101",
        f"`old` is read at line {line_of(text, '// READ')} after the send",
    )
    _, found = sites(lines, tmp_path, ROWS.replace("old[i][j - 1]", "old[i - 1][j - 1]"))
    assert f"read at line {line_of(text, '// READ')}" not in found[0]["message"]


def test_what_another_process_touches_is_not_told_of_a_receive_that_is_too_short(tmp_path: Path) -> None:
    lines = [
        "for (int size = 1; size <= N * 8; size *= 2) {",
        "for (int i = 0; i < size; i++) out[i] = in[i] = i; // FILL",
        "if (rank == 0) {",
        "for (int t = 0; t < 4; t++) MPI_Isend(out, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, rq + t);",
        "MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);",
        "MPI_Recv(in, 400, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // SHORT",
        "} else {",
        "for (int t = 0; t < 4; t++) MPI_Irecv(in, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, rq + t); // LONG",
        "MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);",
        "MPI_Send(out, 400, MPI_CHAR, 0, 2, MPI_COMM_WORLD);",
        "}",
        "}",
    ]
    before = "static char out[N * 8], in[N * 8];\nstatic MPI_Request rq[4];\n"
    text, found = sites(lines, tmp_path, before)
    told = {site["line"]: site for site in found}
    line, short = line_of(text, "// FILL"), told[line_of(text, "// SHORT")]
    message = f"line {line} may touch bytes of `in` beyond those the receive makes room for"
    assert (short["code"], short["message"], [n["line"] for n in short["notes"]]) == ("OPI216", message, [line])
    assert told[line_of(text, "// LONG")]["message"].endswith(f"would not be enough: {message}")


def test_a_row_that_another_call_sends_lies_beside_the_first_one(tmp_path: Path) -> None:
    """Nothing is known of the row's length, but that the other call begins at another row of the same grid."""
    lines = [
        "size_t dim = atoi(argv[1]); const int w = dim + 2, h = n + 2;",
        "double *g = malloc(w * h * sizeof *g);",
        "for (int i = 0; i < w * h; i++) g[i] = i;",
        "int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank == 0 ? 1 : MPI_PROC_NULL;",
        "MPI_Status st;",
        "MPI_Recv(&g[0 * w], w, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &st);",
        "MPI_Send(&g[1 * w], w, MPI_DOUBLE, down, 0, MPI_COMM_WORLD); // SENT",
        "free(g);",
    ]
    text, found = sites(lines, tmp_path)
    sent = line_of(text, "// SENT")
    message = f"the message lies in `g`, and line {sent} may send bytes there that this receive does not bring"
    assert (found[0]["code"], found[0]["message"]) == ("OPI201", message)
    assert found[0]["notes"][0]["message"] == "`g` is sent here"


def test_a_half_whose_other_half_comes_by_another_call(tmp_path: Path) -> None:
    """How far the line reads is not known, but that it reads a buffer of which the message is a half is."""
    merge = """static void merge(int *to, int *both, int n)
{
    for (int i = 0, a = 0, b = n / 2; i < n; i++)
        to[i] = b >= n || (a < n / 2 && both[a] <= both[b]) ? both[a++] : both[b++]; // READ
}
"""
    lines = [
        "int half = n / 2, *both = malloc(n * sizeof(int)), *to = malloc(n * sizeof(int));",
        "MPI_Recv(&both[0], half, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "MPI_Recv(&both[half], half, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "merge(to, both, n); s += to[0];",
        "free(both); free(to);",
    ]
    text, found = sites(lines, tmp_path, merge)
    read = line_of(text, "// READ")
    message = f"the message lies in `both`, and line {read} may read bytes there that this receive does not bring"
    assert (found[0]["code"], found[0]["message"]) == ("OPI202", message)


def test_rows_of_a_grid_that_is_computed_before_they_come(tmp_path: Path) -> None:
    """How the places lie to each other is not known.  Pieces of a buffer that is only cleared are parts of it."""
    grid = [
        "int w = atoi(argv[1]), first = rank * 8 + 1;",
        "double *g = malloc(sizeof(double) * w * 40);",
        "for (int i = 0; i < w * 40; i++) g[i] = FILL;",
        "MPI_Recv(&g[(first - 1) * w], w, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "MPI_Recv(&g[(first + 8) * w], w, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "for (int j = first; j < first + 8; j++)",
        "for (int i = 0; i < w; i++) s += g[(j - 1) * w + i] + g[(j + 1) * w + i]; // READ",
        "free(g);",
    ]
    text, found = sites([line.replace("FILL", "i % 7") for line in grid], tmp_path)
    read = line_of(text, "// READ")
    message = f"the message lies in `g`, and line {read} may read bytes there that this receive does not bring"
    assert (found[0]["code"], found[0]["message"]) == ("OPI201", message)
    assert sites([line.replace("FILL", "0.0") for line in grid], tmp_path)[1][0]["code"] == "OPI204"
