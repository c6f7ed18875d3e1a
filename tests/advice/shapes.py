"""People's shapes of a test for want of memory, as programs of which what is advised is tried."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from tests.case_tools import Case

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 3000
%s
int main(int argc, char **argv)
{
    int rank, size, code = 0;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double *b = NULL;
    double *c = malloc(N * sizeof *c);
    %s
    %s
    for (int t = 0; t < 3; t++) {
        if (to != MPI_PROC_NULL) {
            for (int i = 0; i < N; i++)
                b[i] = rank + t * i;
            MPI_Send(b, N, MPI_DOUBLE, to, 7, MPI_COMM_WORLD);
        }
        if (rank > 0) {
            MPI_Recv(c, N, MPI_DOUBLE, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += c[i];
        }
    }
    printf("%%d: %%.17g %%d\\n", rank, total, code);
    free(b);
    free(c);
    MPI_Finalize();
    return 0;
}
"""
"""A function, where `b` gets memory, and a test of it."""
MEMORY = {
    "plain": "b = malloc(N * sizeof *b);",
    "ternary": "b = to != MPI_PROC_NULL ? malloc(N * sizeof *b) : NULL;",
    "if": "if (to != MPI_PROC_NULL)\n        b = malloc(N * sizeof *b);",
    "two": "if (argc > 5)\n        b = malloc(2 * N * sizeof *b);\n    else\n        b = malloc(N * sizeof *b);",
}
WELL = "{\n        MPI_Finalize();\n        return 1;\n    }"
TESTS = {
    "not": ("", f"if (!b) {WELL}"),
    "null": ("", 'if (b == NULL)\n        printf("no memory\\n");'),
    "both": ("", f"if (!b && to != MPI_PROC_NULL) {WELL}"),
    "either": ("", f"if (!b || !c) {WELL}"),
    "two": ("", "if (!b)\n        code = 1;\n    if (b == NULL || c == NULL)\n        code += 2;"),
    "value": ("static int there(const void *p)\n{\n    return p != NULL;\n}\n", f"if (!there(b)) {WELL}"),
    "says": (
        'static int there(const void *p)\n{\n    if (!p) {\n        printf("no memory\\n");\n        return 0;\n    }\n'
        "    return 1;\n}\n",
        f"if (!there(b) || !there(c)) {WELL}",
    ),
    "ternary": ("", "code = b ? 0 : 3;"),
    "else": ("", 'if (b)\n        code = 4;\n    else\n        printf("no memory\\n");'),
    "flag": ("", f"int bad = (b == NULL);\n    if (bad) {WELL}"),
}
SHAPES = list(product(MEMORY, TESTS))


def shape(memory: str, test: str) -> Case:
    before, asked = TESTS[test]
    text = PROGRAM % (before, MEMORY[memory], asked)
    return Case(f"{memory}_{test}", Path(), ("p.c",), ("p.c",), {"p.c": text}, (), ())
