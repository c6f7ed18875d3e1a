"""``python -m tests.machines.scale.generate LINES FOLDER``: an MPI program of about so many lines, always the same.

Its shape is that of a simulation code: modules of some 500 lines with fields, kernels and tables of their own, each
with an exchange of its neighbours' borders; small functions for vectors and tables that all of them call; a time loop
in main. From main to a small function are four or five calls.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

HEADER = """/* What all modules share. */
#ifndef SIM_H
#define SIM_H

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NX 64
#define NY 32
#define FACE 512

typedef struct {
    int nx, ny, steps;
    int left, right;
    double dx, dt, time;
} grid_t;

typedef struct {
    int first, last, kind;
    double weight;
} range_t;

extern int rank, ranks;
extern int verbose;
extern grid_t grid;

void vec_fill(double *v, int n, double x);
void vec_axpy(double *y, const double *x, double a, int n);
double vec_dot(const double *a, const double *b, int n);
double vec_max(const double *v, int n);
int clamp(int i, int low, int high);
int index_of(int i, int j, int nx);
int count_marked(const int *marks, int n);
double limited(double a, double b);
void say(const char *name, double value);
void read_options(int argc, char **argv);
"""

COMMON = """#include "sim.h"

int rank, ranks;
int verbose;
grid_t grid;

void vec_fill(double *v, int n, double x)
{
    for (int i = 0; i < n; i++)
        v[i] = x;
}

