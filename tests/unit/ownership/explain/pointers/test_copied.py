"""A struct that is a copy of another one: the other one still has its pointer.  And whose member a message is."""

from __future__ import annotations

from pathlib import Path

from opi_xform.ownership.explain.reaching.copied import copies, copy_of
from opi_xform.ownership.explain.reaching.turns import own_turns, shared_turns
from tests.unit.ownership.explain.pointers.test_second_names_told import sites
from tests.unit.ownership.explain.pointers.told_programs import line_of

WORDS = (copies, copy_of, own_turns, shared_turns)  # what is tested here, by way of the whole tool

BEFORE = """
struct packet { unsigned char *data; unsigned long len; int mark; };
static struct packet *make(int n)
{
    struct packet *all = malloc(n * sizeof(struct packet));
    for (int i = 0; i < n; i++) {
        all[i].len = 1000 + rand() % 1000;
        all[i].data = calloc(all[i].len, 1);
    }
    return all;
}
"""
SENT = [
    "if (rank == 0) {",
    "struct packet *all = make(n);",
    "for (int j = 0; j < n; j++) {",
    "struct packet p = all[j]; // COPY",
    "// SET",
    "MPI_Send(p.data, p.len, MPI_BYTE, 1, 2, MPI_COMM_WORLD);",
    "}",
    "for (int j = 0; j < n; j++) free(all[j].data);",
    "free(all); }",
]


def test_the_struct_that_is_copied_keeps_the_pointer(tmp_path: Path) -> None:
    text, found = sites(BEFORE, SENT, tmp_path)
    message = f"line {line_of(text, 'COPY')} copies `all[…]` to `p`, and `all[…]` still has the pointer `p.data`"
    assert [(site["code"], site["message"]) for site in found] == [("OPI402", message)]


def test_a_copy_whose_pointer_is_set_anew_is_not_told(tmp_path: Path) -> None:
    lines = [line.replace("// SET", "p.data = calloc(p.len, 1);") for line in SENT]
    _, found = sites(BEFORE, lines, tmp_path)
    assert not any("still has" in site["message"] for site in found)


def test_a_read_by_the_words_of_the_call_goes_before_the_copy(tmp_path: Path) -> None:
    lines = [line.replace("}", "s += p.data[0]; } // READ") if line == "}" else line for line in SENT]
    text, found = sites(BEFORE, lines, tmp_path)
    message = f"the message lies in `p.data`, and line {line_of(text, 'READ')} may read it there after the send"
    assert [(site["code"], site["message"]) for site in found] == [("OPI101", message)]


TAKEN = [
    "struct packet *mine = malloc(n * sizeof(struct packet));",
    "for (int j = 0; j < n; j++) {",
    "MPI_Recv(&mine[j].len, 1, MPI_UNSIGNED_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // LENGTH",
    "mine[j].data = malloc(mine[j].len);",
    "MPI_Recv(mine[j].data, mine[j].len, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    "}",
    "for (int j = 0; j < n; j++) {",
    "for (unsigned long k = 0; k < mine[j].len; k++) s += mine[j].data[k]; // READ",
    "free(mine[j].data); }",
    "free(mine);",
]


def test_the_member_that_a_message_brings_is_named(tmp_path: Path) -> None:
    text, found = sites(BEFORE, TAKEN, tmp_path)
    what = "what `mine[…].data` lies in is what a message is received into"
    message = f"{what}, as `mine[…].len`, at line {line_of(text, 'LENGTH')}"
    assert (found[1]["code"], found[1]["message"]) == ("OPI402", message)


def test_what_reads_the_memory_of_every_turn_is_in_no_other_turn(tmp_path: Path) -> None:
    """After the loop each block is still there: not the test of the loop is why it is read, but how much came."""
    length = "unsigned long len; MPI_Recv(&len"
    lines = [line.replace("MPI_Recv(&mine[j].len", length) for line in TAKEN]
    lines[3] = "mine[j].len = len; mine[j].data = malloc(len);"
    text, found = sites(BEFORE, lines, tmp_path)
    message = (
        f"could not show that line {line_of(text, 'READ')} reads no more of `mine[…].data` than this receive brings "
        "(`mine[…].len`, an unsigned number)"
    )
    assert (found[1]["code"], found[1]["message"]) == ("OPI202", message)


