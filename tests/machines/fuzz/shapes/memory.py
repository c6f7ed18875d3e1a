"""Scenarios of memory that is not malloc's, messages that run over rows, and loops that skip their test."""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, Text, exchange, storage

SIZE = 12


def mapped(rng: random.Random, name: str) -> str:
    """Memory of mmap and of the aligned allocators: seen twice, contents of a file, addresses that are asked about."""
    fault = rng.choice(("twice", "file", "fork", "aligned", "aligned")) if rng.random() < 2 * BAD else ""
    heap = fault == "aligned" or (not fault and rng.random() < 0.6)
    out = Text()
    out.line("#include <sys/mman.h>")
    out.line("#include <unistd.h>")
    out.line("void *aligned_alloc(size_t, size_t);")
    out.line("int posix_memalign(void **, size_t, size_t);")
    recv = storage(rng, out, f"{name}_r", "double", SIZE, True)
    out.line(f"static void {name}(void)")
    out.open()
    recv.start(out)
    out.line(f"enum {{ BYTES = {SIZE} * sizeof(double) }};")
    out.line("double *s = NULL;")
    if fault in ("twice", "file"):
        out.line("FILE *file = tmpfile();")
        out.line("double first[] = {1.5, 2.5, 3.5, 4.5};")
        out.line("if (ftruncate(fileno(file), 4096) || pwrite(fileno(file), first, sizeof first, 64) < 0)")
        out.line("    MPI_Abort(MPI_COMM_WORLD, 5);")
        kind = "MAP_SHARED" if fault == "twice" else rng.choice(("MAP_SHARED", "MAP_PRIVATE"))
        out.line(f"s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, {kind}, fileno(file), 0);")
        out.line("const double *other = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);")
    elif heap:
        align = rng.choice((128, 512, 4096)) if fault else rng.choice((16, 32, 64))
        out.line(
            rng.choice(
                (
                    f"if (posix_memalign((void **)&s, {align}, BYTES)) MPI_Abort(MPI_COMM_WORLD, 5);",
                    f"s = aligned_alloc({align}, {align} * ((BYTES + {align} - 1) / {align}));",
                )
            )
        )
        if fault:
            out.line("memset(s, 0, BYTES);")
    elif fault == "fork":
        out.line("s = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);")
    else:
        out.line("s = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);")
    out.open(f"for (int t = 0; t < {rng.choice((1, 2))} + zero; t++)")
    if fault == "file":  # the rest of what is sent is the file's
        out.line("if (t > 0)")
        out.line("    s[8] = t;")
    out.line(f"for (int i = 0; i < {8 if fault == 'file' else SIZE}; i++)")
    out.line("    s[i] = field[i] + t;")
    if fault == "aligned":
        out.line(f"total += (unsigned long)s % {align};")
    for text in exchange(rng, "s", recv.place, str(SIZE)):
        out.line(text)
    if fault == "twice":
        out.line(f"for (int i = 0; i < {SIZE}; i++)")
        out.line("    total += other[i] * i;")
    out.line(f"total += sum({recv.place}, {SIZE});")
    out.close()
    if fault in ("twice", "file"):
        out.line("munmap(s, 4096);")
        out.line("munmap((void *)other, 4096);")
        out.line("fclose(file);")
    elif heap:
        out.line("free(s);")
    else:
        out.line("munmap(s, BYTES);")
    recv.stop(out)
    return out.done(name)


def scarce(rng: random.Random, name: str) -> str:
    """Too much memory is asked for in one turn: the program does with less, and counts how often."""
    fault = rng.random() < 2 * BAD
    out = Text()
    recv = storage(rng, out, f"{name}_r", "double", SIZE, True)
    out.line(f"static int {name}_work(size_t n, int t, double *r)")
    out.open()
    out.line("double *s = malloc(n * sizeof *s);")
    if fault:
        out.line(
            rng.choice(
                (
                    "if (!s) return -1;",
                    "if (s == NULL) { total += 0.5; return -1; }",
                    "int bad = 0; if (!s) bad = 1; if (bad) return -1;",
                    "if (NULL == s) goto none;",
                )
            )
        )
    else:
        out.line("if (!s) MPI_Abort(MPI_COMM_WORLD, 6);")
    out.line(f"for (int i = 0; i < {SIZE}; i++)")
    out.line("    s[i] = field[i] * (t + 2);")
    for text in exchange(rng, "s", "r", str(SIZE)):
        out.line(text)
    out.line("free(s);")
    out.line("return 0;")
    if any("goto none" in x for x in out.lines):
        out.line("none:")
        out.line("return -1;")
    out.close()
    out.line(f"static void {name}(void)")
    out.open()
    recv.start(out)
    huge = "(size_t)1 << 50" if fault else "100"
    out.open("for (int t = 0; t < 3 + zero; t++)")
    out.line(f"if ({name}_work(t == seven - 6 ? {huge} : {SIZE}, t, {recv.place}) < 0)")
    out.line(f"    total += {name}_work({SIZE}, t, {recv.place}) + 10;")
    out.line(f"total += sum({recv.place}, {SIZE});")
    out.close()
    recv.stop(out)
    return out.done(name)