void vec_axpy(double *y, const double *x, double a, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

double vec_dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

double vec_max(const double *v, int n)
{
    double best = 0.0;
    for (int i = 0; i < n; i++)
        if (fabs(v[i]) > best)
            best = fabs(v[i]);
    return best;
}

int clamp(int i, int low, int high)
{
    if (i < low)
        return low;
    return i > high ? high : i;
}

int index_of(int i, int j, int nx)
{
    return j * nx + i;
}

int count_marked(const int *marks, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if (marks[i] != 0)
            count++;
    return count;
}

double limited(double a, double b)
{
    if (a * b <= 0.0)
        return 0.0;
    return fabs(a) < fabs(b) ? a : b;
}

void say(const char *name, double value)
{
    if (rank == 0 && verbose > 0)
        printf("%s %.10g\\n", name, value);
}

void read_options(int argc, char **argv)
{
    grid.nx = NX;
    grid.ny = NY;
    grid.steps = 2;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0)
            verbose++;
        else if (strncmp(argv[i], "-n", 2) == 0)
            grid.steps = atoi(argv[i] + 2);
        else
            fprintf(stderr, "unknown option %s\\n", argv[i]);
    }
    grid.dx = 1.0 / grid.nx;
    grid.dt = 0.25 * grid.dx;
    grid.left = (rank + ranks - 1) % ranks;
    grid.right = (rank + 1) % ranks;
}
"""


class Module:
    """One file: ``m0007.c``, with functions of the name's prefix."""

    def __init__(self, number: int, rng: random.Random) -> None:
        self.name = f"m{number:04d}"
        self.rng = rng
        self.lines: list[str] = []
        self.fields = [f"{self.name}_{letter}" for letter in "uvwpqr"[: rng.randrange(3, 7)]]
        self.kernels: list[str] = []

    def add(self, text: str) -> None:
        self.lines.extend(text.strip("\n").split("\n"))
        self.lines.append("")

    def text(self, size: int) -> str:
        self.add(f'/* Module {self.name}. */\n#include "sim.h"')
        self.add("\n".join(f"static double {f}[NX * NY];" for f in self.fields))
        self.add(
            f"static int {self.name}_marks[NX];\nstatic range_t {self.name}_ranges[8];\nstatic int {self.name}_used;"
        )
        self.setup()
        self.exchange()
        makers = (self.stencil, self.stencil, self.sweep, self.limiter, self.table, self.column, self.update)
        while len(self.lines) < size - 45:
            self.rng.choice(makers)(f"{self.name}_k{len(self.kernels)}")
        self.drivers()
        return "\n".join(self.lines)

    def pick(self, count: int) -> list[str]:
        return self.rng.sample(self.fields, count)

    def number(self) -> str:
        return f"{self.rng.randrange(1, 1000) / 1000}"

    # --- what a module has once ------------------------------------------------------------------------------------

    def setup(self) -> None:
        n = self.name
        fills = "\n".join(f"    vec_fill({f}, NX * NY, {self.number()});" for f in self.fields)
        self.add(f"""
static void {n}_make_ranges(void)
{{
    int at = 0;
    {n}_used = 0;
    while (at < grid.nx && {n}_used < 8) {{
        range_t *r = &{n}_ranges[{n}_used++];
        r->first = at;
        r->last = clamp(at + {self.rng.randrange(5, 20)}, 0, grid.nx);
        r->kind = {n}_used % 3;
        r->weight = {self.number()} * (r->last - r->first);
        at = r->last;
    }}
}}""")
        self.add(f"""
void {n}_init(void)
{{
{fills}
    for (int i = 0; i < NX; i++)
        {n}_marks[i] = (i + rank) % {self.rng.randrange(2, 7)} == 0;
    {n}_make_ranges();
}}""")

    def exchange(self) -> None:
        """Sends a border to the right, receives one from the left; in half of the modules of two fields at once."""
        n = self.name
        one, other = self.pick(2)
        if self.rng.random() < 0.5:
            self.add(f"""
static double {n}_out[FACE], {n}_in[FACE];

static int {n}_pack(double *to, const double *from, int nx, int ny)
{{
    int k = 0;
    for (int j = 0; j < ny; j++)
        to[k++] = from[index_of(nx - 1, j, nx)];
    return k;
}}

static void {n}_unpack(double *to, const double *from, int nx, int ny)
{{
    for (int j = 0; j < ny; j++)
        to[index_of(0, j, nx)] = from[j];
}}

static void {n}_exchange(void)
{{
    MPI_Request requests[2];
    int count;

    MPI_Irecv({n}_in, FACE, MPI_DOUBLE, grid.left, 1, MPI_COMM_WORLD, &requests[0]);
    count = {n}_pack({n}_out, {one}, grid.nx, grid.ny);
    MPI_Isend({n}_out, count, MPI_DOUBLE, grid.right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    {n}_unpack({other}, {n}_in, grid.nx, grid.ny);
}}""")
            return
        self.add(f"""
static void {n}_exchange(void)
{{
    double out[FACE], in[FACE];
    int count = 0;

    for (int j = 0; j < grid.ny; j++) {{
        out[count++] = {one}[j * NX + grid.nx - 1];
        out[count++] = {other}[j * NX + grid.nx - 1];
    }}
    MPI_Sendrecv(out, count, MPI_DOUBLE, grid.right, 2, in, FACE, MPI_DOUBLE, grid.left, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 0, k = 0; j < grid.ny; j++) {{
        {one}[j * NX] = in[k++];
        {other}[j * NX] = in[k++];
    }}
}}""")

    def drivers(self) -> None:
        """Stages call kernels, a step calls the stages."""
        n = self.name
        stages = [self.kernels[i : i + 4] for i in range(0, len(self.kernels), 4)]
        for i, mine in enumerate(stages):
            calls = "\n".join(f"    {call}" for call in mine)
            body = f"    double change = dt;\n{calls}\n    return change;"
            self.add(f"static double {n}_stage{i}(double dt)\n{{\n{body}\n}}")
        calls = "\n".join(f"        change += {n}_stage{i}(dt);" for i in range(len(stages)))
        u, v = self.pick(2)
        self.add(f"""
void {n}_step(double dt)
{{
    double change = 0.0;
    for (int part = 0; part < 2; part++) {{
        {n}_exchange();
{calls}
    }}
    say("{n}", change + vec_dot({u}, {v}, NX * NY));
}}""")

    # --- kernels ---------------------------------------------------------------------------------------------------

    def stencil(self, name: str) -> None:
        a, b = self.pick(2)
        terms = " +\n                ".join(
            f"{self.number()} * {a}[j * NX + i + {self.rng.randrange(-1, 2)}]" for _ in range(self.rng.randrange(2, 6))
        )
        self.add(f"""
static void {name}(double dt)
{{
    int ny = grid.ny;
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < grid.nx - 1; i++) {{
            double centre = {a}[j * NX + i];
            double around =
                {terms};
            {b}[j * NX + i] += dt * (around - centre);
            if ({b}[j * NX + i] < 0.0)
                {b}[j * NX + i] = 0.0;
        }}
}}""")
        self.kernels.append(f"{name}(dt);")

    def sweep(self, name: str) -> None:
        a, b = self.pick(2)
        self.add(f"""
static double {name}(const double *from, double *to, int n)
{{
    double work[NX], best = 0.0;
    for (int i = 0; i < n; i++)
        work[i] = {self.number()} * from[i] + {self.number()} * from[n - 1 - i];
    for (int i = 1; i < n - 1; i++) {{
        double mean = (work[i - 1] + work[i] + work[i + 1]) / 3.0;
        to[i] = mean;
        if (mean > best)
            best = mean;
    }}
    to[0] = work[0];
    to[n - 1] = work[n - 1];
    return best + vec_max(work, n);
}}""")
        row = self.rng.randrange(0, 30)
        self.kernels.append(f"change += {name}(&{a}[{row} * NX], &{b}[{row} * NX], grid.nx);")
        if self.rng.random() < 0.3:
            self.kernels.append(f"change += {name}(&{b}[{row} * NX], {a}, NX);")

    def limiter(self, name: str) -> None:
        a, b = self.pick(2)
        self.add(f"""
static double {name}(int from, int to)
{{
    double total = 0.0;
    from = clamp(from, 1, NX * NY - 2);
    to = clamp(to, from, NX * NY - 2);
    for (int i = from; i < to; i++) {{
        double ahead = {a}[i + 1] - {a}[i];
        double behind = {a}[i] - {a}[i - 1];
        double slope = limited(ahead, behind);
        switch (i % 3) {{
        case 0:
            {b}[i] += {self.number()} * slope;
            break;
        case 1:
            {b}[i] -= {self.number()} * slope;
            break;
        default:
            {b}[i] *= {self.number()};
        }}
        total += slope * slope;
    }}
    return sqrt(total);
}}""")
        self.kernels.append(f"change += {name}({self.rng.randrange(1, 30)}, grid.nx * {self.rng.randrange(2, 9)});")

    def table(self, name: str) -> None:
        n = self.name
        self.add(f"""
static int {name}(int kind)
{{
    int found = 0, cost[NX];
    for (int k = 0; k < {n}_used; k++) {{
        const range_t *r = &{n}_ranges[k];
        if (r->kind != kind)
            continue;
        for (int i = r->first; i < r->last; i++) {{
            cost[i] = i * {self.rng.randrange(2, 9)} % 17;
            if (cost[i] > {self.rng.randrange(3, 9)} && {n}_marks[i] == 0) {{
                {n}_marks[i] = kind + 1;
                found++;
            }}
        }}
    }}
    if (found == 0 && verbose > 2)
        fprintf(stderr, "%s: nothing of kind %d\\n", "{name}", kind);
    return found + count_marked({n}_marks, NX);
}}""")
        self.kernels.append(f"change += {self.number()} * {name}({self.rng.randrange(3)});")

    def column(self, name: str) -> None:
        a, b = self.pick(2)
        self.add(f"""
static void {name}(double dt)
{{
    double *diag = malloc(NY * sizeof(double));
    double *rhs = malloc(NY * sizeof(double));
    if (diag == NULL || rhs == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < NX; i++) {{
        for (int j = 0; j < NY; j++) {{
            diag[j] = 1.0 + dt * {a}[index_of(i, j, NX)];
            rhs[j] = {b}[index_of(i, j, NX)];
        }}
        for (int j = 1; j < NY; j++) {{
            double factor = {self.number()} / diag[j - 1];
            diag[j] -= factor * {self.number()};
            rhs[j] -= factor * rhs[j - 1];
        }}
        for (int j = NY - 1; j > 0; j--)
            {b}[index_of(i, j, NX)] = rhs[j] / diag[j];
    }}
    free(diag);
    free(rhs);
}}""")
        self.kernels.append(f"{name}(dt);")

    def update(self, name: str) -> None:
        a, b = self.pick(2)
        self.add(f"""
static double {name}(double dt)
{{
    double before = vec_dot({a}, {a}, NX * NY);
    vec_axpy({a}, {b}, {self.number()} * dt, NX * NY);
    if (before > {self.rng.randrange(100, 900)}.0) {{
        double scale = 1.0 / sqrt(before);
        for (int i = 0; i < NX * NY; i++)
            {a}[i] *= scale;
    }} else {{
        vec_fill({b}, NX, {self.number()});
    }}
    return vec_max({a}, NX * NY) - before;
}}""")
        self.kernels.append(f"change += {name}(dt);")


