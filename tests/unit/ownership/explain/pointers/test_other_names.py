"""Blocks that go from one pointer to another: which name a reason has for them, and where that is set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ownership_support import source

from opi_xform.cli.main import main
from opi_xform.ir import instr as ins
from opi_xform.ownership.explain.pointers.outside import stored_outside
from opi_xform.ownership.explain.pointers.settings import set_at, settings
from tests.unit.ownership.explain.test_reasons import HEAD, line_of, sites

ROUND = [
    "int n = argc * 100, rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
    "double *here = malloc(n * sizeof(double)), *came; // DECLARED",
    "for (int i = 0; i < n; i++) here[i] = i;",
    "for (int r = 0; r < argc; r++) {",
    "  MPI_Send(&n, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD);",
    "  MPI_Recv(&n, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    "  came = malloc(n * sizeof(double)); came[0] = r;",
    "  MPI_Recv(came, n, MPI_DOUBLE, rank ^ 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    "  free(here); // FREED",
    "  here = came; // SET",
    "}",
]


def test_a_free_by_another_name_is_told_by_that_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, found = sites(ROUND, tmp_path, capfd)
    told = found[-1]
    message = (
        f"line {line_of(text, 'FREED')} frees `here`, which may be `came` or other memory; which is not known there"
    )
    assert (told["code"], told["message"]) == ("OPI215", message)
    places = [(line_of(text, mark), "`here` is set here") for mark in ("DECLARED", "SET")]
    assert [(note["line"], note["message"]) for note in told["notes"]] == places


READ = """static void die(const char *why) { fprintf(stderr, "%s\\n", why); MPI_Abort(MPI_COMM_WORLD, 1); }
static double *read_all(int n)
{
    double *got = malloc(n * sizeof(double)); // READ_ALL
    for (int i = 0; i < n; i++)
        if (scanf("%lf", &got[i]) != 1) {
            free(got); // FAILED
            die("short");
        }
    return got;
}
"""


@pytest.mark.parametrize("own", ["got", "b"])
def test_a_free_in_the_function_that_reads_is_told_by_its_line(
    own: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It counts where the program ends after it, too; that the name stands for several blocks is why it matters."""
    lines = [
        "double *b; int n = argc * 100, rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
        "if (rank == 0) {",
        "  b = malloc(n * sizeof(double)); // MALLOC",
        "  MPI_Recv(b, n / 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "} else if (rank == 1) {",
        "  b = read_all(n);",
        "  MPI_Send(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);",
        "  free(b);",
        "}",
        "MPI_Barrier(MPI_COMM_WORLD);",
        "if (rank == 0) for (int i = 0; i < n / 2; i++) u[0] += b[i];",
        "if (rank == 0) free(b);",
    ]
    text, (_, told, _) = sites(lines, tmp_path, capfd, READ.replace("got", own))
    by = "`got`" if own == "got" else "the `b` of `read_all`"
    message = f"`b` stands for several blocks, and line {line_of(text, 'FAILED')} frees one by another name, {by}"
    assert (told["code"], told["message"]) == ("OPI215", message)
    assert [(note["line"], note["message"]) for note in told["notes"]] == [
        (line_of(text, "FAILED"), "freed here"),
        (line_of(text, "READ_ALL"), "one is allocated here"),
        (line_of(text, "MALLOC"), "one is allocated here"),
    ]


def test_a_function_that_frees_several_is_no_free_of_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = "static void drop(double *out, double *more)\n{\n    free(out); // FREED\n    free(more);\n}\n"
    lines = [
        "double *out = malloc(N * sizeof(double));",
        "for (int r = 0; r < argc; r++) {",
        "  for (int i = 0; i < N; i++) out[i] = u[i] + r;",
        "  MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        "}",
        "drop(out, malloc(8));",
    ]
    text, found = sites(lines, tmp_path, capfd, before)
    message = f"`out` is freed at line {line_of(text, 'FREED')} by another name, the `out` of `drop`"
    assert found[-1]["code"] == "OPI114"
    assert found[-1]["message"].startswith(f"{message}; only a function that frees its one parameter, and does nothing")


def test_a_free_of_the_only_block_by_another_name_is_told_by_its_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [
        "double *out = malloc(N * sizeof(double));",
        "double *old = argc > 5 ? NULL : out;",
        "for (int r = 0; r < argc; r++) {",
        "  for (int i = 0; i < N; i++) out[i] = u[i] + r;",
        "  MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        "}",
        "free(old); // FREED",
    ]
    text, found = sites(lines, tmp_path, capfd)
    line = line_of(text, "FREED")
    message = f"`out` is freed at line {line} by another name, `old`"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI114", message)
    assert [(note["line"], note["message"]) for note in found[-1]["notes"]] == [(line, "freed here")]


