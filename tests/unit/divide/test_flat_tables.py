"""Tables of rows in one block: which functions make one, and how the block is written in its place.

What is done for want of memory is ``opi_xform.divide.flat.telling``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ownership_support import source_in

from opi_xform.divide.flat.flatten import Flattening, functions_of, tables_of
from opi_xform.divide.flat.makers import freer, maker
from opi_xform.divide.flow import Trouble
from opi_xform.text.edit import apply_edits
from opi_xform.text.sources import Sources

LOOP = "for (int i = 1; i < r; i++) t[i] = t[0] + i * c;"
BEFORE = "double *d = malloc(r * c * sizeof(double)), **t = malloc(r * sizeof(double *));"
TYPED = "double **t = malloc(r * sizeof(double *)); t[0] = malloc(r * c * sizeof(double));"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{TYPED} {LOOP} return t;", True),
        (f"{TYPED} for (int i = 1; i < r; i++) t[i] = t[i - 1] + c; return t;", True),
        (f"{TYPED} for (int i = 1; i < r; i++) t[i] = &t[0][c * i]; return t;", True),
        (f"{TYPED} if (!t[0]) return NULL; {LOOP} return t;", True),
        (f"{TYPED} int i = 1; while (i < r) {{ t[i] = t[0] + i * c; i++; }} return t;", True),
        (f"int i; {TYPED} i = 1; while (i < r) {{ t[i] = t[i - 1] + c; ++i; }} return t;", True),
        (f"int i = 1; {TYPED} while (i < r) {{ t[i] = t[0] + i * c; i++; }} return t;", False),
        (f"int i; {TYPED} i = 2; while (i < r) {{ t[i] = t[0] + i * c; i++; }} return t;", False),
        (f"int i; {TYPED} i = 1; while (i < r) {{ i++; t[i] = t[0] + i * c; }} return t;", False),
        (f"int i; {TYPED} i = 1; while (i < r) {{ t[i] = t[0] + i * c; i += 2; }} return t;", False),
        (f"int i, j; {TYPED} i = 1; j = 1; while (i < r) {{ t[i] = t[0] + i * c; i++; }} return t;", False),
        (f"{TYPED} double **a = t; for (int i = 1; i < r; i++) a[i] = t[0] + i * c; return a;", True),
        (f"{TYPED} double **a = kept; for (int i = 1; i < r; i++) a[i] = t[0] + i * c; return t;", False),
        (f"{TYPED} double **a = t; a = kept; for (int i = 1; i < r; i++) a[i] = t[0] + i * c; return t;", False),
        (f"{TYPED} double **a = t; t = malloc(8); for (int i = 1; i < r; i++) a[i] = t[0] + i * c; return a;", False),
        (f"{TYPED} if (!t[0]) c = 1; {LOOP} return t;", False),
        (f"{TYPED} if (t[0]) return NULL; {LOOP} return t;", False),
        (f"{TYPED} for (int i = 1; i < r; i++) t[i] = t[0] + i * (c - 1); return t;", False),
        (f"{TYPED} for (int i = 1; i < r; i++) t[i] = t[0] + i * r; return t;", False),
        (f"{TYPED} for (int i = 1; i < r - 1; i++) t[i] = t[0] + i * c; return t;", False),
        (f"{TYPED} for (int i = 2; i < r; i++) t[i] = t[0] + i * c; return t;", False),
        (f"{TYPED} for (int i = 1; i < r; i++) t[i] = (double *)(long)(int)(t[0] + i * c); return t;", False),
        (f"{TYPED} {LOOP} t[0] = t[1]; return t;", False),
        (f"{TYPED} {LOOP} kept = t; return t;", False),
        (f"{TYPED} {LOOP} return kept;", False),
        (f"{TYPED} return t;", False),
        (f"{BEFORE} for (int i = 0; i < r; i++) t[i] = &d[c * i]; return t;", True),
        (f"{BEFORE} t[0] = d; for (int i = 1; i < r; i++) t[i] = t[i - 1] + c; return t;", True),
        (f"{BEFORE} if (!d) return NULL; for (int i = 0; i < r; i++) t[i] = d + i * c; return t;", True),
        (f"{BEFORE} for (int i = 0; i < r; i++) t[i] = &d[r * i]; return t;", False),
        (f"{BEFORE} for (int i = 1; i < r; i++) t[i] = &d[c * i]; return t;", False),
        (f"{BEFORE} for (int i = 0; i < c; i++) t[i] = &d[c * i]; return t;", False),
        (f"{BEFORE} for (int i = 0; i < r; i++) t[i] = &d[c * i]; kept[0] = d; return t;", False),
        (f"{BEFORE} d = malloc(r * c * sizeof(double)); t[0] = d; {LOOP} return t;", False),
        (f"{BEFORE.replace('r * c', '2 * r * c')} for (int i = 0; i < r; i++) t[i] = &d[c * i]; return t;", False),
        (f"{BEFORE.replace('r * c', 'c')} for (int i = 0; i < r; i++) t[i] = &d[c * i]; return t;", False),
        (
            "double **t = malloc(r * sizeof(float)); t[0] = malloc(r * c * sizeof(double)); " + LOOP + " return t;",
            False,
        ),
    ],
)
def test_a_function_makes_a_table_in_known_words_only(tmp_path: Path, body: str, expected: bool) -> None:
    text = f"""static double **kept;
