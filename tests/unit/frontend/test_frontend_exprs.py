"""Expressions: conversions, constants, members, initialisers."""
# ruff: noqa: E501 - tables of C text

from __future__ import annotations

import re
from pathlib import Path

import pytest
from frontend_support import body, calls, expression, local, nodes, parse, plain, show, source

from opi_xform.ir.ast import Cast, Index, InitList, IntLit, SizeOf, VarRef

DECLS = """
#include <stddef.h>
enum colour { RED, GREEN = 5, BLUE };
struct inner { int q[3]; double w; };
struct point { int x; double y; union { int u; float v; }; struct inner in; int b1 : 3, b2 : 5; char tail[]; };
typedef double row[4];
int i, n; unsigned u; long l; char c; signed char sc; unsigned char uc; short h; float fl; double d; _Bool b;
int *p; double *dp; double buf[8][4]; row rows[3]; struct point pt, *pp, pts[4]; char *s; void *vp;
int g(int), (*fp)(int); size_t z;
"""


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("OPI_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        # decay, reading and pointer conversions leave nothing
        ("i = n", "(Assign (VarRef i) (VarRef n))"),
        ("dp = buf[1]", "(Assign (VarRef dp) (Index (VarRef buf) (IntLit 1)))"),
        ("vp = dp", "(Assign (VarRef vp) (VarRef dp))"),
        ("dp = &buf[2][3]", "(Assign (VarRef dp) (AddrOf (Index (Index (VarRef buf) (IntLit 2)) (IntLit 3))))"),
        ("i = 2[p]", "(Assign (VarRef i) (Index (VarRef p) (IntLit 2)))"),
        ("i = *p++", "(Assign (VarRef i) (Deref (IncDec ++ False (VarRef p))))"),
        ("i = *&n", "(Assign (VarRef i) (VarRef n))"),
        ("p = &*p", "(Assign (VarRef p) (AddrOf (Deref (VarRef p))))"),
        # arithmetic conversions stay
        ("d = i", "(Assign (VarRef d) (Cast (VarRef i) False))"),
        ("i = d", "(Assign (VarRef i) (Cast (VarRef d) False))"),
        ("l = u", "(Assign (VarRef l) (Cast (VarRef u) False))"),
        ("u = i", "(Assign (VarRef u) (Cast (VarRef i) False))"),
        ("i = c", "(Assign (VarRef i) (Cast (VarRef c) False))"),
        ("c = i + c", "(Assign (VarRef c) (Cast (Binary + (VarRef i) (Cast (VarRef c) False)) False))"),
        ("b = i", "(Assign (VarRef b) (Cast (VarRef i) False))"),
        ("b = p", "(Assign (VarRef b) (Cast (VarRef p) False))"),
        ("i = (int)d", "(Assign (VarRef i) (Cast (VarRef d) True))"),
        ("p = (int *)vp", "(Assign (VarRef p) (Cast (VarRef vp) True))"),
        ("i += d", "(Assign + (VarRef i) (VarRef d))"),
        # constants
        ("i = (2 + 2) * 8 - 1", "(Assign (VarRef i) (IntLit 31))"),
        ("i = BLUE", "(Assign (VarRef i) (IntLit 6 BLUE))"),
        ("i = -GREEN", "(Assign (VarRef i) (IntLit -5))"),
        ("u = -1", "(Assign (VarRef u) (IntLit 4294967295))"),
        ("uc = 300", "(Assign (VarRef uc) (IntLit 44))"),
        ("sc = 200", "(Assign (VarRef sc) (IntLit -56))"),
        ("b = 5", "(Assign (VarRef b) (IntLit 1))"),
        ("d = 3", "(Assign (VarRef d) (Cast (IntLit 3) False))"),
        ("i = '\\n' + 0x1f + 017", "(Assign (VarRef i) (IntLit 56))"),
        ("i = 1 ? 3 : 4", "(Assign (VarRef i) (IntLit 3))"),
        ("i = 7 / -2 * 10 + 7 % -2", "(Assign (VarRef i) (IntLit -29))"),
        ("i = 1 / 0", "(Assign (VarRef i) (Binary / (IntLit 1) (IntLit 0)))"),
        ("i = 2147483647 < 2147483648u", "(Assign (VarRef i) (IntLit 1))"),
        ("i = -1 < 0u", "(Assign (VarRef i) (IntLit 0))"),
        ("i = n + 0 * 3", "(Assign (VarRef i) (Binary + (VarRef n) (IntLit 0)))"),
        ("p = NULL", "(Assign (VarRef p) (IntLit 0 NULL))"),
        ("p = 0", "(Assign (VarRef p) (IntLit 0))"),
        ("z = offsetof(struct point, y)", "(Assign (VarRef z) (IntLit 8))"),
        # sizeof is never folded
        ("z = sizeof buf", "(Assign (VarRef z) (SizeOf 256 (VarRef buf)))"),
        ("z = sizeof(buf)", "(Assign (VarRef z) (SizeOf 256 (VarRef buf)))"),
        ("z = sizeof buf[0] * 2", "(Assign (VarRef z) (Binary * (SizeOf 32 (Index (VarRef buf) (IntLit 0))) (IntLit 2)))"),
        ("z = sizeof(double)", "(Assign (VarRef z) (SizeOf 8))"),
        ("z = sizeof(double[6])", "(Assign (VarRef z) (SizeOf 48))"),
        # members
        ("i = pt.x", "(Assign (VarRef i) (Member (VarRef pt) x 0))"),
        ("pp->y = 1.0", "(Assign (Member (Deref (VarRef pp)) y 8) (FloatLit 1.0))"),
        ("(&pt)->x = 1", "(Assign (Member (VarRef pt) x 0) (IntLit 1))"),
        ("(*pp).x = 1", "(Assign (Member (Deref (VarRef pp)) x 0) (IntLit 1))"),
        ("pts->x = 1", "(Assign (Member (Deref (VarRef pts)) x 0) (IntLit 1))"),
        ("pts[2].v = fl", "(Assign (Member (Index (VarRef pts) (IntLit 2)) v 16) (VarRef fl))"),
        ("pp->in.q[1] = 1", "(Assign (Index (Member (Member (Deref (VarRef pp)) in 24) q 0) (IntLit 1)) (IntLit 1))"),
        ("pt.b2 = 1", "(Assign (Member (VarRef pt) b2 48) (IntLit 1))"),
        ("pp->tail[3] = 'x'", "(Assign (Index (Member (Deref (VarRef pp)) tail 49) (IntLit 3)) (IntLit 120))"),
        # calls
        ("g(1)", "(Call (FuncRef g) [(IntLit 1)])"),
        ("(g)(1)", "(Call (FuncRef g) [(IntLit 1)])"),
        ("(*g)(1)", "(Call (FuncRef g) [(IntLit 1)])"),
        ("(&g)(1)", "(Call (FuncRef g) [(IntLit 1)])"),
        ("fp(c)", "(Call (VarRef fp) [(Cast (VarRef c) False)])"),
        ("(*fp)(1)", "(Call (VarRef fp) [(IntLit 1)])"),
        ("fp = &g", "(Assign (VarRef fp) (FuncRef g))"),
        # the rest
        ("i ? g(1) : (void)0", "(Conditional (VarRef i) (Call (FuncRef g) [(IntLit 1)]) (Cast (IntLit 0) True))"),
        ("i = n ?: 3", "(Assign (VarRef i) (Opaque conditional without middle operand [(VarRef n) (IntLit 3)]))"),
        ("i = !n && ~i || -i", "(Assign (VarRef i) (Logical || (Logical && (Unary ! (VarRef n)) (Unary ~ (VarRef i))) (Unary - (VarRef i))))"),
        ("i = (n, 3)", "(Assign (VarRef i) (Comma (VarRef n) (IntLit 3)))"),
        ("--i, n <<= 2", "(Comma (IncDec -- True (VarRef i)) (Assign << (VarRef n) (IntLit 2)))"),
        ('s = "abc" "de"', "(Assign (VarRef s) (StringLit 6 abcde))"),
        ("i = __extension__ (n)", "(Assign (VarRef i) (VarRef n))"),
        ("pt = (struct point){ .y = 2.0, .x = 1 }", "(Assign (VarRef pt) (CompoundLit (InitList [(IntLit 1) (FloatLit 2.0)] [0 8])))"),
    ],
)  # fmt: skip
def test_expression(tmp_path: Path, written: str, expected: str) -> None:
    assert expression(tmp_path, DECLS, written, ["-w"]) == expected


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("int v[4] = {1, 2}", "[(IntLit 1) (IntLit 2)] [0 4]"),
        ("int v[6] = {[3] = 1, 2, [0] = 9}", "[(IntLit 9) (IntLit 1) (IntLit 2)] [0 12 16]"),
        ("int v[6] = {[1 ... 3] = 7}", "[(IntLit 7) (IntLit 7) (IntLit 7)] [4 8 12]"),
        ("int v[2][2] = {[1][0] = 7, 8}", "[(IntLit 7) (IntLit 8)] [8 12]"),
        ("int v[2][3] = {{1}, 2, 3}", "[(IntLit 1) (IntLit 2) (IntLit 3)] [0 12 16]"),
        ("int v[2][2] = {1, 2, 3}", "[(IntLit 1) (IntLit 2) (IntLit 3)] [0 4 8]"),
        ("struct inner v[2] = {1, 2, 3, 4.0, {{5}, 6.0}}", "[(IntLit 1) (IntLit 2) (IntLit 3) (FloatLit 4.0) (IntLit 5) (FloatLit 6.0)] [0 4 8 16 24 40]"),
        ("struct point v = {.in.q[1] = 4, .v = 2}", "[(Cast (IntLit 2) False) (IntLit 4)] [16 28]"),
        ("struct point v = {1, 2.0, {.v = 3.0f}, {{4}}}", "[(IntLit 1) (FloatLit 2.0) (FloatLit 3.0) (IntLit 4)] [0 8 16 24]"),
        ("struct { struct inner a; int t; } v = {.a = {.w = 1.0}, 3}", "[(FloatLit 1.0) (IntLit 3)] [16 24]"),
        ("union { int u; double w; } v = {.w = 1.0}", "[(FloatLit 1.0)] [0]"),
        ("union { int u; double w; } v[2] = {1, 2}", "[(IntLit 1) (IntLit 2)] [0 8]"),
        ('char v[2][4] = {"ab", "c"}', "[(StringLit 4 ab) (StringLit 4 c)] [0 4]"),
        ("struct inner a, v[2] = {a, a}", "[(VarRef a) (VarRef a)] [0 24]"),
        ("int v[3] = {}", "[] []"),
        ("struct { int a : 3, b : 5, c; } v = {1, 2, 3}", "[(IntLit 1) (IntLit 2) (IntLit 3)] [0 0 4]"),
    ],
)  # fmt: skip
def test_initialiser(tmp_path: Path, declaration: str, expected: str) -> None:
    unit = parse(tmp_path, f"{DECLS}\nvoid f(void) {{ {declaration}; }}\n", ["-w"])
    init = local(unit, "v").init
    assert isinstance(init, InitList)
    items = "[" + " ".join(plain(unit, show(i)) for i in init.items) + "]"
    assert f"{items} [{' '.join(map(str, init.offsets))}]" == expected


