"""Declarations as written: declarators, keys, storage, functions and parameters."""
# ruff: noqa: E501 - tables of C text

from __future__ import annotations

from pathlib import Path

import pytest
from frontend_support import local, nodes, parse, plain, show, source

from opi_xform.frontend import FrontendError, parse_outline, parse_unit
from opi_xform.ir.ast import Declarator, DeclStmt, IntLit, SizeOf, Unit, Variable, VarRef


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("OPI_CACHE", str(tmp_path_factory.mktemp("cache")))


def shown(d: Declarator) -> tuple[str, str, str | None, str | None, str, str]:
    """(declarator, name, suffix, initialiser, statement, specifiers)"""
    return (
        source(d.span),
        source(d.name_span),
        source(d.suffix) if d.suffix is not None else None,
        source(d.init_span) if d.init_span is not None else None,
        source(d.statement),
        d.specifiers,
    )


def of(unit: Unit, name: str) -> Variable:
    return next(v for v in unit.globals.values() if v.name == name)


@pytest.mark.parametrize(
    ("statement", "name", "expected", "specifiers", "first", "alone"),
    [
        ("double v[8][4];", "v", ("v[8][4]", "[8][4]", None), "double", True, True),
        ("static double v [ 8 ] /* c, ; */ ;", "v", ("v [ 8 ]", "[ 8 ]", None), "static double", True, True),
        ("static double v[8] = {0}, w, *x = v;", "v", ("v[8] = {0}", "[8]", "{0}"), "static double", True, False),
        ("static double v[8] = {0}, w, *x = v;", "w", ("w", None, None), "static double", False, False),
        ("static double v[8] = {0}, w, *x = v;", "x", ("*x = v", None, "v"), "static double", False, False),
        ("const char *s = \"a,b;c\", t;", "s", ('*s = "a,b;c"', None, '"a,b;c"'), "const char", True, False),
        ("const char *s = \"a,b;c\", t;", "t", ("t", None, None), "const char", False, False),
        ("double (*v)[4], *w[3];", "v", ("(*v)[4]", ")[4]", None), "double", True, False),
        ("double (*v)[4], *w[3];", "w", ("*w[3]", "[3]", None), "double", False, False),
        ("int (*h)(int, char), k;", "h", ("(*h)(int, char)", ")(int, char)", None), "int", True, False),
        ("int k(int), v[3];", "v", ("v[3]", "[3]", None), "int", False, False),
        ("struct { int a, b; } v[2], w;", "v", ("v[2]", "[2]", None), "struct { int a, b; }", True, False),
        ("struct { int a, b; } v[2], w;", "w", ("w", None, None), "struct { int a, b; }", False, False),
        ("enum { A1, B1 } v = B1;", "v", ("v = B1", None, "B1"), "enum { A1, B1 }", True, True),
        ("row v;", "v", ("v", None, None), "row", True, True),
        ("unsigned long int v[N + 2];", "v", ("v[N + 2]", "[N + 2]", None), "unsigned long int", True, True),
        ("_Alignas(64) static double v[8];", "v", ("v[8]", "[8]", None), "_Alignas(64) static double", True, True),
        ("static double v[8] __attribute__((aligned(64))) = {1.0};", "v",
         ("v[8] __attribute__((aligned(64))) = {1.0}", "[8]", "{1.0}"), "static double", True, True),
        ("__attribute__((unused)) static double v[8];", "v", ("v[8]", "[8]", None), "__attribute__((unused)) static double", True, True),
        ("__typeof__(int [3]) v;", "v", ("v", None, None), "__typeof__(int [3])", True, True),
        ("extern double v[];", "v", ("v[]", "[]", None), "extern double", True, True),
        ("static int v\n  [2]\n  = { 1,\n 2 };", "v", ("v\n  [2]\n  = { 1,\n 2 }", "[2]", "{ 1,\n 2 }"), "static int", True, True),
        ("int *restrict const v = 0;", "v", ("*restrict const v = 0", None, "0"), "int", True, True),
    ],
)  # fmt: skip
def test_declarator(
    tmp_path: Path,
    statement: str,
    name: str,
    expected: tuple[str, str | None, str | None],
    specifiers: str,
    first: bool,
    alone: bool,
) -> None:
    head = "#define N 6\ntypedef double row[4];\nint before;\n"
    for place in ("global", "local"):
        if place == "local" and "k(int)" in statement:
            continue
        text = (
            f"{head}{statement}\nint after;\n" if place == "global" else f"{head}void f(void) {{ ; {statement} ; }}\n"
        )
        unit = parse(tmp_path, text, ["-w"])
        variable = of(unit, name) if place == "global" or "extern" in statement else local(unit, name)
        (declarator,) = variable.declarators
        span, suffix, init = expected
        assert shown(declarator) == (span, name, suffix, init, statement, specifiers)
        assert (declarator.first, declarator.alone) == (first, alone)
        assert declarator.span.editable
        assert declarator.statement.editable


