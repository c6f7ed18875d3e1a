"""What messages say is so: lines with their file, reads that may be, where memory comes from."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from case_tools import run_tool

from opi_xform.cli.main import main
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.pointers.unknown_buffers import Strays
from opi_xform.ownership.model.lines import line_of, lines_of, marked, told

SEND = """#include <mpi.h>
#include <stdlib.h>
#define N 3000
double out[N], total;
static double u[N];
void look(void);
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            out[i] = u[i];
        MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        LOOK
    }
    MPI_Finalize();
    return 0;
}
"""


def span(file: str, line: int) -> Span:
    return Span(file, 0, 0, line, 1, False)


def first(folder: Path, files: dict[str, str], capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    for name, text in files.items():
        (folder / name).write_text(text)
    assert main([*(str(folder / name) for name in files), "--output-format", "json"]) == 0
    site: dict[str, Any] = json.loads(capfd.readouterr().out)["sites"][0]
    return site


def test_a_line_has_its_file_where_that_is_another_one() -> None:
    several = lines_of([span("/p/a.c", 7), span("/p/b.c", 9), span("/p/a.c", 5)])
    said = f"read at {several}, set at {line_of(span('/q/a.c', 3))}"
    assert told(said, "/p/a.c") == "read at line 5 and 7 and line 9 of b.c, set at line 3 of a.c"
    assert told(said, "/p/b.c") == "read at line 5 and 7 of a.c and line 9, set at line 3 of a.c"


def test_lines_in_a_reason_are_of_the_functions_file() -> None:
    said = marked("OpenMP `for` in line 3 has what line 5 of x.h says", "/p/b.c")
    assert told(said, "/p/a.c") == "OpenMP `for` in line 3 of b.c has what line 5 of x.h says"
    assert told(said, "/p/b.c") == "OpenMP `for` in line 3 has what line 5 of x.h says"


def test_a_read_in_another_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = "extern double out[3000], total;\n\nvoid look(void) { total += out[3]; }\n"
    site = first(tmp_path, {"a.c": SEND.replace("LOOK", "look();"), "b.c": other}, capfd)
    assert site["code"] == "OPI101"
    assert site["message"].startswith("`out` is read at line 3 of b.c after the send; moving the call at line 16 ")


def test_a_read_by_what_a_pointer_may_call(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    more = "void look(void) { total += out[3]; }\nstatic void skip(void) { total++; }\n"
    more += "static void (*go)(void) = skip;\n"
    text = SEND.replace("LOOK", "if (argc > 5) go = look;\n        go();").replace("int main(", f"{more}int main(")
    site = first(tmp_path, {"a.c": text}, capfd)
    assert site["code"] == "OPI101"
    said = "`out` may be read at line 7 after the send, where line 20 calls `look` through a pointer"
    assert site["message"] == said


def test_a_length_that_does_more_than_to_read_says_what_would_do(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = SEND.replace("double out[N]", "int sizes[4]; double")
    text = text.replace("int rank;", "int rank; double out[sizes[0]];")
    text = text.replace("LOOK", "")
    site = first(tmp_path, {"a.c": text.replace("double, total", "double total")}, capfd)
    assert site["message"] == (
        "line 9 computes the length of `out` from more than variables and members; "
        "it would need a variable that is set to it in the line before"
    )


@pytest.mark.parametrize("count", ["(int)floor(w / h)", "n"])
def test_a_count_that_is_computed_anew_for_each_message_is_what_to_change(
    count: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """No two calls are known to return the same number, so it is not known that all that is sent is written before."""
    text = SEND.replace("double out[N], total;", "double total;").replace("#define N", "#include <math.h>\n#define N")
    text = text.replace("int rank;", "double w = argc * 900.0, h = argc * 2.0; int rank, n = (int)floor(w / h);")
    fill = f"for (int i = 0; i < {count}; i++) out[i] = u[i % N] + TURN;"
    send = f"MPI_Send(out, {count}, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
    text = text.replace("        for (int i = 0; i < N; i++)\n            out[i] = u[i];\n", "")
    text = text.replace("    if (rank == 0) {\n", "    if (rank == 0) {\n        double out[n];\n")
    text = text.replace("MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);", f"{fill.replace('TURN', '1')} // ONE")
    text = text.replace("LOOK", f"{send}\n{fill.replace('TURN', '2')} // TWO\n{send} // SENT")
    site = first(tmp_path, {"a.c": text}, capfd)
    if count == "n":
        assert site["decision"] == "convert"
        return
    at = {mark: next(i for i, line in enumerate(text.splitlines(), 1) if mark in line) for mark in ("TWO", "SENT")}
    assert site["message"] == (
        f"could not show that line {at['SENT']} sends only what is written after this send: it computes its count "
        "anew, by `floor`; a variable that is set to it once would show which bytes these are"
    )
    assert at["TWO"] in {note["line"] for note in site["notes"]}


def test_what_an_allocating_function_returns_is_fresh_memory() -> None:
    strays = Strays.__new__(Strays)
    known = {"malloc": SimpleNamespace(allocates=object()), "other": SimpleNamespace(allocates=None)}
    strays.program = SimpleNamespace(effects=known)  # type: ignore[assignment]
    at = span("/p/a.c", 4)

    def said(key: str, inside: bool) -> str:
        return told(strays.returned(at, key, inside).message, "/p/b.c")

    assert said("malloc", True) == (
        "the call begins at a computed place inside the memory that `malloc` returns at line 4 of a.c; "
        "a message needs a buffer of its own"
    )
    assert said("malloc", False).startswith("the buffer is the memory that `malloc` returns at line 4 of a.c; ")
    for key in ("other", "unknown"):
        assert said(key, True) == f"the buffer is what `{key}` returned, which is not known to be fresh memory"


def test_a_request_that_is_copied_says_where(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = SEND.replace("MPI_Send(", "for (int k = 0; k < 3; k++) { MPI_Request r, s[1];\n MPI_Irecv(")
    wait = "s[0] = r;\n MPI_Waitall(1, s, 0); total += out[3]; }"
    text = text.replace("COMM_WORLD);\n        LOOK", f"COMM_WORLD, &r);\n {wait}")
    site = first(tmp_path, {"a.c": text}, capfd)
    said = "could not show that this receive into `out` is complete when the call comes once more; waiting for it, by"
    assert (site["code"], site["message"].startswith(said)) == ("OPI206", True)
    assert [note["line"] for note in site["notes"]] == [17]


def test_a_request_whose_address_is_given_away_is_not_called_freed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = SEND.replace("MPI_Send(", "MPI_Request r; void keep(void *);\n keep(&r);\n MPI_Isend(")
    text = text.replace("COMM_WORLD);\n        LOOK", "COMM_WORLD, &r);\n MPI_Wait(&r, MPI_STATUS_IGNORE);")
    site = first(tmp_path, {"a.c": text}, capfd)
    said = "could not show that nobody cancels or frees the request before it completes: its address goes out of sight"
    assert (site["code"], site["message"]) == ("OPI106", f"{said} at line 16")


def test_a_copy_of_a_request_that_is_freed_says_where(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = SEND.replace("MPI_Send(", "MPI_Request r, s;\n MPI_Isend(")
    text = text.replace("COMM_WORLD);\n        LOOK", "COMM_WORLD, &r);\n s = r;\n MPI_Request_free(&s);")
    site = first(tmp_path, {"a.c": text}, capfd)
    assert (site["code"], site["message"]) == ("OPI106", "the request may be cancelled or freed before it completes")
    assert [note["line"] for note in site["notes"]] == [16, 17, 18]


def test_memory_that_comes_by_another_way_says_where(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = "static char *pack(size_t *n) { *n = N * 8 + 16; char *b = malloc(*n); if (!b) exit(1);\n"
    made += "int *h = (int *)b; h[0] = h[1] = h[2] = h[3] = 1; memcpy(b + 16, u, N * 8); return b; }\n"
    send = "size_t n; char *out = pack(&n);\n MPI_Send(out, (int)n, MPI_BYTE, 1, 7, MPI_COMM_WORLD);\n free(out);"
    keep = "static void hold(char **to) { size_t n; char *b = pack(&n); *to = b; }"
    before = f"#include <string.h>\n{made}static void ship(void) {{ {send} }}\n{keep}\n"
    text = SEND.replace("int main(", f"{before}int main(")
    text = text.replace("double out[N], total", "double total").replace("MPI_Send(out, N, MPI_DOUBLE", "ship();//")
    text = text.replace("out[i] = u[i]", "u[i] = i").replace("LOOK", "char *b; hold(&b); total += b[3]; free(b);")
    site = first(tmp_path, {"a.c": text}, capfd)
    assert (site["code"], site["message"]) == (
        "OPI114",
        "`pack`, which allocates `out` at line 8, allocates other memory for line 13; a function for `out` alone could "
        "be followed",
    )


@pytest.mark.parametrize(
    ("datatype", "message"),
    [
        ("MPI_DOUBLE_INT", "`MPI_DOUBLE_INT` has gaps: 12 bytes of data in every 16"),
        (
            "made",
            "could not show that the datatype has no gaps: it is made by `MPI_Type_vector` at line 9",
        ),
    ],
)
def test_what_is_known_of_a_datatype(
    datatype: str, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = SEND.replace("N, MPI_DOUBLE,", f"200, {datatype},").replace("LOOK", "")
    text = text.replace("int rank;", "int rank; MPI_Datatype made; MPI_Type_vector(8, 1, 2, MPI_DOUBLE, &made);")
    site = first(tmp_path, {"a.c": text}, capfd)
    assert (site["code"], site["message"]) == ("OPI107", message)


def test_a_pending_request_in_memory_that_is_not_known(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = "MPI_Request one, two, *r = argc > 3 ? &one : &two;\n"
    wait = "MPI_Iscatter(u, N, MPI_DOUBLE, out, N, MPI_DOUBLE, 1, MPI_COMM_WORLD, r);\n"
    wait += " MPI_Wait(r, MPI_STATUS_IGNORE);\n"
    text = SEND.replace("if (rank == 0) {\n", f"{before}for (int k = 0; k < 3; k++) {{\n{wait} if (rank == 0) {{\n")
    site = first(tmp_path, {"a.c": text.replace("LOOK", "}")}, capfd)
    said = "another operation on `out` may still be pending: which memory holds the request of line 14 is not known"
    assert (site["code"], site["message"].startswith(said)) == ("OPI106", True)


def test_a_pointer_that_is_moved_is_no_other_buffer(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = SEND.replace("MPI_Send(out", "double *p = boxes[argc]->at + 2;\n if (argc > 2) p += argc;\n MPI_Send(p")
    text = text.replace("int main(", "struct box { double *at; } *boxes[8];\nint main(").replace("LOOK", "")
    site = first(tmp_path, {"a.c": text}, capfd)
    assert site["code"] == "OPI104"
    assert "it is set at" not in site["message"]


def test_what_gives_a_struct_away_is_named_first(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Not the function of an exit handler, which can reach all that is known outside."""
    before = "struct grid { double *cells; };\nstatic void done(void) { look(); }\n"
    before += 'static void odd(struct grid *g) { __asm__ volatile("" : : "r"(g)); }\n'
    text = SEND.replace("int main(", f"{before}int main(").replace("double out[N], total", "static double total")
    text = text.replace(
        "int rank;", "int rank; struct grid g, *h = &g; atexit(done); h->cells = malloc(N * 8); odd(h);"
    )
    text = text.replace("MPI_Send(out", "MPI_Send(h->cells").replace("out[i]", "h->cells[i]").replace("LOOK", "")
    site = first(tmp_path, {"a.c": text}, capfd)
    called = next(i for i, line in enumerate(text.splitlines(), 1) if "odd(h)" in line)
    why = f"`odd`, called at line {called}, is not followed: inline asm in line 9"
    assert (site["code"], site["message"]) == ("OPI402", f"could not show that `h->cells` stays as it is: {why}")


