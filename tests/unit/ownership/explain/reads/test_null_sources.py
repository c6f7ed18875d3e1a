"""A receive that may be from MPI_PROC_NULL is told as that where nothing else keeps it."""

from __future__ import annotations

from pathlib import Path

import pytest
from read_programs import line_of, sites

from opi_xform.ownership.explain.later import nothing_came, silent_before

SIZED = "int k = 10 * t + argc;"
ALWAYS = "int k = 10 + argc;"
BESIDE = "s += in[k];"


@pytest.mark.parametrize(
    ("size", "source", "more", "code"),
    [
        (SIZED, "-1", "", "OPI203"),  # a later turn, which may bring nothing, reads another number of elements
        (SIZED, "0", BESIDE, "OPI202"),
        (SIZED, "-1", BESIDE, "OPI202"),  # without MPI_PROC_NULL it would stay as well
        (SIZED, "0", "", ""),
        (ALWAYS, "0", "", ""),
    ],
)
def test_a_source_that_may_be_null(tmp_path: Path, size: str, source: str, more: str, code: str) -> None:
    lines = [
        "double *in = malloc(N * 8);",
        f"int from = {source}; // SET",
        'if (argc > 3 && scanf("%d", &from) != 1) from = 1;' if source == "-1" else "",
        "for (int t = 1; t < 4; t++) {",
        size,
        "MPI_Recv(in, k, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        f"for (int i = 0; i < k; i++) s += in[i]; {more}",
        "}",
    ]
    text, found = sites(lines, tmp_path)
    assert found[0]["code"] == code
    if code == "OPI203":
        assert found[0]["message"].startswith(f"the source may be MPI_PROC_NULL (line {line_of(text, 'SET')} sets it")
        assert found[0]["message"].endswith(" then too")  # no advice: a test around the call would not do


def test_a_number_that_is_one_part_of_a_sum_does_not_set_the_source(tmp_path: Path) -> None:
    """Who is beside a rank in a ring: the remainder is no rank but one's own, however it comes about."""
    beside = "static int beside(const int *at, int d, int many) { return (*at + d + many) % many; }\n"
    lines = [
        "int *in = malloc(N * 8), at[2] = {atoi(argv[1]), 0};",
        "int from = beside(at, -1, argc + 3); // GIVEN",
        "for (int t = 1; t < 4; t++) {",
        SIZED,
        "MPI_Recv(in, k, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "for (int i = 0; i < k; i++) s += in[i];",
        "}",
    ]
    text, found = sites(lines, tmp_path, beside)
    where = f"it is computed from the -1 of line {line_of(text, 'GIVEN')}"
    told = f"could not show that the source is not MPI_PROC_NULL ({where})"
    assert (found[0]["code"], found[0]["message"].partition(", and line")[0]) == ("OPI203", told)


WORDS = (nothing_came, silent_before)  # what is tested here, by way of the whole tool
EXCHANGE = [
    "int *partner = malloc(N * 4), *count = malloc(N * 4), *b = malloc(N * 4);",
    "MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
    'for (int i = 0; i < 9; i++) { count[i] = i + argc; if (scanf("%d", &partner[i]) != 1) return 1; } // FROM',
    "for (int i = 0; i < 9; i++) {",
    "int k = partner[i], m = count[i];",
    "if (k > rank) {",
    "for (int j = 0; j < m; j++) b[j] = j;",
    "MPI_Send(b, m, MPI_INT, k, 1, MPI_COMM_WORLD); // SENT",
    "MPI_Recv(b, m, MPI_INT, k, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // REAL",
    "for (int j = 0; j < m; j++) s += b[j];",
    "} else {",
    "MPI_Recv(b, m, MPI_INT, k, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // SILENT",
    "for (int j = 0; j < m; j++) s += b[j]; // READ",
    "} }",
]


def test_what_is_read_where_another_receive_brings_nothing(tmp_path: Path) -> None:
    """With k > rank the source is a real rank: it is another receive that may leave there what this one brings."""
    text, found = sites(EXCHANGE, tmp_path)
    message = f"line {line_of(text, 'READ')} may read what `b` holds, where line {line_of(text, 'SILENT')} receives "
    message += "nothing: could not show that its source is not MPI_PROC_NULL (it depends on what `scanf` gives at "
    message += f"line {line_of(text, 'FROM')})"
    assert [(site["code"], site["message"]) for site in found[:2]] == [("OPI101", message), ("OPI201", message)]
    lines = [line_of(text, mark) for mark in ("READ", "SILENT", "FROM")]
    assert [note["line"] for note in found[0]["notes"]] == lines
    assert found[2]["code"] == "OPI203"
    beyond = [line.replace("j < m; j++) s += b[j]; // READ", "j <= m; j++) s += b[j]; // READ") for line in EXCHANGE]
    _, found = sites(beyond, tmp_path)  # with real sources it would stay as well
    assert "receives nothing" not in found[0]["message"]


def test_a_receive_that_may_bring_nothing_itself_is_told_by_its_own_source(tmp_path: Path) -> None:
    """What another receive leaves as it is matters less: the own message is not there."""
    lines = [
        "double *mine = malloc(n * 8), *its = malloc(n * 8); int even = rank + 1, odd = rank - 1;",
        "for (int i = 0; i < n; i++) mine[i] = i;",
        "if (even == size) even = MPI_PROC_NULL; // EVEN",
        "if (odd < 0) odd = MPI_PROC_NULL; // ODD",
        "for (int t = 0; t < 9; t++) {",
        "if (t % 2) MPI_Sendrecv(mine, n, MPI_DOUBLE, odd, 1, its, n, MPI_DOUBLE, odd, 1, MPI_COMM_WORLD, &st);",
        "else MPI_Sendrecv(mine, n, MPI_DOUBLE, even, 1, its, n, MPI_DOUBLE, even, 1, MPI_COMM_WORLD, &st);",
        "for (int i = 0; i < n; i++) if (its[i] < mine[i]) mine[i] = its[i];",
        "}",
    ]
    text, found = sites(lines, tmp_path, "static MPI_Status st;\n")
    received = [site for site in found if site["side"] == "recv"]
    for site, mark in zip(received, ("ODD", "EVEN"), strict=True):
        assert site["code"] == "OPI203"
        assert site["message"].startswith(f"the source may be MPI_PROC_NULL (line {line_of(text, mark)} sets it so)")