def test_sizeof_names_its_type(tmp_path: Path) -> None:
    unit = parse(
        tmp_path, DECLS + "void f(void) { z = sizeof(row) + sizeof(struct point) + sizeof(double *) + sizeof(int[3]); }"
    )
    kinds = [(s.operand_type.kind, s.operand_type.size) for s in nodes(unit.functions["f"], SizeOf)]
    assert kinds == [("array", 32), ("record", 56), ("pointer", 8), ("array", 12)]


def test_sizeof_of_a_variable_length_array_has_no_value(tmp_path: Path) -> None:
    unit = parse(tmp_path, "unsigned long z; void f(int n) { double v[n]; z = sizeof v; }")
    (size,) = nodes(unit.functions["f"], SizeOf)
    assert size.value is None
    assert isinstance(size.operand, VarRef)


def test_types(tmp_path: Path) -> None:
    text = (
        DECLS
        + "typedef volatile int vi; vi reg; _Atomic int at; const double k = 1; enum colour col; extern double open[]; row *rp;"
    )
    unit = parse(tmp_path, text)
    types = {v.name: v.type for v in unit.globals.values()}
    assert types["reg"].volatile
    assert types["reg"].spelling == "vi"
    assert types["at"].atomic
    assert (types["at"].kind, types["at"].size) == ("int", 4)
    assert types["k"].const
    assert (types["col"].kind, types["col"].size) == ("int", 4)
    assert (types["open"].kind, types["open"].size, types["open"].count) == ("array", None, None)
    assert types["c"].signed
    assert not types["uc"].signed
    assert (types["b"].spelling, types["b"].size) == ("_Bool", 1)
    assert types["rp"].elem is not None
    assert types["rp"].elem.count == 4
    assert types["buf"].elem is not None
    assert (types["buf"].count, types["buf"].elem.count, types["buf"].size) == (8, 4, 256)
    function = types["fp"].elem
    assert function is not None
    assert function.kind == "function"
    assert function.params is not None
    assert [p.spelling for p in function.params] == ["int"]


