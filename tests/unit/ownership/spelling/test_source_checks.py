"""What declarations, ``sizeof`` and other configurations demand of an array that would become a pointer."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.codes import Reason
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.spelling.declarations import inspect
from opi_xform.ownership.spelling.mentioned import Inspection

SEND = "MPI_Send(buf, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"


def check(
    top: str, body: str = "", *others: str, kind: str = "array", complete: bool = True, rows: int = 0, root: str = ""
) -> Inspection:
    """``top`` declares the carrier, ``buf``; ``body`` stands in main."""
    found = source(f"{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return argc > 5;\n}}\n", *others)
    return inspect(found.units, found.key("buf"), kind, complete, root, rows)


def refusal(result: Inspection) -> Refusal:
    assert result.refusal is not None
    assert result.edits == ()
    return result.refusal


# --- sizeof -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declaration", "expression", "text"),
    [
        ("static double buf[N];", "sizeof(buf)", "sizeof(double[N])"),
        ("static double buf[N];", "sizeof buf", "sizeof(double[N])"),
        ("double buf[8][N];", "sizeof(buf)", "sizeof(double[8][N])"),
        ("extern double buf[]; double buf[N + 1];", "sizeof(buf)", "sizeof(double[N + 1])"),
        ("static unsigned long buf [ N ] ;", "sizeof buf", "sizeof(unsigned long[ N ])"),
        ("struct cell { int a; double x; }; static struct cell buf[N];", "sizeof buf", "sizeof(struct cell[N])"),
        ("typedef float real; static real other, buf[4], last;", "sizeof buf", "sizeof(real[4])"),
        ("static double *buf[N];", "sizeof buf", "sizeof(double *[N])"),
        ("static int buf[] = { 1, 2, 3 };", "sizeof buf", "sizeof(int[3])"),
    ],
)
def test_the_size_is_spelt_as_declared(declaration: str, expression: str, text: str) -> None:
    result = check(declaration, f"    unsigned long n = {expression};\n    if (n) buf[0];")
    assert result.refusal is None
    assert [edit.text for edit in result.edits] == [text]
    (edit,) = result.edits
    assert edit.span.end - edit.span.begin == len(expression)


@pytest.mark.parametrize(
    "size", ["sizeof buf[0]", "sizeof *buf", "sizeof(double)", "sizeof &buf[1]", "sizeof(buf + 1)"]
)
def test_sizes_that_do_not_change(size: str) -> None:
    assert check("static double buf[N];", f"    unsigned long n = {size};\n    if (n) buf[0] = 1;") == Inspection(None)


def test_rows() -> None:
    whole = check("static double buf[8][N];", "    unsigned long n = sizeof buf + sizeof buf[0] + sizeof *buf;", rows=1)
    assert [edit.text for edit in whole.edits] == ["sizeof(double[8][N])", "sizeof(double[N])", "sizeof(double[N])"]
    assert check("static double buf[8][N];", "    unsigned long n = sizeof buf[0][0] + sizeof buf[0];").edits == ()
    for use in ("buf[2][1] = 1; double *p = buf[3];", "double *p = *buf;"):
        assert check("static double buf[8][N];", f"    {use}", rows=1) == Inspection(None)
    for use in ("double (*p)[N] = buf;", "memset(buf, 0, 8);"):
        assert refusal(check("static double buf[8][N];", f"    {use}", rows=1)).reason == Reason.DECLARATION
        assert check("static double buf[8][N];", f"    {use}").refusal is None


def test_a_size_in_a_macro() -> None:
    macro = "#define COUNT(a) (sizeof(a) / sizeof((a)[0]))\nstatic double buf[N];"
    counted = check(macro, "    int n = COUNT(buf);")
    assert counted.refusal is None
    assert {edit.text for edit in counted.edits} == {"(*(double (*)[N])buf)"}
    assert refusal(check("static double buf[N];\n#define BYTES sizeof(buf)", "    int n = BYTES;")).reason in (
        Reason.MACRO,
        Reason.DECLARATION,
    )


@pytest.mark.parametrize(
    "use",
    [
        "double other[sizeof buf / sizeof(double)];",
        '_Static_assert(sizeof buf == 800, "size");',
        "__typeof__(buf) other;",
        "enum { SIZE = sizeof(buf) };",
        "switch (argc) { case sizeof buf: break; }",
    ],
)
def test_sizes_that_no_expression_holds(use: str) -> None:
    assert refusal(check("static double buf[N];", f"    {use}")).reason in (
        Reason.DECLARATION,
        Reason.MACRO,
        Reason.NOT_ANALYSED,
    )
    assert check("static double buf[N];", f"    {use.replace('buf', 'argv')}".replace("== 800", "== 8")).refusal is None


def test_a_type_that_cannot_be_spelt() -> None:
    assert refusal(check("static struct { int a; } buf[N];", "    int n = sizeof buf;")).reason == Reason.DECLARATION
    assert check("static struct { int a; } buf[N];", "    buf[0].a = 1;").refusal is None
    hidden = check("enum { LEN = 5 };\nstatic int buf[LEN];", "    int LEN = 3; int n = sizeof buf + LEN;")
    assert [edit.text for edit in hidden.edits] == ["sizeof(int[5])"]


# --- declarations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declaration", "code"),
    [
        ("static volatile double buf[N];", Reason.VOLATILE),
        ("static _Atomic int buf[N];", Reason.VOLATILE),
        ("static const double buf[N];", Reason.DECLARATION),
        ("static _Thread_local double buf[N];", Reason.DECLARATION),
        ("static double buf[N] __attribute__((aligned(64)));", Reason.DECLARATION),
        ("static _Alignas(64) double buf[N];", Reason.DECLARATION),
        ("typedef double block[N]; static block buf;", Reason.DECLARATION),
        ("#define ARRAY(n) static double n[N];\nARRAY(buf)", Reason.MACRO),
        ("static struct { double x[N]; } buf;", Reason.DECLARATION),
        ("extern double buf[N];", Reason.OUTSIDE),
    ],
)
def test_declarations_that_refuse(declaration: str, code: str) -> None:
    assert refusal(check(declaration, "    double *p = (double *)&argc; if (p) (void)buf;")).reason == code


@pytest.mark.parametrize(
    "declaration",
    [
        "static double buf[N];",
        "double buf[N];",
        "extern double buf[]; double buf[N];",
        "static double x, *y, buf[N], z[3];",
        "static double buf[N] = { 1 };",
        "typedef double row[N]; static row buf[4];",
    ],
)
def test_declarations_that_can_change(declaration: str) -> None:
    result = check(declaration, "    double *p = (double *)buf; if (p) argc = 3;")
    assert result.refusal is None
    assert result.has_initialiser is ("=" in declaration)


def test_local_arrays() -> None:
    for text, code in (
        ("double buf[N];", None),
        ("register double buf[N];", Reason.DECLARATION),
        ("double buf[argc];", Reason.DECLARATION),
    ):
        result = check("", f"    {text}\n    argc = sizeof buf;")
        assert (result.refusal.reason if result.refusal else None) == code


def test_the_address_of_the_array() -> None:
    assert refusal(check("static double buf[N];", "    double (*p)[N] = &buf;")).reason == Reason.DECLARATION
    assert check("static double buf[N];", "    double *p = &buf[0];").refusal is None


@pytest.mark.parametrize(
    "table",
    [
        "static double *t[] = { buf };",
        "static double *p = buf + 1;",
        "struct { int a; double *p; } s = { 1, &buf[2] };",
    ],
)
def test_static_initialisers(table: str) -> None:
    assert refusal(check(f"static double buf[N];\n{table}", "    buf[0] = 1;")).reason == Reason.OLD_ADDRESS
    assert check(f"static double buf[N], x[N];\n{table.replace('buf', 'x')}", "    buf[0] = 1;").refusal is None
    assert check("static double buf[N];\nstatic unsigned long n = sizeof buf;").edits[0].text == "sizeof(double[N])"


# --- who can see it ---------------------------------------------------------------------------------------------------


def test_external_arrays() -> None:
    other = "extern double buf[N];\nvoid fill(void) { buf[0] = sizeof buf; }\n"
    result = check("double buf[N];\nvoid fill(void);", "    fill(); buf[1] = 1;", other)
    assert result.refusal is None
    assert len(result.edits) == 1
    part = refusal(check("double buf[N];", "    buf[1] = 1;", complete=False))
    assert part.reason == Reason.OUTSIDE
    assert "is not followed as a whole" in part.message  # main is there
    assert check("static double buf[N];", "    buf[1] = 1;", complete=False).refusal is None
    assert refusal(check("extern double buf[];", "    buf[1] = 1;", complete=True)).reason == Reason.OUTSIDE


def test_declared_differently() -> None:
    other = "extern float buf[N];\nvoid fill(void) { buf[0] = 1; }\n"
    assert refusal(check("double buf[N];", "    buf[1] = 1;", other)).reason == Reason.DECLARATION


def test_functions_that_are_not_analysed() -> None:
    asm = 'static double buf[N];\nstatic void f(void) {{ __asm__("" : : "r"(&{}) : "memory"); }}'
    assert refusal(check(asm.format("buf[1]"), "    buf[0] = 1;")).reason in (Reason.NOT_ANALYSED, Reason.OUTSIDE)
    loop = "#pragma omp parallel for ordered\n    for (int i = 0; i < N; i++) {}[i] = 1;"
    parallel = f"static double buf[N], v[N];\nstatic void f(void) {{{{\n{loop}\n}}}}"
    assert refusal(check(parallel.format("buf"), "    buf[0] = 1; f();")).reason == Reason.CONCURRENT
    assert check(parallel.format("v"), "    buf[0] = 1; f();").refusal is None


def test_other_names_of_the_symbol() -> None:
    alias = 'double buf[N];\nextern double other[N] __attribute__((alias("buf")));'
    assert refusal(check(alias, "    buf[0] = 1;")).reason == Reason.OUTSIDE
    assert refusal(check("double buf[N];\n#pragma weak buf", "    buf[0] = 1;")).reason == Reason.OUTSIDE
    assert check("double buf[N]; /* asm(buf); */", "    buf[0] = 1;").refusal is None


def test_files_outside_the_root() -> None:
    assert refusal(check("static double buf[N];", "    buf[0] = 1;", root="/somewhere/else")).reason == Reason.OUTSIDE


# --- pointers ---------------------------------------------------------------------------------------------------------


def test_pointer_carriers() -> None:
    assert check("static double *buf;", "    buf = malloc(sizeof *buf * 10);", kind="pointer") == Inspection(None)
    assert check("", "    double *buf = malloc(80); buf[0] = sizeof buf;", kind="pointer").refusal is None
    assert check("static double *buf[4];", "    buf[1] = malloc(80);", kind="pointer", rows=1).refusal is None
    const = check("", "    double *const buf = malloc(80); buf[0] = 1;", kind="pointer")
    assert const.refusal is None
    assert [edit.text for edit in const.edits] == [""]  # the word goes
    assert (
        refusal(check("", "    double *volatile buf = malloc(80); buf[0] = 1;", kind="pointer")).reason
        == Reason.VOLATILE
    )
    assert (
        refusal(check("static double *buf, **p = &buf;", "    buf = malloc(8);", kind="pointer")).reason
        == Reason.OLD_ADDRESS
    )
    assert (
        refusal(check("double *buf;", "    buf = malloc(8);", kind="pointer", complete=False)).reason == Reason.OUTSIDE
    )
    head = "static void f(double *buf) { buf[0] = 1; }"
    assert refusal(check(head, "    double x; f(&x);", kind="pointer")).reason == Reason.CARRIER
