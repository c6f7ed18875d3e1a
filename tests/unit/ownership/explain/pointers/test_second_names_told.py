"""Another name of a block, another element by the same words, another struct's member: what a reason is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from case_tools import run_tool

from opi_xform.ownership.explain.pointers.second_names import also_names, called_by, set_beside
from opi_xform.ownership.explain.pointers.settings import never_set
from opi_xform.ownership.explain.reaching.touching import supposed
from tests.unit.ownership.explain.pointers.told_programs import HEAD, MAIN, TAIL, line_of

TO = "1, 0, MPI_COMM_WORLD);"
FROM = "0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


WORDS = (also_names, called_by, never_set, set_beside, supposed)  # what is tested here, by way of the whole tool


def sites(before: str, lines: list[str], folder: Path) -> tuple[str, list[dict[str, Any]]]:
    text = HEAD + before + MAIN + "\n".join(lines) + TAIL
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["sites"]
    return text, found


def test_a_name_that_is_set_in_the_same_declaration_is_told(tmp_path: Path) -> None:
    lines = [
        "double *grid = aligned_alloc(64, n * sizeof(double)), *cur = grid; // HERE",
        "for (int i = 0; i < n; i++) cur[i] = i;",
    ]
    text, found = sites("", [*lines, f"MPI_Send(grid, n, MPI_DOUBLE, {TO}", "free(grid);"], tmp_path)
    line = line_of(text, "HERE")
    message = (
        f"line {line} declares `cur` beside `grid` and sets it from that; `cur` would need a declaration of its own"
    )
    assert (found[0]["code"], found[0]["message"]) == ("OPI114", message)
    # followed, it converts
    split = lines[0].replace(", *cur = grid;", ";\ndouble *cur = grid;")
    _, found = sites("", [split, lines[1], f"MPI_Send(grid, n, MPI_DOUBLE, {TO}", "free(grid);"], tmp_path)
    assert found[0]["decision"] == "convert"


def test_a_call_by_a_second_name_says_where_that_is_set(tmp_path: Path) -> None:
    before = "static int counts[5000];\nstatic int *hist;\n"
    lines = ["hist = counts; // HIST", "if (rank == 1) {", f"MPI_Recv(hist, 5000, MPI_INT, {FROM}", "s += counts[3]; }"]
    text, found = sites(before, lines, tmp_path)
    message = f"the call names `counts` by `hist`, which line {line_of(text, 'HIST')} sets from it"
    assert [(site["code"], site["message"]) for site in found] == [("OPI215", message)]


PARTS = [
    "struct part *data = malloc(n * sizeof(struct part));",
    "for (int p = 0; p < n; p++) { data[p].k = n; data[p].files = malloc(n); }",
    "for (int i = 0; i < n; i++) data[i].files[0] = i;",
    f"for (int p = 1; p < n; p++) MPI_Send(data[p].files, n, MPI_CHAR, p, {TO[3:]}",
    "for (int i = 0; i < n; i++) puts(data[0].files + i); // HERE",
]
PART = "struct part { int k; char *files; };\n"


def test_a_row_that_is_never_sent_is_not_told_as_read(tmp_path: Path) -> None:
    text, found = sites(PART, PARTS, tmp_path)
    message = f"could not show that line {line_of(text, 'HERE')} reads nothing of `data[…].files` beyond the row that "
    message += "it names, which is another one than that of this call"
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", message)
    read = [line.replace("data[0]", "data[2]") for line in PARTS]  # one that is sent
    text, found = sites(PART, read, tmp_path)
    assert found[0]["message"] == f"`data[…].files` may be read at line {line_of(text, 'HERE')} after the send"


def test_another_element_of_a_table_that_is_not_known_is_not_told_as_read(tmp_path: Path) -> None:
    """The structs are sent themselves, so that their members are no variables."""
    lines = [
        *PARTS[:3],
        f"for (int p = 1; p < n; p++) MPI_Send(&data[p].k, 1, MPI_INT, p, {TO[3:]} // SENT",
        *PARTS[3:],
    ]
    text, found = sites(PART, lines, tmp_path)
    what = "what `data[…].files` lies in is what a message is sent from, as `data[…].k`,"
    message = f"{what} at line {line_of(text, 'SENT')}"
    assert (found[1]["code"], found[1]["message"]) == ("OPI402", message)
    read = [line.replace("data[0]", "data[k]") for line in ("int k = rand() % n;", *lines)]
    text, found = sites(PART, read, tmp_path)
    assert found[1]["code"] == "OPI101"
    assert f"line {line_of(text, 'HERE')} may read there after the send" in found[1]["message"]


def test_the_member_of_another_struct_by_the_same_name_is_not_told_as_read(tmp_path: Path) -> None:
    before = "struct one { char *data; int k; };\nstruct two { long z; char *data; };\n"
    before += "static void *pool[2];\n"
    lines = ["struct one *a = malloc(n * sizeof *a); struct two *b = malloc(n * sizeof *b);"]
    lines += ["for (int i = 0; i < n; i++) { a[i].data = pool[i % 2]; b[i].data = pool[1 - i % 2]; a[i].k = i; }"]
    lines += [f"for (int p = 1; p < n; p++) MPI_Send(a[p].data, n, MPI_CHAR, p, {TO[3:]}"]
    lines += ["for (int p = 1; p < n; p++) for (int i = 0; i < n; i++) s += b[p].data[i]; // OTHER"]
    text, found = sites(before, ["for (int i = 0; i < 2; i++) pool[i] = malloc(n);", *lines], tmp_path)
    told = {found[0]["message"], *(note["message"] for note in found[0]["notes"])}
    assert not any("is read" in said or "may read" in said for said in told), told
    lines.append("for (int p = 1; p < n; p++) for (int i = 0; i < n; i++) s += a[p].data[i]; // OWN")
    text, found = sites(before, ["for (int i = 0; i < 2; i++) pool[i] = malloc(n);", *lines], tmp_path)
    assert f"line {line_of(text, 'OWN')} may read" in found[0]["message"], found[0]


def test_a_struct_that_holds_the_address_is_named(tmp_path: Path) -> None:
    before = "struct grid { int *cells; int n; };\n"
    before += "static int sum(struct grid *g, int k) { return k ? sum(g, k - 1) + g->cells[k] : 0; }\n"
    lines = [
        "int *v = malloc(n * sizeof(int)); struct grid g; g.n = n;",
        "g.cells = v;",
        "sum(&g, 2);",
        "if (rank == 0) {",
    ]
    lines += [f"MPI_Recv(v, n, MPI_INT, {FROM}", "for (int i = 0; i < n; i++) s += v[i];", "}", "free(v);"]
    _, found = sites(before, lines, tmp_path)
    assert (found[0]["code"], found[0]["message"]) == ("OPI205", "the address of `v` is stored in `g.cells`")


def test_a_read_before_the_wait_is_told_and_no_call_that_has_nothing_to_do_with_it(tmp_path: Path) -> None:
    """Which memory `in` has could only be told if `total` were followed, which has to do with other memory."""
    before = """static double *in;