def test_declarations_in_headers_and_sources(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text(
        "#ifndef H\n#define H\n#define N 4\nextern double b[8][N];\nextern double open[];\n#endif\n"
    )
    text = '#include "h.h"\ndouble b[8][N];\ndouble open[N];\nextern int elsewhere[3];\nvoid f(void) { extern double b[8][N]; b[0][0] = 1; }\n'
    unit = parse(tmp_path, text)
    b = unit.globals["b"]
    assert [(Path(d.span.file).name, d.storage, d.definition, d.tentative) for d in b.declarators] == [
        ("h.h", "extern", False, False),
        ("t.c", "", True, True),
        ("t.c", "extern", False, False),
    ]
    assert (b.kind, b.type.size, Path(b.span.file).name) == ("extern", 256, "t.c")
    assert [source(d.suffix) for d in b.declarators if d.suffix is not None] == ["[8][N]"] * 3
    assert unit.globals["open"].type.size == 32
    assert unit.globals["open"].span.line == 3
    elsewhere = unit.globals["elsewhere"]
    assert [d.definition for d in elsewhere.declarators] == [False]
    assert set(unit.files) == {str(tmp_path / "t.c"), str(tmp_path / "h.h")}
    assert next(s for s in unit.functions["f"].body.body if isinstance(s, DeclStmt)).variables == ()


def test_definition_and_tentative_definition(tmp_path: Path) -> None:
    unit = parse(tmp_path, "int a; int a; int b = 3; static int c; extern int d = 4; extern int e;\n", ["-w"])
    flags = {v.name: [(d.definition, d.tentative) for d in v.declarators] for v in unit.globals.values()}
    assert flags == {
        "a": [(True, True), (True, True)],
        "b": [(True, False)],
        "c": [(True, True)],
        "d": [(True, False)],
        "e": [(False, False)],
    }
    init = unit.globals["b"].init
    assert isinstance(init, IntLit)
    assert init.value == 3


def test_keys(tmp_path: Path) -> None:
    text = """
int shared; static int own; _Thread_local int tl;
static int helper(int x) { static int calls; { int x = 2; calls += x; } return x; }
int f(int n) { extern int other; int n2 = n; for (int i = 0; i < n; i++) { int n2 = i; helper(n2); } return other + own; }
"""
    unit = parse(tmp_path, text)
    path = unit.path
    assert path == str(tmp_path / "t.c")
    assert set(unit.globals) == {"shared", f"{path}:own", "tl", "other"}
    assert {v.name: v.kind for v in unit.globals.values()} == {
        "shared": "extern",
        "own": "static",
        "tl": "extern",
        "other": "extern",
    }
    assert unit.globals["tl"].thread_local
    assert not unit.globals["shared"].thread_local
    helper = unit.functions[f"{path}:helper"]
    assert helper.static
    assert not unit.functions["f"].static
    kinds = sorted((v.name, v.kind) for v in helper.variables.values())
    assert kinds == [("calls", "local-static"), ("x", "local"), ("x", "param")]
    assert len({v.key for f in unit.functions.values() for v in f.variables.values()}) == 7
    for function in unit.functions.values():
        for key, variable in function.variables.items():
            assert key == variable.key
            assert variable.function == function.key
            assert key.startswith(f"{function.key}/{variable.name}@")
            assert source(variable.span) == variable.name
    assert [unit.functions["f"].variables[p].name for p in unit.functions["f"].params] == ["n"]


def test_one_place_declares_two_variables(tmp_path: Path) -> None:
    """A macro's local variable has one written place per use, and two uses are two variables."""
    text = "#define SWAP(a, b) do { int t = a; a = b; b = t; } while (0)\n#define BOTH(a, b) SWAP(a, b); SWAP(b, a)\n"
    unit = parse(tmp_path, text + "void f(int x, int y) { BOTH(x, y); }\n")
    temporaries = [v for v in unit.functions["f"].variables.values() if v.name == "t"]
    assert len({v.key for v in temporaries}) == 2
    assert [plain(unit, show(v.init)) for v in temporaries] == ["(VarRef x)", "(VarRef y)"]
    assert all(not v.span.editable and not v.declarators for v in temporaries)


def test_a_declaration_made_by_a_macro_has_no_declarator(tmp_path: Path) -> None:
    unit = parse(tmp_path, "#define BUFFER(n, s) static double n[s]\nBUFFER(b, 8);\n")
    assert of(unit, "b").declarators == ()
    assert of(unit, "b").type.size == 64


def test_macros_inside_a_declaration(tmp_path: Path) -> None:
    unit = parse(
        tmp_path,
        "#define STATIC static\n#define SZ [8]\n#define EXPORT(x) __attribute__((unused))\nEXPORT(1) double a[4];\n",
    )
    (d,) = of(unit, "a").declarators
    assert (source(d.span), source(d.suffix) if d.suffix else None) == ("a[4]", "[4]")


def test_old_style_functions_and_prototypes(tmp_path: Path) -> None:
    text = "int k(a, b) int a; double *b; { return a + (int)b[0]; }\nint np();\nint v(int, ...);\nstatic int unused(double x[3]);\n"
    unit = parse(tmp_path, text, ["-w"])
    k = unit.functions["k"]
    assert [k.variables[p].name for p in k.params] == ["a", "b"]
    assert unit.declared["np"].params is None
    assert unit.declared["v"].variadic
    assert f"{unit.path}:unused" in unit.declared
    assert "k" not in unit.declared


def test_array_parameters_are_pointers(tmp_path: Path) -> None:
    text = "typedef double row[4]; unsigned long z; void f(double b[8], double c[][4], int n, double v[n], row r, int g(int)) { z = sizeof b + sizeof *c; b[0] = c[1][2]; g(1); }"
    unit = parse(tmp_path, text, ["-w"])
    function = unit.functions["f"]
    found = [function.variables[p].type for p in function.params]
    assert [(t.kind, t.size) for t in found] == [
        ("pointer", 8),
        ("pointer", 8),
        ("int", 4),
        ("pointer", 8),
        ("pointer", 8),
        ("pointer", 8),
    ]
    assert [t.spelling for t in found[:2]] == ["double *", "double (*)[4]"]
    assert found[1].elem is not None
    assert found[1].elem.count == 4
    assert function.type.params is not None
    assert [t.kind for t in function.type.params] == [t.kind for t in found]
    assert all(r.type.kind == "pointer" for r in nodes(function, VarRef) if "/b@" in r.var or "/c@" in r.var)
    assert [(s.value, s.operand_type.kind) for s in nodes(function, SizeOf)] == [(8, "pointer"), (32, "array")]


def test_functions_of_project_headers_are_read_and_the_systems_are_not(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text("static inline int twice(int x) { return 2 * x; }\n")
    unit = parse(tmp_path, '#include <stdlib.h>\n#include "h.h"\nint f(void) { return twice(atoi("3")); }\n')
    twice = unit.functions[f"{unit.path}:twice"]
    assert twice.span.file.endswith("h.h")
    assert "atoi" in unit.declared
    assert "qsort" not in unit.declared


def test_function_place(tmp_path: Path) -> None:
    text = "static inline double *f(int n)\n{\n  return 0;\n}\n"
    unit = parse(tmp_path, "int x;\n" + text)
    (function,) = unit.functions.values()
    assert source(function.span) + "\n" == text
    assert source(function.body.span) == text[text.index("{") :].strip()


def test_empty_file_and_file_without_functions(tmp_path: Path) -> None:
    unit = parse(tmp_path, "")
    assert (unit.functions, unit.globals, unit.int_macros) == ({}, {}, {})
    assert set(unit.files) == {unit.path}
    assert parse(tmp_path, "int x;\n").functions == {}


def test_path_is_real_and_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "t.c").write_text("int x;\n")
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    unit = parse_unit("link/../real/t.c", [])
    assert unit.path == str(tmp_path / "real" / "t.c")
    assert unit.globals["x"].span.file == unit.path
    assert parse_unit("link/t.c", []).path == unit.path


class TestOutline:
    """What ``parse_outline`` says is what ``parse_unit`` finds."""

    SOURCE = (
        "#include <mpi.h>\nint old();\nstatic inline int here(void) { return 1; }\n"
        "int f(void) { return here() + old(2) + missing(3); }\nstatic void g(void) { }\nvoid *h(void) { g(); return 0; }\n"
    )

    @pytest.mark.parametrize("flags", [(), ("-w",), ("-Wno-implicit-function-declaration",)])
    def test_functions_and_what_nothing_declares(self, tmp_path: Path, flags: tuple[str, ...]) -> None:
        path = tmp_path / "a.c"
        path.write_text(self.SOURCE)
        unit, outline = parse_unit(str(path), flags), parse_outline(str(path), flags)
        assert {(f.name, f.static) for f in outline.functions.values()} == {
            (f.name, f.static) for f in unit.functions.values()
        }
        assert (
            set(outline.declared) == {"missing"} == {n for n, t in unit.declared.items() if t.params is None} - {"old"}
        )

    def test_errors(self, tmp_path: Path) -> None:
        path = tmp_path / "a.c"
        path.write_text("int f(void) { return 1 + ; }\n")
        with pytest.raises(FrontendError, match="expected expression"):
            parse_outline(str(path))