def test_first_contents_are_read_by_the_name_that_stands_there(tmp_path: Path) -> None:
    before = """
static double *create(int n)
{
    double *v = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        v[i] = rand();
    return v;
}
static void hand_out(double *vector, int k, int size)
{
    for (int i = 1; i < size; i++)
        MPI_Send(&vector[i * k], k, MPI_DOUBLE, i, 1, MPI_COMM_WORLD); // SENT
}
"""
    lines = [
        "int size, k; MPI_Comm_size(MPI_COMM_WORLD, &size); k = n / size;",
        "double *v = create(n); // MADE",
        "if (rank == 0) { hand_out(v, k, size);",
        "for (int i = 1; i < size; i++) {",
        "MPI_Recv(v, k, MPI_DOUBLE, i, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "for (int j = 0; j < k; j++) s += v[j]; } }",
        "free(v);",
    ]
    text, found = sites(before, lines, tmp_path)
    sent, made = line_of(text, "SENT"), line_of(text, "MADE")
    message = (
        f"bytes of `v` are read at line {sent}, as `vector`, that nothing but `create` at line {made} surely writes"
    )
    assert (found[1]["code"], found[1]["message"]) == ("OPI210", message)
    assert found[1]["notes"][0]["message"] == "`vector` is sent here"


READ_BESIDE = """
static void merge(double *a, int k, double *b, double *out)
{
    for (int i = 0; i < k; i++)
        out[i] = a[i] + b[i]; // READ
}
"""


def test_a_parameter_that_is_given_a_place_further_on_reads_maybe_beside(tmp_path: Path) -> None:
    lines = [
        "double *a = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double)), *now = rank & 1 ? a : b;",
        "double *c = malloc(n * sizeof(double)); int low = n / 2;",
        "for (int i = 0; i < n; i++) a[i] = b[i] = c[i] = i;",
        "MPI_Send(now, low, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD);",
        "merge(now + low, n - low, c, c);",
        "s += c[0]; free(a); free(b); free(c);",
    ]
    text, found = sites(READ_BESIDE, lines, tmp_path)
    after = f"line {line_of(text, 'READ')} may read there after the send, as `a`, of the message or beside it"
    assert (found[0]["code"], found[0]["message"]) == ("OPI101", f"the message lies in `now`, and {after}")


ROWS = """
    scanf("%d", &n);
    double **rows = malloc(n * sizeof(double *));
    for (int i = 0; i < n; i++) rows[i] = malloc(n * sizeof(double)); // MADE
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) rows[i][j] = j;
    for (int i = rank * (n / 2); i < (rank + 1) * (n / 2); i++)
    MPI_Send(rows[i], n, MPI_DOUBLE, 0, i, MPI_COMM_WORLD); // SENT
"""


def test_a_row_that_may_not_be_set_where_it_is_sent_says_so(tmp_path: Path) -> None:
    text, found = sites("", ROWS.splitlines(), tmp_path)
    made = f"which line {line_of(text, 'MADE')} does, wherever it is sent or received"
    message = f"could not show that `rows[…]` has been set, {made}"
    assert [(site["code"], site["message"]) for site in found] == [("OPI114", message)]


NODES = """
struct node { int count; double *edges; };
struct graph { int *index; struct node *nodes; };
static struct node *node_of(struct graph *g, int k) { return &g->nodes[g->index[k]]; }
static void answer(struct graph *g)
{
    int wanted;
    MPI_Recv(&wanted, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    struct node *node = node_of(g, wanted);
    MPI_Send(node->edges, node->count, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
}
"""


def test_a_message_that_another_turn_need_not_send_again_may_be_sent_again(tmp_path: Path) -> None:
    lines = [
        "struct graph graph; graph.nodes = malloc(100 * sizeof(struct node)); graph.index = malloc(100 * sizeof(int));",
        "for (int i = 0; i < 100; i++) { graph.index[i] = i; graph.nodes[i].count = n; }",
        "for (int i = 0; i < 100; i++) graph.nodes[i].edges = calloc(n, sizeof(double));",
        "struct node *copy = malloc(100 * sizeof(struct node));",
        "for (int i = 0; i < 100; i++) copy[i] = graph.nodes[i];",
        "for (int i = 0; i < n; i++) // LOOP",
        "answer(&graph);",
        "for (int i = 0; i < 100; i++) s += graph.nodes[i].edges[0];",
        "for (int i = 0; i < 100; i++) free(graph.nodes[i].edges);",
    ]
    text, found = sites(NODES, lines, tmp_path)
    again = f"this call may send it again in a later turn of the loop in line {line_of(text, 'LOOP')}"
    message = f"the message lies in `node->edges`, and {again}, in which nothing is written to it"
    assert (found[1]["code"], found[1]["message"]) == ("OPI102", message)