static void setup(int n) { in = malloc(n * sizeof(double)); }
static double total(double *v, int n)
{
    double t = 0;
    int k;
    #pragma omp parallel for private(k)
    for (int i = 0; i < n; i++) { if (v[i] > 0) k = i; t += v[i] * k; }
    return t;
}
"""
    lines = ["double *v = malloc(n * sizeof *v); for (int i = 0; i < n; i++) v[i] = i;", "s = total(v, n); // LOST"]
    lines += [
        "setup(n); in[0] = 1; s += in[0]; free(in);",
        "MPI_Request rq;",
        "for (int t = 0; t < 9; t++) {",
        "setup(n);",
    ]
    begin = "MPI_Irecv(in, n, MPI_DOUBLE, 0, t, MPI_COMM_WORLD, &rq); // BEGUN"
    wait, read = "MPI_Wait(&rq, MPI_STATUS_IGNORE);", "for (int i = 0; i < n; i++) s += in[i]; // READ"
    text, found = sites(before, [*lines, begin, read, wait, "free(in); }"], tmp_path)
    message = (
        f"`in` is read at line {line_of(text, 'READ')}, where the receive that line {line_of(text, 'BEGUN')} begins "
    )
    assert (found[0]["code"], found[0]["message"]) == ("OPI206", message + "may not be complete")
    text, found = sites(before, [*lines, begin, wait, read, "free(in); }"], tmp_path)
    assert found[0]["code"] == "OPI402"


def test_a_recursion_that_only_writes_is_not_told_as_a_reader(tmp_path: Path) -> None:
    before = """static int found[4000], many;