def test_a_read_by_another_name_is_told_by_that_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = [
        "double *came = malloc(N * sizeof(double)), *seen;",
        "int n = argc;",
        "MPI_Recv(came, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "seen = came;",
        "for (int i = 0; i < N; i++) u[i] += seen[i]; // READ",
        "free(came);",
    ]
    text, found = sites(lines, tmp_path, capfd)
    reads = f"line {line_of(text, 'READ')} reads only those bytes of `came` that this receive brings, as `seen`"
    message = f"could not show that {reads}"
    assert found[-1]["message"] == message
    assert [note["message"] for note in found[-1]["notes"]] == ["`seen` is read here"]


def test_a_read_by_a_name_that_stands_for_several_buffers_is_told_as_that(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What the receive brings is read as `here` in the next turn: the first turn reads the block of another line."""
    lines = [
        "int n = argc * 100, many = n;",
        "double *here = malloc(n * sizeof(double)); // FIRST",
        "for (int i = 0; i < n; i++) here[i] = i;",
        "for (int r = 0; r < argc; r++) {",
        "  for (int i = 0; i < many; i++) u[r] += here[i]; // READ",
        "  int was = many; many = n + r;",
        "  double *came = malloc(many * sizeof(double));",
        "  MPI_Sendrecv(here, was, MPI_DOUBLE, 1, 0, came, many, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "  here = came; // NEXT",
        "}",
    ]
    text, found = sites(lines, tmp_path, capfd)
    places = [(line_of(text, mark), "`here` is set here") for mark in ("FIRST", "NEXT")]
    message = f"line {line_of(text, 'READ')} reads `came` as `here`, which may stand for several buffers: "
    message += f"it is set at line {places[0][0]} and {places[1][0]}"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI402", message)
    assert [(note["line"], note["message"]) for note in found[-1]["notes"]] == places


def test_what_unknown_code_may_find_is_told_where_its_address_is_stored(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [
        "MPI_Status status; struct page page;",
        "page.width = argc;",
        "page.rows = malloc(9 * sizeof(double *));",
        "fread(&page.width, 1, sizeof(int), stdin);",
        "fwrite(&page, 1, sizeof(page), stdout);",
        "double *got = malloc(N * sizeof(double));",
        "MPI_Recv(got, N, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);",
        "page.rows[status.MPI_TAG] = got; // STORED",
        "u[0] = page.rows[0][0];",
    ]
    text, found = sites(lines, tmp_path, capfd, "struct page { int width; double **rows; };\n")
    message = f"line {line_of(text, 'STORED')} keeps `got` in `page.rows[…]`, by which others may find it"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI214", message)
    assert [note["line"] for note in found[-1]["notes"]] == [line_of(text, "STORED")]


def test_a_pointer_that_is_set_in_one_line_has_no_places_to_tell() -> None:
    found = source(
        "static double u[2];\nint main(int argc, char **argv)\n{\ndouble *one = u, *two = 0;\ntwo = u; // FIRST\n"
        "if (argc > 1)\n    two = &u[1]; // SECOND\nu[0] = *one + *two;\nreturn 0;\n}\n"
    )
    program = found.program
    lines = {
        program.variables[key].name: [span.line for span in set_at(program, objects)]
        for key, objects in program.values.objects.by_name.items()
        if key in program.variables and program.variables[key].name in ("one", "two")
    }
    assert lines == {"one": [], "two": [found.line("// FIRST"), found.line("// SECOND")]}


def test_what_a_call_gives_away_is_told_by_that_call() -> None:
    program = source(
        "extern void keep(double *);\nint main(void)\n{\nstatic double u[2];\nkeep(u);\nreturn 0;\n}\n"
    ).program
    away = program.values.given_away
    (o,) = (o for o in away if program.values.objects.table[o].name == "u")
    assert away[o][1] == "unknown function keep"
    assert stored_outside(program, o, "u", *away[o]) is None


SWAP = """static void build(double **all, double ***rows) // MAKE
{
    *all = malloc(4 * N * sizeof(double)); // BLOCK
    *rows = malloc(4 * sizeof(double *)); // TABLE
    for (int i = 0; i < 4; i++) (*rows)[i] = *all + i * N;
    if (u[0] > 1) MPI_Recv(*all, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void give(double **a) { MPI_Send(*a, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }
"""
CALLS = [
    "double **x, *one, **y, *two, **t;",
    "build(&one, &x); // ONE",
    "build(&two, &y); // TWO",
    "for (int i = 0; i < argc; i++) { y[1][0] = x[1][1]; t = x; x = y; y = t; } // TURN",
    "give(x);",
]


def test_what_a_parameter_is_given_is_told_by_the_name_that_the_call_has(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of several pointers that are set in one line of a function, the calls of it are told."""
    text, found = sites(CALLS, tmp_path, capfd, SWAP)
    rows = f"line {line_of(text, '+ i * N')} makes pointers to rows of the block that"
    for site, name in ((found[1], "*all"), (found[-1], "*a")):
        assert site["message"] == f"{rows} `{name}` names: they would point to memory that is gone"
    own = SWAP.replace("*all + i * N", "malloc(N * sizeof(double))")
    text, found = sites(CALLS, tmp_path, capfd, own)
    message = f"`x`, which is passed as `a`, changes places with `y` at line {line_of(text, 'TURN')}"
    assert found[-1]["message"] == f"{message}, so `*a` may be a row of either table"
    chosen = [line.replace("t = x; x = y; y = t;", "if (i > 2) x = y;") for line in CALLS]
    text, found = sites(chosen, tmp_path, capfd, own)
    message = "which object `a` points to is not known, so `*a` may be any of several buffers"
    assert found[-1]["message"] == message
    assert {(note["line"], note["message"]) for note in found[-1]["notes"]} == {
        (line_of(text, mark), "`x`, which is passed as `a`, is set here") for mark in ("TABLE", "TURN")
    }


def test_words_of_where_pointers_are_set() -> None:
    found = source(
        "static double u[2];\nstatic double first(double *p) { return *p; } // LOAD\nint main(int argc, char **argv)\n"
        "{\ndouble *q = u; // ONE\nif (argc > 1)\n    q = &u[1]; // TWO\nreturn first(q) > 0;\n}\n"
    )
    program = found.program
    load = next(n for n in program.graph.nodes if isinstance(n.action, ins.Load) and not n.action.type.is_pointer)
    assert isinstance(load.action, ins.Load)
    told = settings(program, load.action.address, load.number, "p")
    words = "`q`, which is passed as `p`, is set here"
    assert [(span.line, text) for span, text in told] == [(found.line(m), words) for m in ("// ONE", "// TWO")]


def test_what_is_handed_to_an_unknown_caller_is_told_where_that_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What a call that is not known could find from there tells less: it does not name the buffer."""
    text = (
        HEAD
        + """#include <stdarg.h>
void say(const char *form, ...)
{
    va_list all;
    va_start(all, form);
    vfprintf(stderr, form, all);
    va_end(all);
}
int take(char **out, int n)
{
    char *got = malloc(n);
    if (got == NULL) say("no memory for %d", n);
    MPI_Recv(got, n, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *out = got; // STORED
    return n;
}
"""
    )
    (tmp_path / "a.c").write_text(text)
    assert main([str(tmp_path / "a.c"), "--output-format", "json"]) == 0
    told = json.loads(capfd.readouterr().out)["sites"][-1]
    assert told["message"] == f"line {line_of(text, 'STORED')} keeps `got` in `*out`, by which others may find it"
    assert [note["line"] for note in told["notes"]] == [line_of(text, "STORED")]


def test_a_call_that_passes_null_is_not_told_as_one_that_sets_a_pointer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = """static double work(double *a, int rank)
{
    if (rank) {
        a = malloc(N * sizeof(double)); // OWN
        a[0] = 1;
        MPI_Recv(a, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return a[0] + a[1];
}
"""
    lines = [
        "int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
        "if (rank == 0) {",
        "double *part = malloc(N * sizeof(double)); part[0] = part[1] = argc;",
        "u[0] = work(part, rank); // GIVEN",
        "} else u[0] = work(NULL, rank); // NULL",
    ]
    text, found = sites(lines, tmp_path, capfd, before)
    places = [line_of(text, mark) for mark in ("// OWN", "// GIVEN")]
    message = f"`a` may stand for several buffers: it is set at line {places[0]} and {places[1]}"
    assert (found[-1]["message"], [note["line"] for note in found[-1]["notes"]]) == (message, places)


@pytest.mark.parametrize("row", ["im.w[i][0]", "ROW(i, 0)"])
def test_a_table_in_a_struct_is_told_where_that_member_is_set(
    row: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [
        "struct image im; int n = argc * 10; im.n = n;",
        "if (n > 20) {",
        "im.w = calloc(n, sizeof(char *)); // FIRST",
        "for (int i = 0; i < n; i++) im.w[i] = calloc(n, 1);",
        "} else {",
        "im.w = calloc(n + 2, sizeof(char *)); // SECOND",
        "for (int i = 0; i < n + 2; i++) im.w[i] = calloc(n, 1);",
        "}",
        f"for (int i = 0; i < n; i++) MPI_Recv(&{row}, n, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "u[0] = im.w[1][2];",
    ]
    text, found = sites(lines, tmp_path, capfd, "struct image { char **w; int n; };\n#define ROW(a, b) im.w[a][b]\n")
    message = "which object `im.w` points to is not known, so `im.w[…]` may be any of several buffers"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI402", message)
    places = [(line_of(text, mark), "`im.w` is set here") for mark in ("// FIRST", "// SECOND")]
    assert [(note["line"], note["message"]) for note in found[-1]["notes"]] == places


def test_a_pointer_that_a_function_without_source_sets_is_told_with_that(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = "int pinned(void **p, size_t n);\n"
    before += "static void give(double *p, int n) { MPI_Send(p, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }\n"
    lines = ["double *out; int n = argc * 100;", "pinned((void **)&out, n * sizeof(double)); // SET"]
    lines += ["for (int i = 0; i < n; i++) out[i] = i;", "give(out, n);"]
    text, found = sites(lines, tmp_path, capfd, before)
    line = line_of(text, "SET")
    message = f"`out` is set by `pinned`, of which nothing is known, at line {line}"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI402", message)
    assert [(note["line"], note["message"]) for note in found[-1]["notes"]] == [(line, "set here")]


def test_memory_that_comes_by_another_name_is_told_with_the_line_between(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = """static double *all;
static double take(int n)
{
    static double *in;
    in = all; // NAMED
    double s = 0;
    MPI_Recv(in, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) s += in[i];
    return s;
}
"""
    lines = ["int n = argc * 100; all = malloc(n * sizeof(double)); // MALLOC", "all[0] = n; u[3] = all[n - 1];"]
    text, found = sites([*lines, "for (int r = 0; r < argc; r++) u[r] += take(n);"], tmp_path, capfd, before)
    made, named = line_of(text, "MALLOC"), line_of(text, "NAMED")
    message = f"`in` is a second name of what `all` points to: line {named} sets it from that"
    assert (found[-1]["code"], found[-1]["message"]) == ("OPI215", message)
    assert [(note["line"], note["message"]) for note in found[-1]["notes"]] == [
        (made, "allocated here"),
        (named, "`in` is set from `all` here"),
    ]


def test_a_declaration_of_several_pointers_is_told_to_need_one_for_each(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = """static void *take(int n) { void *p = malloc(n); if (!p) abort(); return p; }
static void drop(void *p) { free(p); }
static int both(void *s, int n, int to, void *r, int most, int from)
{
    int got; MPI_Status st;
    MPI_Sendrecv(s, n, MPI_BYTE, to, 0, r, most, MPI_BYTE, from, 0, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_BYTE, &got);
    return got;
}
struct h { int (*load)(char *); int cap; };
static int load(char *p) { for (int i = 0; i < 100; i++) p[i] = i; return 100; }
static void step(struct h *h)
{
    char *a = take(h->cap), *b = take(h->cap);
    char *c = take(h->cap); char *d = take(h->cap);
    int n = h->load(a), m = h->load(b);
    int one = both(a, n, 1, c, h->cap, 2), two = both(b, m, 2, d, h->cap, 1);
    for (int i = 0; i < one; i++) u[i % 2] += c[i];
    for (int i = 0; i < two; i++) u[i % 2] += d[i];
    drop(a); drop(b); drop(c); drop(d);
}
"""
    lines = ["struct h *h = take(sizeof *h); h->load = load; h->cap = 100;", "for (int r = 0; r < argc; r++) step(h);"]
    _, found = sites(lines, tmp_path, capfd, before)
    assert [site["message"].rpartition("; ")[2] for site in found if site["side"] == "send"][-1:] == [
        "`a` would need a declaration of its own"
    ]
    _, found = sites(lines, tmp_path, capfd, before.replace("take(h->cap), *b", "take(h->cap); char *b"))
    assert not any("declaration of its own" in site["message"] for site in found)
