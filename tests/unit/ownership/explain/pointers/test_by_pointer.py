"""What is told of buffers that calls through pointers get and return, and of pointers that a library moves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from case_tools import run_tool

HEAD = "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"


def told(text: str, folder: Path) -> list[dict[str, Any]]:
    (folder / "a.c").write_text(HEAD + text)
    code, out, err = run_tool([str(folder / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    sites: list[dict[str, Any]] = json.loads(out)["sites"]
    return sites


def line_of(text: str, what: str) -> int:
    return next(i for i, line in enumerate((HEAD + text).splitlines(), 1) if what in line)


PACK = """static void *(*p_pack)(void *), *(*p_more)(void *);
static void *pack(void *in) { int *p = malloc(800); for (int i = 0; i < 200; i++) p[i] = ((int *)in)[i]; return p; }
static void *more(void *in) { return in; }
int main(int argc, char **argv)
{
    int in[200] = {argc};
    MPI_Init(&argc, &argv);
    p_pack = argc > 1 ? pack : more;
    p_more = more;
    void *packed = p_pack(in); // CALLED
    MPI_Send(packed, 800, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    printf("%p\\n", p_more(in));
    MPI_Finalize();
    return 0;
}
"""


def test_a_buffer_that_a_function_behind_a_pointer_returns(tmp_path: Path) -> None:
    """Each of several functions may be the one that is called there."""
    (site,) = told(PACK, tmp_path)
    message = "what `p_pack` points to returns the buffer, and could not show which function that is"
    assert (site["code"], site["message"]) == ("OPI402", message)
    assert [note["line"] for note in site["notes"]] == [line_of(PACK, "CALLED")]


TOKENS = """static struct list { char *text; struct list *next; } *first;
static void keep(char *t)
{
    struct list *l = malloc(sizeof *l);
    l->text = malloc(strlen(t) + 1);
    strcpy(l->text, t);
    l->next = first;
    first = l;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    char *names = malloc(4000), *one;
    MPI_Recv(names, 4000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while ((one = strtok_r(names, ",", &names))) // MOVED
        keep(one);
    for (struct list *l = first; l; l = l->next) puts(l->text);
    MPI_Finalize();
    return 0;
}
"""


def test_a_pointer_that_a_library_moves(tmp_path: Path) -> None:
    """No store of the program's own is told that need not be of its address."""
    (site,) = told(TOKENS, tmp_path)
    assert "is stored in" not in site["message"]
    assert f"line {line_of(TOKENS, 'MOVED')}" in site["message"] or "strtok_r" in site["message"]


WRAPPED = """struct q { int *base; };
static void give(const int *data, int n, int to) { MPI_Send((void *)data, n, MPI_INT, to, 0, MPI_COMM_WORLD); }
static int spread(struct q *q, int rank, int size)
{
    int mine = rank + 7;
    if (rank) give(&mine, 1, 0);
    else for (int i = 1; i < size; i++) give(&q->base[1], size, i); // BASE
    return mine + q->base[1];
}
int main(int argc, char **argv)
{
    struct q q;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    q.base = calloc(size + 1, sizeof(int));
    printf("%d\\n", spread(&q, rank, size));
    MPI_Finalize();
    return 0;
}
"""


def test_a_call_of_which_some_messages_are_small(tmp_path: Path) -> None:
    """What keeps the others is told, also where their buffer is not known."""
    (site,) = told(WRAPPED, tmp_path)
    assert site["code"] != "OPI108"
    assert "bytes, which travel" not in site["message"]