def test_what_is_not_followed_says_the_file_of_its_lines(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    odd = 'void odd(double *p);\n\nvoid odd(double *p) { __asm__ volatile("" : : "r"(p)); }\n'
    text = SEND.replace("double out[N], total;", "static double out[N];\nvoid odd(double *p);")
    text = text.replace("LOOK", "").replace("int rank;", "int rank; odd(out);")
    site = first(tmp_path, {"a.c": text, "u.c": odd}, capfd)
    why = "`odd`, which is not followed: inline asm in line 3 of u.c"
    assert (site["code"], site["message"]) == ("OPI103", f"`out`: {why}")
    assert [note["message"] for note in site["notes"]] == [why]


def test_a_parameter_that_other_files_may_give_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A file without main: who calls the function was not read.  A static one has all its callers here."""
    text = (
        "#include <mpi.h>\nvoid hand_on(double *b, int n)\n{\n"
        "    MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);\n}\n"
    )
    found = first(tmp_path, {"library.c": text}, capfd)
    said = "could not show which buffer `b` is: other files may call `hand_on`, and give it any"
    assert (found["code"], found["message"]) == ("OPI402", said)
    assert (found["notes"][0]["line"], found["notes"][0]["message"]) == (2, "its parameter")


def test_a_table_of_rows_is_not_told_by_how_another_one_is_filled(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What `hook` does is not known, so that `tours` may point anywhere; `m[i]` are rows of another table even so."""
    text = """#include <mpi.h>
#include <stdlib.h>
extern long (*hook)(long);
static long **tours, **far;
static long **matrix(long n)
{
    long **m = malloc(n * n * sizeof(long) + n * sizeof(long *));
    for (long i = 0; i < n; i++) {
        m[i] = (long *)(m + n) + i * n;
        m[i][0] = hook(i); // HERE
    }
    return m;
}
int main(int argc, char **argv)
{
    long n = atoi(argv[1]), size = n;
    MPI_Request r[100];
    MPI_Init(&argc, &argv);
    tours = malloc(size * sizeof(long *));
    for (int i = 0; i < size; i++) tours[i] = malloc(n * sizeof(long));
    far = matrix(n);
    for (int i = 0; i < size; i++)
        MPI_Irecv(&tours[i][0], n, MPI_LONG, i, 0, MPI_COMM_WORLD, &r[i]);
    MPI_Waitall(size, r, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return tours[0][1] > far[0][1];
}
"""
    site = first(tmp_path, {"a.c": text}, capfd)
    said = "`tours` may change behind the program's back: call through a pointer at line 10"
    assert (site["code"], site["message"]) == ("OPI402", said)
    assert [(note["line"], note["message"]) for note in site["notes"]] == [(10, "call through a pointer")]


# --- lists of structs, and pointers of which each call has one --------------------------------------------------------

LISTS = """#include <mpi.h>
#include <stdlib.h>
struct part { int rank, bytes; char *data; MPI_Request r; };
struct exchange { int sends, receives; struct part *send, *receive; };
struct exchange *started(int n, const int *ranks, const char *field)
{
    struct exchange *x = malloc(sizeof(struct exchange));
    struct part *in = malloc(n * sizeof(struct part));
    struct part *out = malloc(n * sizeof(struct part));
    x->receive = in;
    x->send = out;
    x->sends = x->receives = n;
    for (int i = 0; i < n; i++) {
        in[i].data = malloc(ranks[i]);
        MPI_Irecv(in[i].data, ranks[i], MPI_CHAR, i, 0, MPI_COMM_WORLD, &in[i].r);
    }
    for (int i = 0; i < n; i++) {
        out[i].data = malloc(ranks[i]);
        for (int k = 0; k < ranks[i]; k++)
            out[i].data[k] = field[k];
    }
    for (int i = 0; i < n; i++)
        MPI_Isend(out[i].data, ranks[i], MPI_CHAR, i, 0, MPI_COMM_WORLD, &out[i].r);
    return x;
}
int finished(struct exchange *x)
{
    int found = 0;
    for (int i = 0; i < x->receives; i++) {
        MPI_Wait(&x->receive[i].r, MPI_STATUS_IGNORE);
        found += x->receive[i].data[0];
    }
    for (int i = 0; i < x->sends; i++)
        MPI_Wait(&x->send[i].r, MPI_STATUS_IGNORE);
    return found;
}
"""


def sites_of(text: str, folder: Path) -> list[dict[str, Any]]:
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["sites"]
    return found


def line_with(text: str, what: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if what in line)


@pytest.mark.parametrize(("site", "made"), [(0, "*in = malloc"), (1, "*out = malloc")])
def test_a_list_that_is_only_received_is_not_what_is_sent(site: int, made: str, tmp_path: Path) -> None:
    """A file without main: `x->send` is what `out` is, `x->receive` what `in` is; nothing mixes them."""
    found = sites_of(LISTS, tmp_path)[site]
    name, line = f"{made.split()[0][1:]}[…].data", line_with(LISTS, made)
    said = f"line {line} allocates the struct of `{name}`, and other files may come there again"
    assert (found["code"], found["message"]) == ("OPI402", said)
    assert [(note["line"], note["message"]) for note in found["notes"]] == [(line, "allocated here")]


MAIN = """extern void (*hook)(struct exchange *);
int main(int argc, char **argv)
{
    int n = 2, ranks[2] = {100, 200};
    MPI_Init(&argc, &argv);
    struct exchange *x = started(n, ranks, argv[0]);
    hook(x);
    n = finished(x);
    MPI_Finalize();
    return n;
}
"""


def test_what_is_read_of_the_other_list_is_no_reason(tmp_path: Path) -> None:
    """What `hook` does is not known: any of the pointers may be what it makes of them.  That is the reason, no read."""
    line = line_with(LISTS + MAIN, "hook(x)")
    said = f"`out[…].data` may change behind the program's back: call through a pointer at line {line}"
    assert sites_of(LISTS + MAIN, tmp_path)[1]["message"] == said


def test_what_is_sent_is_read_where_the_list_may_be_either(tmp_path: Path) -> None:
    text = LISTS.replace("int found = 0;", "int found = 0; if (!x->receive) x->receive = x->send;")
    text += MAIN.replace("hook(x);", "")
    line = line_with(text, "found += ")
    assert f"line {line} may read it there after the send" in sites_of(text, tmp_path)[1]["message"]


def test_a_pointer_whose_address_is_given_away_is_told_with_that_call(tmp_path: Path) -> None:
    """`released` gets the address as `void *`; `sent` is called twice, so that there are two `buf` in the program."""
    text = """#include <mpi.h>
#include <stdlib.h>
static void *needed(size_t n)
{
    void *p = NULL;
    if (n > 0)
        p = malloc(n);
    return p;
}
static void released(void *p)
{
    free(*(void **)p);
    *(void **)p = NULL;
}
static void sent(int n, int to)
{
    char *buf = needed(n);
    for (int i = 0; i < n; i++)
        buf[i] = i;
    MPI_Send(buf, n, MPI_CHAR, to, 0, MPI_COMM_WORLD);
    released(&buf);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    sent(atoi(argv[1]), 1);
    sent(atoi(argv[2]), 2);
    MPI_Finalize();
    return 0;
}
"""
    (found,) = sites_of(text, tmp_path)
    line = line_with(text, "released(&buf)")
    said = "`buf` may be one of several pointers: each call of `sent` has its own `buf`"
    given = f"and line {line} gives the address of that to `released`"
    assert (found["code"], found["message"]) == ("OPI402", f"{said}, {given}")
    assert [(note["line"], note["message"]) for note in found["notes"]] == [(line, "its address is given away here")]


def test_a_pointer_that_is_declared_in_a_loop_is_another_one_in_each_turn(tmp_path: Path) -> None:
    text = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static void made(const int *list, int **out, int *n)
{
    if (list == NULL) {
        *out = NULL;
        *n = 0;
        return;
    }
    int *p = calloc(sizeof(int), list[0]);
    if (p == NULL) {
        printf("no memory");
        return;
    }
    for (int i = 0; i < list[0]; i++)
        p[i] = list[i + 1];
    *n = list[0];
    *out = p;
}
static void sent(int **lists, int m)
{
    for (int i = 0; i < m; i++) { // LOOP
        int *buf, *n = malloc(sizeof(int));
        made(lists[i], &buf, n);
        if (*n > 0) {
            MPI_Send(buf, *n, MPI_INT, 1, 0, MPI_COMM_WORLD);
            free(buf);
        }
        free(n);
    }
}
int main(int argc, char **argv)
{
    int m = atoi(argv[1]), **lists = malloc(m * sizeof *lists);
    MPI_Init(&argc, &argv);
    for (int i = 0; i < m; i++) {
        lists[i] = calloc(100, sizeof(int));
        lists[i][0] = 99;
    }
    sent(lists, m);
    MPI_Finalize();
    return 0;
}
"""
    (found,) = sites_of(text, tmp_path)
    loop, given = line_with(text, "LOOP"), line_with(text, "&buf")
    said = f"`buf` may be one of several pointers: each turn of the loop in line {loop} has its own `buf`"
    assert found["message"] == f"{said}, and line {given} gives the address of that to `made`"