static double **make(int r, int c) {{ {body} }}
int main(int argc, char **argv) {{ kept = make(2, argc); return 0; }}
"""
    functions = source_in(tmp_path, text).program.functions
    found = next(f for f in functions.values() if f.name == "make")
    assert (maker(found, functions) is not None) is expected


@pytest.mark.parametrize(
    ("then", "ends"),
    [
        ("return NULL;", False),
        ("{ free(t); return NULL; }", False),
        ('{ perror("rows"); return NULL; }', False),
        ('{ fprintf(stderr, "%d rows\\n", r); exit(1); }', True),
        ('{ fail("no %d rows", r); return NULL; }', True),
        ('{ note("rows"); return NULL; }', None),
        ('{ fprintf(stderr, "%d", ++c); return NULL; }', None),
        ('{ printf("%d rows%n\\n", r, &c); return NULL; }', None),
        ("{ free(kept); return NULL; }", None),
        ("{ again(r); return NULL; }", None),
        ("{ while (r); return NULL; }", None),
        ("{ MPI_Barrier(0x44000000); return NULL; }", None),
        ("{ perror(0); }", None),
    ],
)
def test_what_is_done_for_want_of_memory(tmp_path: Path, then: str, ends: bool | None) -> None:
    text = f"""#include <stdarg.h>
#include <stdio.h>
static double **kept; static int noted;
static void fail(const char *format, ...) {{ va_list l; va_start(l, format); vfprintf(stderr, format, l); va_end(l);
    exit(1); }}