def test_records(tmp_path: Path) -> None:
    unit = parse(
        tmp_path,
        DECLS + "struct node { struct node *next; struct undefined *u; } head; union un { int a; double b; } un;",
    )
    point = next(r for r in unit.records.values() if r.spelling == "struct point")
    assert [(f.name, f.offset, f.bitfield) for f in point.fields] == [
        ("x", 0, False),
        ("y", 8, False),
        ("u", 16, False),
        ("v", 16, False),
        ("in", 24, False),
        ("b1", 48, True),
        ("b2", 48, True),
        ("tail", 49, False),
    ]
    node = next(r for r in unit.records.values() if r.spelling == "struct node")
    assert node.fields[0].type.elem is not None
    assert node.fields[0].type.elem.record == node.key
    undefined = next(r for r in unit.records.values() if r.spelling == "struct undefined")
    assert (undefined.size, undefined.fields) == (None, ())
    assert next(r for r in unit.records.values() if r.spelling == "union un").union


def test_complex_numbers_are_scalars(tmp_path: Path) -> None:
    text = "#include <complex.h>\ndouble complex a[4], z; double d; void f(int n) { a[n] = z * (1.0 + 2.0 * I); d = creal(z); a[0] = d; d = __real__ z; }"
    unit = parse(tmp_path, text)
    assert unit.functions["f"].refused == ""
    assert unit.globals["a"].type.size == 64
    assert unit.globals["z"].type.is_scalar
    assert unit.globals["z"].type.size == 16