static void place(int *board, int row)
{
    if (row == 8) { for (int i = 0; i < 8; i++) found[8 * many + i] = board[i]; many++; return; } // WRITTEN
    for (int c = 0; c < 8; c++) { board[row] = c; place(board, row + 1); }
}
"""
    lines = ["int board[8];", "for (int t = 0; t < n; t++) {", "many = 0; place(board, 6);"]
    text, found = sites(before, [*lines, f"MPI_Send(found, 8 * many, MPI_INT, {TO} // SENT", "}"], tmp_path)
    message = f"not all bytes of `found` that line {line_of(text, 'SENT')} sends are surely written after this send"
    assert (found[0]["code"], found[0]["message"]) == ("OPI102", message)
    read = before.replace("board[row] = c;", "board[row] = c + found[0];")
    text, found = sites(read, [*lines, f"MPI_Send(found, 8 * many, MPI_INT, {TO} // SENT", "}"], tmp_path)
    assert found[0]["code"] == "OPI101"
    once = ["int board[8];", f"MPI_Send(found, 4000, MPI_INT, {TO}", "place(board, 6);"]
    _, found = sites(before, ["for (int i = 0; i < 4000; i++) found[i] = i;", *once], tmp_path)
    assert found[0]["decision"] == "convert" or "called from inside itself" in found[0]["message"]


def test_a_member_is_named_as_the_function_that_reads_it_does(tmp_path: Path) -> None:
    before = """struct piece { int *data; int len; };
static void give(struct piece *p) { MPI_Send(p->data, p->len, MPI_INT, 1, 0, MPI_COMM_WORLD); }
"""
    lines = [
        "struct piece p; p.len = n; p.data = malloc(n * sizeof(int));",
        "for (int i = 0; i < n; i++) p.data[i] = i;",
    ]
    lines += ["give(&p);", "for (int i = 0; i < n; i++) s += p.data[i]; // READ", "free(p.data);"]
    text, found = sites(before, lines, tmp_path)
    assert found[0]["message"] == f"`p.data` is read at line {line_of(text, 'READ')} after the send"


def test_of_two_structs_made_by_one_function_the_reader_names_its_own(tmp_path: Path) -> None:
    before = """struct image { unsigned char *data; int n; };