static void note(const char *what) {{ puts(what); noted++; }}
static void again(int n) {{ again(n); }}
static double **make(int r, int c) {{ {TYPED} if (!t[0]) {then} {LOOP} return t; }}
int main(int argc, char **argv) {{ kept = make(2, argc); return noted; }}
"""
    functions = source_in(tmp_path, text).program.functions
    made = maker(next(f for f in functions.values() if f.name == "make"), functions)
    assert (None if made is None else made.ends) is ends


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("free(t[0]); free(t);", True),
        ("double **all = t; free(*all); free(all);", True),
        ("void **all; all = (void **)t; free(all[0]); free(t);", True),
        ("void **all; all = other; free(all[0]); free(t);", False),
        ("free(t); free(t[0]);", False),
        ("free(t[1]); free(t);", False),
        ("free(t[0]);", False),
        ("if (t) { free(t[0]); free(t); }", True),
        ("if (t != NULL) { if (t[0] != NULL) { free(t[0]); } free(t); }", True),
        ("if (t == NULL) return; free(t[0]); free(t);", True),
        ("if (!t) { return; } if (*t) free(*t); free(t); return;", True),
        ("if (t) return; free(t[0]); free(t);", False),
        ("if (t == NULL) { free(t[0]); free(t); }", False),
        ("if (!t[0]) return; free(t[0]); free(t);", False),
        ("if (t[0]) { free(t[0]); free(t); }", False),
        ("if (t[1]) free(t[0]); free(t);", False),
        ("if (other) { free(t[0]); free(t); }", False),
        ("if (t) { free(t[0]); free(t); } else free(other);", False),
        ("free(t[0]); free(t); t = NULL;", True),
        ("free(t[0]); t = NULL; free(t);", False),
        ("free(t[0]); free(t); other = NULL;", False),
        ("free(t[0]); free(t); t = (double **)other;", False),
        ("if (t) { free(t[0]); free(t); other = 0; }", False),
        ("return; free(t[0]); free(t);", False),
    ],
)
def test_a_function_frees_the_block_and_the_table(tmp_path: Path, body: str, expected: bool) -> None:
    text = f"""static void **other; static void drop(double **t) {{ {body} }}
int main(int argc, char **argv) {{ drop(malloc(8)); return 0; }}
"""
    functions = source_in(tmp_path, text).program.functions
    assert freer(next(f for f in functions.values() if f.name == "drop")) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("b[1][i] = 1;", "b[b_row + i] = 1;"),
        ("b[i + 1][i ? 2 : 3] = 1;", "b[(i + 1) * b_row + (i ? 2 : 3)] = 1;"),
        ("**b = *b[1];", "*b = *(b + b_row);"),
        ("use(&(b[0][i]));", "use(&(b[i]));"),
        ("b[1]++;", None),
        ("use((double *)&b[1]);", None),
        ("use((double *)b);", None),
        ("b[0] = b[1];", None),
        ("b++;", None),
        ("i = sizeof b[1];", None),
    ],
)
def test_a_row_is_written_as_its_place_in_the_block(tmp_path: Path, line: str, expected: str | None) -> None:
    text = f"""#include <stdlib.h>
static void use(double *p) {{ *p = 1; }}
static double **make(int r, int c) {{ {TYPED} {LOOP} return t; }}
int main(int argc, char **argv)
{{
    int i = argc;
    double **b = make(2, argc);
    {line}
    free(b[0]);
    free(b);
    return 0;
}}
"""
    found = source_in(tmp_path, text)
    program, units, sources = found.program, found.units, Sources()
    functions = functions_of(program, units, sources.data)
    (key,) = tables_of(program, functions)
    flattening = Flattening(program, units, functions, key, sources.data, ())
    if expected is None:
        with pytest.raises(Trouble):
            flattening.run()
        return
    ((file, edits),) = flattening.run().items()
    new = apply_edits(sources.data(file), edits).decode()
    assert f"    {expected}\n" in new
    assert "double *b = malloc((size_t)2 * argc * sizeof *b);" in new
    assert new.count("free(b);") == 1


def test_a_table_that_other_files_know(tmp_path: Path) -> None:
    text = f"""#include <stdlib.h>
static double **make(int r, int c) {{ {TYPED} {LOOP} return t; }}
extern double **b;
double **b;
int main(int argc, char **argv)
{{
    b = make(2, argc);
    b[1][argc] = 1;
    free(b[0]);
    free(b);
    return 0;
}}
"""
    found = source_in(tmp_path, text)
    sources = Sources()
    functions = functions_of(found.program, found.units, sources.data)
    (key,) = tables_of(found.program, functions)
    ((file, edits),) = Flattening(found.program, found.units, functions, key, sources.data, ()).run().items()
    new = apply_edits(sources.data(file), edits).decode()
    assert "extern long b_row;\nextern double *b;\nlong b_row;\ndouble *b;\n" in new
    part = replace(found.program, complete=False)
    with pytest.raises(Trouble):
        Flattening(part, found.units, functions, key, sources.data, ()).run()
