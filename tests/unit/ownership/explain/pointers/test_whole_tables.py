"""What is told of messages that are a block with all rows of a table, and of rows that other operations use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from case_tools import run_tool

HEAD = "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
FROM = "MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


def told(text: str, folder: Path) -> list[dict[str, Any]]:
    (folder / "a.c").write_text(HEAD + text)
    code, out, err = run_tool([str(folder / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    sites: list[dict[str, Any]] = json.loads(out)["sites"]
    return sites


def line_of(text: str, what: str) -> int:
    return next(i for i, line in enumerate((HEAD + text).splitlines(), 1) if what in line)


WHOLE = f"""static char next(char **g, int n, int i) {{ return g[i - 1][1] + g[i + 1][n]; }}
int main(int argc, char **argv)
{{
    int n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    char **g = malloc((n + 2) * sizeof(char *)), *b = malloc((n + 2) * (n + 2) * sizeof(char)), s = 0;
    for (int i = 0; i < n + 2; i++)
        g[i] = &b[i * (n + 2)]; // ROWS
    MPI_Recv(&g[0][0], (n + 2) * (n + 2), MPI_CHAR, 0, 0, {FROM}
    for (int t = 0; t < 9; t++) {{
        MPI_Recv(&g[n + 1][1], n, MPI_CHAR, 1, 0, {FROM}
        for (int i = 1; i < n; i++) s += next(g, n, i);
    }}
    printf("%d\\n", s);
    MPI_Finalize();
    return 0;
}}
"""


def test_a_receive_of_the_whole_block_and_one_of_a_row(tmp_path: Path) -> None:
    """The first brings all of it, whatever the second brings further in."""
    first = told(WHOLE, tmp_path)[0]
    message = f"line {line_of(WHOLE, 'ROWS')} makes the rows of `g` parts of the block that is the whole message"
    assert (first["code"], first["message"]) == ("OPI204", f"{message}: they would point to memory that is gone")


CUBE = """static float ***cube(int nrl, int nrh, int ncl, int nch, int ndl, int ndh)
{
    int rows = nrh - nrl + 1, cols = nch - ncl + 1, deep = ndh - ndl + 1;
    float ***t = malloc((rows + 1) * sizeof(float **));
    t += 1; t -= nrl;
    t[nrl] = malloc((rows * cols + 1) * sizeof(float *));
    t[nrl] += 1; t[nrl] -= ncl;
    t[nrl][ncl] = malloc((rows * cols * deep + 1) * sizeof(float));
    t[nrl][ncl] += 1; t[nrl][ncl] -= ndl;
    for (int j = ncl + 1; j <= nch; j++) t[nrl][j] = t[nrl][j - 1] + deep; // ROWS
    for (int i = nrl + 1; i <= nrh; i++) {
        t[i] = t[i - 1] + cols;
        t[i][ncl] = t[i - 1][ncl] + cols * deep;
        for (int j = ncl + 1; j <= nch; j++) t[i][j] = t[i][j - 1] + deep;
    }
    return t;
}
static float trade(float ***left, float ***right, int n, int m, int rank)
{
    float s = 0;
    for (int j = 0; j <= n; j++) for (int k = 0; k <= m; k++) left[j][k][1] = right[j][k][1] = j;
    MPI_Recv(&left[0][0][1], (n + 1) * (m + 1), MPI_FLOAT, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&right[0][0][1], (n + 1) * (m + 1), MPI_FLOAT, rank + 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 0; j <= n; j++) for (int k = 0; k <= m; k++) s += left[j][k][1] - right[j][k][1];
    return s;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = atoi(argv[2]), rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    float ***left = cube(0, n, 0, m, 1, 1), ***right = cube(0, n, 0, m, 1, 1);
    printf("%g\\n", trade(left, right, n, m, rank));
    MPI_Finalize();
    return 0;
}
"""


def test_a_table_of_three_dimensions_that_comes_whole(tmp_path: Path) -> None:
    """Its last index counts from 1; and no other table is told as this one."""
    for name, site in zip(("left", "right"), told(CUBE, tmp_path), strict=True):
        message = f"line {line_of(CUBE, 'ROWS')} makes the rows of `{name}` parts of the block in which the message"
        message += " begins: they would point to memory that is gone"
        assert (site["code"], site["message"]) == ("OPI204", message)


ROWS = """int main(int argc, char **argv)
{
    int n = atoi(argv[1]), h = atoi(argv[2]);
    double **g = malloc((h + 2) * sizeof(double *)), s = 0;
    MPI_Request up, q;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < h + 2; i++) {
        g[i] = malloc(n * sizeof(double));
        for (int k = 0; k < n; k++) g[i][k] = k;
    }
    for (int t = 0; t < 9; t++) {
        for (int i = 1; i <= h; i++)
            for (int k = 0; k < n; k++) s += g[i - 1][k] + g[i + 1][k];
        MPI_Isend(g[1], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &up); // SENT
        MPI_Irecv(g[0], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &q);
        MPI_Wait(&up, MPI_STATUS_IGNORE);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    printf("%g\\n", s);
    MPI_Finalize();
    return 0;
}
"""


def test_an_operation_on_a_row_of_another_number(tmp_path: Path) -> None:
    """It is surely another row: that it may be the same one is not told."""
    receive = told(ROWS, tmp_path)[1]
    assert receive["code"] == "OPI206", receive["message"]
    message = f"line {line_of(ROWS, 'SENT')} uses another row of `g[…]`, and that operation may still be pending"
    assert receive["message"].startswith(f"{message}: of one table no row is handed over then")