def rowed(rng: random.Random, name: str) -> str:
    """A message begins in a row of an array of arrays; it ends there, or some rows further."""
    fault = rng.choice(("rows", "rows", "copy", "stale")) if rng.random() < 2 * BAD else ""
    count, columns = rng.choice(((4, 6), (6, 4)))
    out = Text()
    out.line(f"static double {name}_a[{count}][{columns}], {name}_r[{count}][{columns}];")
    out.line(f"static void {name}(void)")
    out.open()
    a, r = f"{name}_a", f"{name}_r"
    step = 2 if fault in ("rows", "stale") else 1
    length = rng.choice((f"{step} * {columns}", "m"))
    out.line(f"int m = (seven - 6) * {step * columns};")
    out.line("(void)m;")
    out.open(f"for (int t = 0; t < {rng.choice((1, 2))} + zero; t++)")
    out.line(f"for (int k = 0; k < {count}; k++)")
    out.line(f"    for (int j = 0; j < {columns}; j++)")
    out.line(f"        {a}[k][j] = field[k * {columns} + j] + t;")
    if fault == "copy":
        out.line(f"memcpy({a}[1], field, 2 * sizeof {a}[1]);")
    out.open(f"for (int k = 0; k < {count}; k += {step})")
    if fault == "stale":
        out.line(f"for (int j = 0; j < {columns}; j++)")
        out.line(f"    {a}[k][j] = k + j;")
    start = rng.choice(("&ROW[k][0]", "ROW[k]", "*(ROW + k)", "&ROW[0][0] + k * " + str(columns)))
    for text in exchange(rng, start.replace("ROW", a), start.replace("ROW", r), length):
        out.line(text)
    out.close()
    out.line(f"total += sum(&{r}[0][0], {count * columns});")
    out.close()
    return out.done(name)


def turned(rng: random.Random, name: str) -> str:
    """Loops whose exit is not tested in every turn, which leave by other ways, or step elsewhere, too."""
    fault = rng.choice(LOOPS) if rng.random() < 2 * BAD else ""
    out = Text()
    send = storage(rng, out, f"{name}_s", "double", SIZE, True)
    recv = storage(rng, out, f"{name}_r", "double", SIZE, True)
    out.line(f"static void {name}(void)")
    out.open()
    send.start(out)
    recv.start(out)
    s, r = send.place, recv.place
    out.line("int i = 0, j;")
    out.line(f"fill({s}, {SIZE}, 2);")
    for text in exchange(rng, s, r, str(SIZE)):
        out.line(text)
    out.line(f"total += sum({r}, {SIZE});")
    for text in (fault or "for (i = 0; i < 8; i++) ;").split("\n"):
        out.line(text)
    out.line(f"for (j = 0; j < {'8' if rng.random() < 0.7 else 'seven + 1'}; j++)")
    out.line(f"    {s}[j] = -j;")
    for text in exchange(rng, s, r, "i", received=str(SIZE)):
        out.line(text)
    out.line(f"total += sum({r}, i);")
    send.stop(out)
    recv.stop(out)
    return out.done(name)


LOOPS = (
    "for (i = 0;; i++) {\n    if (i == seven + 1 || i == seven + 2) continue;\n    if (i >= 8) break;\n}",
    "for (i = 0; i < 8; i++)\n    if (i == seven) i += 2 + zero;",
    "while (1) {\n    i++;\n    if (i % 2 && i < 11) continue;\n    if (i > 8) break;\n}",
    "do {\n    i++;\n    if (i == 8) continue;\n} while (i < 8 || i == seven + 1);",
    "for (i = 0;; i++) {\n    switch (i - seven) {\n    case 1: case 2: continue;\n    default: break;\n    }\n"
    "    if (i >= 8) break;\n}",
    "again:\n    i++;\n    if (i != 8 + zero && i != 9 && i < 10) goto again;\n    i += 2;",
    "for (i = 0; i < 8 || i == seven + 1; i++) ;",
    "for (i = 0; i < 8; i++) {\n    for (; i == seven; i++) if (i > 6) { i += 2; break; }\n}",
    "for (i = 0; i < 12; i++) {\n    if (i < 9) continue;\n    if (i >= 8) break;\n}",
    "for (i = 0; ; i += 1 + (i == seven)) {\n    if (i == 9) continue;\n    if (i >= 8) break;\n}",
)
"""Each leaves ``i`` at a number from 9 to 12, though 8 stands in a test."""