UNKNOWN = """int open_it(const char *, int *);
int get_ints(int, int, int *);
static int opened(const char *name) { int id; if (open_it(name, &id)) exit(1); return id; }
static void variable(int id, int k, void *data) { if (get_ints(id, k, data)) exit(1); } // GIVEN
"""


def test_the_call_that_is_given_the_numbers_is_told_and_no_other_unknown_one(tmp_path: Path) -> None:
    lines = [
        "int *partner = malloc(9 * 4), *in = malloc(N * 4), id = opened(argv[1]);",
        "variable(id, 3, partner);",
        "for (int i = 0; i < 9; i++) {",
        "int k = partner[i], m = 10 * i;",
        "MPI_Recv(in, m, MPI_INT, k, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "for (int j = 0; j < m; j++) s += in[j];",
        "}",
    ]
    text, found = sites(lines, tmp_path, UNKNOWN)
    where = f"it depends on what `get_ints` gives at line {line_of(text, 'GIVEN')}"
    assert found[0]["message"].startswith(f"could not show that the source is not MPI_PROC_NULL ({where})")


def test_a_number_that_is_read_from_one_of_several_places_says_where_it_is_read(tmp_path: Path) -> None:
    """What other lines write through pointers that may stand for the same memory is not told."""
    before = UNKNOWN + "struct map { int *partner, **index; };\nint *listed(int);\n"
    before += "static void *room(int n) { return n > 0 ? malloc(n) : NULL; }\n"
    lines = [
        "struct map *map = malloc(sizeof *map); int *in = malloc(N * 4);",
        "map->partner = listed(argc * 4); map->index = room(argc * sizeof(int *));",
        "for (int i = 0; i < argc; i++) {",
        "map->index[i] = room(i * 4); for (int j = 0; j < i; j++) map->index[i][j] = -1;",
        "}",
        "for (int i = 0; i < argc; i++) {",
        "int k = map->partner[i], m = 10 * i; // HERE",
        "MPI_Recv(in, m, MPI_INT, k, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "for (int j = 0; j < m; j++) s += in[j];",
        "}",
    ]
    text, found = sites(lines, tmp_path, before)
    where = f"line {line_of(text, 'HERE')} reads it from `map->partner[…]`"
    assert found[0]["message"].startswith(f"could not show that the source is not MPI_PROC_NULL ({where})")


def test_a_number_in_a_struct_comes_from_what_sets_it_and_not_from_what_sets_the_rest(tmp_path: Path) -> None:
    before = """struct settings { char name[64]; int procs, *cells; };
static struct settings *settings(const char *file)
{
    struct settings *p = malloc(sizeof *p);
    char line[99];
    FILE *f = fopen(file, "r");
    memset(p->name, 0, 64);
    strcpy(p->name, "x");
    p->procs = 2;
    p->cells = malloc(99);
    if (f && fgets(line, 99, f)) p->procs = atoi(line); // PROCS
    return p;
}
"""
    lines = [
        "struct settings *p = settings(argv[1]);",
        "int *in = malloc(n * 4), k = (rank - 1 + p->procs) % p->procs, got;",
        "for (int i = 0; i < 9; i++) {",
        "MPI_Status st;",
        "MPI_Sendrecv(&n, 1, MPI_INT, k, 1, in, n, MPI_INT, k, 1, MPI_COMM_WORLD, &st);",
        "MPI_Get_count(&st, MPI_INT, &got);",
        "for (int j = 0; j < got / 2; j++) s += in[j];",
        "}",
    ]
    text, found = sites(lines, tmp_path, before)
    where = f"it depends on what `atoi` gives at line {line_of(text, 'PROCS')}"
    assert found[1]["message"].startswith(f"could not show that the source is not MPI_PROC_NULL ({where})")


def test_a_later_call_of_the_function_reads_by_its_own_count(tmp_path: Path) -> None:
    """Nothing comes in either call, say; what each reads is what its status tells."""
    before = """static void trade(double *out, double *in, int n, int to, int from, double *field)
{
    MPI_Status st;
    int got;
    for (int i = 0; i < n; i++) out[i] = field[i];
    MPI_Sendrecv(out, n, MPI_DOUBLE, to, 1, in, n, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_DOUBLE, &got); // TOLD
    if (got > 0)
        for (int i = 0; i < n; i++) field[i] = in[i]; // READ
}
"""
    lines = ["int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;"]
    lines += [
        "double *out = malloc(n * 8), *in = malloc(n * 8), *field = calloc(n, 8);",
        "for (int t = 0; t < 9; t++) {",
    ]
    lines += ["trade(out, in, n, left, right, field);", "trade(out, in, n, right, left, field);", "}", "s = field[3];"]
    text, found = sites(lines, tmp_path, before)
    told = f"line {line_of(text, 'READ')} reads nothing of `in` then: how much comes is told at line"
    assert f"could not show that {told} {line_of(text, 'TOLD')}" in found[1]["message"], found[1]["message"]