def program(lines: int) -> dict[str, str]:
    """The files of a program, by name."""
    rng = random.Random(lines)
    count = max(1, round((lines - 200) / 500))
    size = max(150, (lines - 120 - 3 * count) // count)
    files = {"sim.h": HEADER, "common.c": COMMON}
    modules = [Module(number, rng) for number in range(count)]
    for module in modules:
        files[f"{module.name}.c"] = module.text(size)
    declared = "".join(f"void {m.name}_init(void);\nvoid {m.name}_step(double dt);\n" for m in modules)
    files["sim.h"] += f"\n{declared}\n#endif\n"
    inits = "\n".join(f"    {m.name}_init();" for m in modules)
    steps = "\n".join(f"        {m.name}_step(grid.dt);" for m in modules)
    files["main.c"] = f"""#include "sim.h"

int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    read_options(argc, argv);
{inits}
    for (int step = 0; step < grid.steps; step++) {{
{steps}
        grid.time += grid.dt;
    }}
    MPI_Finalize();
    return 0;
}}
"""
    return files


def write(lines: int, folder: Path) -> int:
    """Writes the program into a folder; the number of its lines."""
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for name, text in program(lines).items():
        (folder / name).write_text(text, encoding="utf-8")
        total += text.count("\n")
    return total


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lines", type=int)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    print(write(options.lines, options.folder), "lines")