def test_statements(tmp_path: Path) -> None:
    text = """
int g(int);
void f(int n) {
  if (n) g(1); else if (n > 1) { g(2); } else ;
  while (n) n--;
  do n++; while (n < 3);
  switch (n) { case 1 ... 3: g(1); case 4: case 5: break; default: g(2); }
again: g(3);
  goto again;
  { continue_: ; }
  for (;;) { if (n) continue; else break; }
  return;
}
"""
    assert body(tmp_path, text) == [
        "(If (VarRef n) (ExprStmt (Call (FuncRef g) [(IntLit 1)])) (If (Binary > (VarRef n) (IntLit 1))"
        " (Block [(ExprStmt (Call (FuncRef g) [(IntLit 2)]))]) (Null)))",
        "(While (VarRef n) (ExprStmt (IncDec -- False (VarRef n))))",
        "(DoWhile (ExprStmt (IncDec ++ False (VarRef n))) (Binary < (VarRef n) (IntLit 3)))",
        "(Switch (VarRef n) (Block [(Case 1 3 (ExprStmt (Call (FuncRef g) [(IntLit 1)])))"
        " (Case 4 4 (Case 5 5 (Break))) (Case - (ExprStmt (Call (FuncRef g) [(IntLit 2)])))]))",
        "(Label again (ExprStmt (Call (FuncRef g) [(IntLit 3)])))",
        "(Goto again)",
        "(Block [(Label continue_ (Null))])",
        "(For - - - (Block [(If (VarRef n) (Continue) (Break))]))",
        "(Return -)",
    ]


def test_statement_places_end_with_the_semicolon(tmp_path: Path) -> None:
    written = [
        "int v = 3 /* ; */, w ;",
        "g(1) /* ; */ ;",
        "if (v) g(1); else g(2) ;",
        "while (v) g(1);",
        "do g(1); while (v) ;",
        "for (;;) break ;",
        "lab: g(3) ;",
        "goto lab ;",
        "{ ; }",
        ";",
        "switch (v) { case 1: break; }",
        "return ;",
    ]
    unit = parse(tmp_path, "int g(int);\nvoid f(void) {\n" + "\n".join(written) + "\n}\n")
    statements = unit.functions["f"].body.body
    assert [source(s.span) for s in statements] == written
    assert [s.span.line for s in statements] == list(range(3, 3 + len(written)))
    assert all(s.span.editable for s in statements)


def test_array_subscripts_keep_their_places(tmp_path: Path) -> None:
    unit = parse(tmp_path, DECLS + "void f(void) { buf[i + 1][ n ] = (double) ( i ); }")
    assert [source(x.span) for x in nodes(unit.functions["f"], Index)] == ["buf[i + 1][ n ]", "buf[i + 1]"]
    assert [source(x.span) for x in nodes(unit.functions["f"], Cast)] == ["(double) ( i )"]