static struct image *make(int n)
{
    struct image *img = malloc(sizeof *img);
    img->n = n;
    img->data = malloc(n);
    return img;
}
static void both(struct image *in, struct image *out)
{
    MPI_Request r;
    MPI_Isend(in->data, in->n, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r);
    for (int i = 0; i < in->n; i++) out->data[i] = in->data[i]; // READ
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}
"""
    lines = ["struct image *a = make(n), *b = make(n);", "for (int i = 0; i < n; i++) a->data[i] = i;", "both(a, b);"]
    text, found = sites(before, [*lines, "for (int i = 0; i < n; i++) s += b->data[i];"], tmp_path)
    assert found[0]["message"].startswith(f"`in->data` is read at line {line_of(text, 'READ')} after the send")


def test_the_arm_of_an_if_is_told_before_what_comes_behind_it(tmp_path: Path) -> None:
    before = "static void show(int *v, int n) { for (int i = 0; i < n; i++) s += v[i]; }\n"
    before += "static void grow(int *v, int n) { for (int i = 1; i < n; i++) v[i] += v[i - 1]; } // GROW\n"
    lines = ["int *v = malloc(n * sizeof(int));", "for (int i = 0; i < n; i++) v[i] = i;"]
    lines += [f"if (rank == 0) MPI_Send(v, n, MPI_INT, {TO}"]
    lines += ['if (argc > 3) puts("sent"); else grow(v, n);', "show(v, n);"]
    text, found = sites(before, lines, tmp_path)
    assert found[0]["message"] == f"`v` is read at line {line_of(text, 'GROW')} after the send"


IMAGE = """struct image { int n; unsigned char **rows; };
static struct image *read_in(int n)
{
    struct image *img = malloc(sizeof *img); // MADE
    img->n = n; // SET
    return img;
}
"""


def test_a_pointer_that_no_line_sets(tmp_path: Path) -> None:
    lines = [
        "struct image *img = read_in(n);",
        "for (int t = 0; t < n; t++) {",
        f"MPI_Recv(img->rows[0], img->n, MPI_CHAR, {FROM}",
        "for (int i = 0; i < n; i++) img->rows[1][i] += img->rows[0][i];",
        "}",
    ]
    text, found = sites(IMAGE, lines, tmp_path)
    message = f"no line sets `img->rows` in the struct that line {line_of(text, 'MADE')} allocates, so which buffer "
    assert (found[0]["code"], found[0]["message"]) == ("OPI402", f"{message}`img->rows[0]` is could not be shown")
    for other in ("memset(img, 0, sizeof *img);", "img->rows = get(n);", "get(img->n); fill(img);"):
        before = "unsigned char **get(int);\nvoid fill(struct image *);\n" + IMAGE.replace("// SET", other)
        _, found = sites(before, lines, tmp_path)
        assert "no line sets" not in found[0]["message"], (other, found[0])


OF_ONE = """
struct image { double *data; };
static struct image *made(int n)
{ struct image *i = malloc(sizeof *i); i->data = malloc(n * sizeof(double)); return i; }
"""


def test_a_pointer_that_also_names_the_memory_of_a_struct(tmp_path: Path) -> None:
    """What another struct holds says nothing of the receive, whose memory is allocated for it."""
    lines = [
        "struct image *mine = made(n);",
        "for (int i = 0; i < n; i++) mine->data[i] = i;",
        "double *part;",
        "if (rank != 0) {",
        "part = mine->data; // HERE",
        "MPI_Send(part, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);",
        "} else {",
        "part = malloc(n * sizeof *part);",
        f"MPI_Recv(part, n, MPI_DOUBLE, {FROM.replace('0, 0', '1, 0')}",
        "for (int i = 0; i < n; i++) s += part[i];",
        "free(part);",
        "}",
        "free(mine->data);",
    ]
    text, found = sites(OF_ONE, lines, tmp_path)
    message = "`part` is also a second name of what `mine->data` points to, which keeps it: line"
    for site in found:
        assert site["message"] == f"{message} {line_of(text, 'HERE')} sets it from that"
        assert site["notes"][0]["line"] == line_of(text, "HERE")
    assert [site["code"] for site in found] == ["OPI105", "OPI205"]
    # with another pointer for what is sent the receive converts
    named = [line.replace("part", "mine->data") for line in lines[5:6]]
    _, found = sites(OF_ONE, [*lines[:4], *named, *lines[6:]], tmp_path)
    assert [site["decision"] for site in found if site["side"] == "recv"] == ["convert"]


def test_a_pointer_with_memory_of_its_own_is_no_second_name(tmp_path: Path) -> None:
    lines = ["struct image *mine = made(n);", "double *part = malloc(n * sizeof *part);", "mine->data = part;"]
    lines += ["for (int i = 0; i < n; i++) part[i] = i;", f"MPI_Send(part, n, MPI_DOUBLE, {TO}"]
    _, found = sites(OF_ONE, [*lines, "for (int i = 0; i < n; i++) s += mine->data[i];"], tmp_path)
    assert all("also a second name" not in site["message"] for site in found)