TWO_ENTRIES = """
static int odd(int k, double *a)
{
    if (k > 3)
        goto inside;
    while (k < 10) {
        k += 2;
inside: // ENTRY
        a[0] = k++;
    }
    return k;
}
"""


def test_a_loop_with_two_entries_is_named(tmp_path: Path) -> None:
    """In main it keeps all; a function that has one is not followed, and gets an address here."""
    lines = [
        "double *a = malloc(n * sizeof(double)); int k = odd(n, a);",
        "for (int i = 0; i < n; i++) a[i] = k;",
        "MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);",
        "MPI_Send(a + k, n - k, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD);",
        "free(a);",
    ]
    text, found = sites(TWO_ENTRIES, [*lines[:3], lines[4]], tmp_path)
    why = f"a loop with two entries (goto into a loop) in line {line_of(text, 'while (k')}"
    assert (found[0]["code"], found[0]["message"]) == ("OPI103", f"`a`: `odd`, which is not followed: {why}")
    lines[0] = "double *a = malloc(n * sizeof(double)); int k = 3; if (n > 3) goto in;"
    lines[1] = "while (k < n) { // LOOP\nk++; in: a[k % n] = k; }"
    text, found = sites("", lines, tmp_path)
    told = f"`main` has a loop with two entries (goto into a loop), at line {line_of(text, 'LOOP')}"
    told += ": the ways through the program are not followed"
    inside = "the call begins inside `a`, at a place that the program computes; a message needs a buffer of its own"
    assert found[1]["message"] == f"{inside}; also, {told}"
    assert found[0]["message"].endswith(
        f", and line {line_of(text, 'a + k')} sends from further in; a message needs a buffer of its own; also, {told}"
    )
    text, found = sites("", lines[:3], tmp_path)
    assert (found[0]["code"], found[0]["message"]) == ("OPI111", told)


CHECKED = """
static void *checked(size_t n)
{
    void *p = malloc(n);
    if (!p) fprintf(stderr, "no memory\\n");
    return p;
}
"""


def test_a_row_that_another_function_allocates_names_the_line_that_sets_it(tmp_path: Path) -> None:
    lines = [
        "int size, k = 0; MPI_Comm_size(MPI_COMM_WORLD, &size); double *to[64]; int many[64];",
        "for (int i = 0; i < size; i++) {",
        "many[i] = 1 + rand() % n;",
        "to[i] = checked((many[i] + (k++ > 1000)) * sizeof(double)); } // SET",
        "for (int i = 0; i < size; i++) for (int j = 0; j < many[i]; j++) to[i][j] = j;",
        "for (int i = 0; i < size; i++)",
        "MPI_Send(to[i], many[i], MPI_DOUBLE, i, 0, MPI_COMM_WORLD);",
        "for (int i = 0; i < size; i++) free(to[i]);",
    ]
    text, found = sites(CHECKED, lines, tmp_path)
    how = f"without `checked`, which allocates it at line {line_of(text, 'void *p = malloc')}"
    message = f"could not show that line {line_of(text, 'SET')} could set `to` {how}"
    assert [(site["code"], site["message"]) for site in found] == [("OPI114", message)]


def test_rows_that_cannot_be_counted_are_named(tmp_path: Path) -> None:
    lines = [
        "int size; MPI_Comm_size(MPI_COMM_WORLD, &size); double *to[size]; int many[size];",
        "for (int i = 0; i < size; i++) { // LEFT",
        "many[i] = rand() % n;",
        "if (many[i]) to[i] = malloc(many[i] * sizeof(double)); else to[i] = NULL; }",
        "for (int i = 0; i < size; i++) for (int j = 0; j < many[i]; j++) to[i][j] = j;",
        "for (int i = 0; i < size; i++)",
        "if (many[i]) MPI_Send(to[i], many[i], MPI_DOUBLE, i, 0, MPI_COMM_WORLD);",
        "for (int i = 0; i < size; i++) if (to[i] != NULL) free(to[i]);",
    ]
    _, found = sites("", lines, tmp_path)
    assert found[0]["code"] == "OPI114"
    wanted = "could not show that all pointers of `to` have been set where its scope is left, and what is left of them"
    assert found[0]["message"] == f"{wanted} would be freed"