def test_address_taken_functions(tmp_path: Path) -> None:
    text = (
        "int a(int), b(int), c(int), e(int); static int s(int x) { return x; }\n"
        "int (*t[2])(int) = {a, &s}; void use(int (*)(int));\n"
        "void f(void) { b(1); (*c)(2); use(e); }\n"
    )
    unit = parse(tmp_path, text)
    assert unit.address_taken_functions == {"a", "e", f"{unit.path}:s"}


def test_deep_expressions(tmp_path: Path) -> None:
    n = 5000
    unit = parse(
        tmp_path,
        f"int f(int a) {{ return {'+'.join(['a'] * n)}; }}\nint g(int a) {{ {'if (a) a++; else ' * n} return a; }}\n",
    )
    assert sum(1 for _ in nodes(unit.functions["f"], VarRef)) == n


def test_brackets_beyond_clangs_limit_are_a_clean_error(tmp_path: Path) -> None:
    from opi_xform.frontend import FrontendError

    with pytest.raises(FrontendError, match="bracket nesting"):
        parse(tmp_path, f"int f(int a) {{ return {'(' * 5000}a{')' * 5000}; }}\n")


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_mpi_constants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mpi: str) -> None:
    if mpi == "openmpi":
        mpicc = Path(__file__).parents[3] / ".venv-openmpi" / "bin" / "mpicc"
        if not mpicc.exists():
            pytest.skip("no Open MPI here")
        monkeypatch.setenv("OPI_MPICC", str(mpicc))
    text = """
#include <mpi.h>
#define TYPE MPI_DOUBLE
#define N 8
#define SHIP(b) MPI_Send(b, N, MPI_INT, 0, 0, MPI_COMM_WORLD)
#define TWO(t) g(t, t)
void g(MPI_Datatype, MPI_Datatype);
void f(double *b, MPI_Status *st) {
  MPI_Recv(MPI_IN_PLACE, N * 2, TYPE, MPI_ANY_SOURCE, MPI_ANY_TAG, (MPI_COMM_WORLD), MPI_STATUS_IGNORE);
  MPI_Sendrecv(MPI_BOTTOM, N, MPI_BYTE, MPI_PROC_NULL, 0, b, N, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_SELF, st);
  MPI_Waitall(0, 0, MPI_STATUSES_IGNORE);
  SHIP(b);
  TWO(MPI_INT);
}
"""
    unit = parse(tmp_path, text)
    names = {
        "MPI_Recv": ["MPI_IN_PLACE", "", "MPI_DOUBLE", "MPI_ANY_SOURCE", "MPI_ANY_TAG", "MPI_COMM_WORLD", "MPI_STATUS_IGNORE"],
        "MPI_Sendrecv": ["MPI_BOTTOM", "N", "MPI_BYTE", "MPI_PROC_NULL", "", "", "N", "MPI_DATATYPE_NULL", "MPI_PROC_NULL", "", "MPI_COMM_SELF", ""],
        "MPI_Waitall": ["", "", "MPI_STATUSES_IGNORE"],
        "MPI_Send": ["", "N", "MPI_INT", "", "", "MPI_COMM_WORLD"],
        "g": ["MPI_INT", "MPI_INT"],
    }  # fmt: skip
    for function, expected in names.items():
        (call,) = calls(unit, function)
        assert [getattr(a, "name", "").replace("f/", "") for a in call.args] == expected
    any_source = calls(unit, "MPI_Recv")[0].args[3]
    assert isinstance(any_source, IntLit)
    assert unit.int_macros["MPI_ANY_SOURCE"] == any_source.value
    assert unit.int_macros["MPI_SUCCESS"] == 0
    assert "MPI_Send" in unit.declared
    assert unit.declared["MPI_Send"].params is not None
    assert len(unit.declared["MPI_Send"].params) == 6
    assert unit.functions["f"].refused == ""


def test_the_numbers_of_labels(tmp_path: Path) -> None:
    """Clang has a node around each, at the same place: its operator is no second one."""
    text = """
#define NEG -21
#define TWICE - -22
void f(int n) {
switch (n) { case -7: case ~3: case !7: case - -24: case -9L: case 3 - 8L: case NEG: case TWICE: case (-5 - 5): ; }
switch ((unsigned)n) { case -1: ; }
switch (n) { case -4 ... -2: ; }
}
"""
    assert re.findall(r"Case (\S+ \S+) ", " ".join(body(tmp_path, text))) == [
        *(f"{x} {x}" for x in (-7, -4, 0, 24, -9, -5, -21, 22, -10, 4294967295)),
        "-4 -2",
    ]
