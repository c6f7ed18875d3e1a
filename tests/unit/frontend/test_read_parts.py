"""Parts of reading C that have a name of their own: constants, initialisers, declarators, atomics, directives."""

from __future__ import annotations

from pathlib import Path

import pytest
from frontend_support import body, expression, macros_of, parse
from hypothesis import given
from hypothesis import strategies as st

from opi_xform.frontend.clang.source import File
from opi_xform.frontend.lower import fold
from opi_xform.frontend.lower.array_sizes import has_bounds, is_computed, lengths
from opi_xform.frontend.lower.atomics import atomic, is_atomic
from opi_xform.frontend.lower.decls import Written, declarators
from opi_xform.frontend.lower.directives import Unfollowed, behind, directives, lines, thread_private
from opi_xform.frontend.lower.inits import MAX_REPEAT, Braces, Designated, flatten
from opi_xform.frontend.lower.punned import is_punned
from opi_xform.frontend.lower.same_meaning import compared, deref
from opi_xform.ir import ast
from opi_xform.ir.span import NOWHERE, Span
from opi_xform.ir.types import INT, LONG, Field, Record, Type

CHAR = Type("int", "signed char", 1)
UNSIGNED = Type("int", "unsigned", 4, signed=False)
BOOL = Type("int", "_Bool", 1, signed=False, boolean=True)
TYPES = (INT, LONG, CHAR, UNSIGNED)
INTS = st.integers(-(1 << 70), 1 << 70)

# --- arithmetic on constants ------------------------------------------------------------------------------------------


@given(INTS, st.sampled_from(TYPES))
def test_a_converted_number_is_in_its_type_and_the_same_modulo_its_width(value: int, type_: Type) -> None:
    found = fold.wrap(value, type_)
    assert type_.holds(found)
    assert (found - value) % (1 << 8 * (type_.size or 0)) == 0
    assert fold.wrap(value, BOOL) == (value != 0)


@given(st.integers(-(1 << 31), (1 << 31) - 1), st.integers(-(1 << 31), (1 << 31) - 1))
def test_division_truncates_towards_zero(a: int, b: int) -> None:
    quotient, rest = fold.binary("/", a, b, LONG), fold.binary("%", a, b, LONG)
    if b == 0:
        assert quotient is None
        assert rest is None
        return
    assert quotient is not None
    assert rest is not None
    assert quotient * b + rest == a
    assert abs(rest) < abs(b)
    assert rest == 0 or (rest < 0) == (a < 0)


@pytest.mark.parametrize(
    ("op", "a", "b", "type_", "value"),
    [
        ("+", 2147483647, 1, INT, -2147483648),
        ("+", 4294967295, 1, UNSIGNED, 0),
        ("<<", 1, 31, UNSIGNED, 1 << 31),
        ("<<", 1, 32, UNSIGNED, None),
        (">>", -8, 1, INT, -4),
        ("&", 12, 10, INT, 8),
        ("^", 12, 10, INT, 6),
        ("|", 12, 10, INT, 14),
        ("<", 3, 4, INT, 1),
        (">=", 3, 4, INT, 0),
        ("&&", 3, 0, INT, 0),
        ("||", 3, 0, INT, 1),
        ("=", 3, 4, INT, None),
    ],
)
def test_operators_of_constants(op: str, a: int, b: int, type_: Type, value: int | None) -> None:
    assert fold.binary(op, a, b, type_) == value


@pytest.mark.parametrize(
    ("op", "a", "type_", "value"),
    [
        ("-", 5, INT, -5),
        ("-", 5, UNSIGNED, (1 << 32) - 5),
        ("~", 0, INT, -1),
        ("!", 5, INT, 0),
        ("+", 5, INT, 5),
        ("&", 5, INT, None),
    ],
)
def test_one_operand(op: str, a: int, type_: Type, value: int | None) -> None:
    assert fold.unary(op, a, type_) == value


# --- initialisers -----------------------------------------------------------------------------------------------------

PAIR = Record("pair", "pair", False, 8, (Field("a", INT, 0), Field("b", INT, 4)))
EITHER = Record("either", "either", True, 8, (Field("n", INT, 0), Field("d", LONG, 0)))
OUTER = Record(
    "outer",
    "outer",
    False,
    24,
    (Field("p", Type("record", "", 8, record="pair"), 0), Field("t", Type("array", "", 16, elem=INT, count=4), 8)),
)
RECORDS = {r.key: r for r in (PAIR, EITHER, OUTER)}


def number(value: int) -> ast.Expr:
    return ast.IntLit(INT, NOWHERE, value)


def braces(*items: object) -> Braces:
    """A list as it is written: numbers, lists in it, (path, value) for what is designated."""
    out: list[ast.Expr | Braces | Designated] = []
    for item in items:
        if isinstance(item, tuple):
            value = item[-1]
            out.append(Designated(item[:-1], braces(*value) if isinstance(value, list) else number(value)))
        else:
            assert isinstance(item, int | list)
            out.append(braces(*item) if isinstance(item, list) else number(item))
    return Braces(NOWHERE, tuple(out))


def placed(type_: Type, *items: object) -> list[tuple[int, int]]:
    """(offset, number) of all that an initialiser names."""
    found = flatten(braces(*items), type_, RECORDS)
    return [(o, e.value) for o, e in zip(found.offsets, found.items, strict=True) if isinstance(e, ast.IntLit)]


FOUR = Type("array", "int[4]", 16, elem=INT, count=4)
OF_OUTER = Type("record", "", 24, record="outer")


@pytest.mark.parametrize(
    ("type_", "items", "expected"),
    [
        (FOUR, (1, 2), [(0, 1), (4, 2)]),
        (FOUR, ((2, 7), 8), [(8, 7), (12, 8)]),
        (FOUR, (((1, 2), 7),), [(4, 7), (8, 7)]),  # [1 ... 2] = 7
        (FOUR, (1, (0, 5)), [(0, 1), (0, 5)]),  # the later one counts
        (FOUR, (1, 2, 3, 4, 5), [(0, 1), (4, 2), (8, 3), (12, 4)]),
        (OF_OUTER, (1, 2, 3, 4), [(0, 1), (4, 2), (8, 3), (12, 4)]),  # without inner braces
        (OF_OUTER, ([1], [3, 4]), [(0, 1), (8, 3), (12, 4)]),
        (OF_OUTER, (("t", 1, 9), 10), [(12, 9), (16, 10)]),
        (OF_OUTER, (("p", "b", 6), 7), [(4, 6), (8, 7)]),
        (Type("record", "", 8, record="either"), (5,), [(0, 5)]),
        (INT, ([5],), [(0, 5)]),
    ],
)
def test_values_at_offsets(type_: Type, items: tuple[object, ...], expected: list[tuple[int, int]]) -> None:
    assert placed(type_, *items) == expected


def test_a_range_writes_out_no_more_than_so_many() -> None:
    many = Type("array", "", None, elem=INT)
    assert len(placed(many, ((0, 10 * MAX_REPEAT), 1))) == MAX_REPEAT + 1


# --- members of unions, same spellings --------------------------------------------------------------------------------

POINTER = Type("pointer", "int *", 8, elem=INT)


def test_numbers_where_a_union_has_an_address() -> None:
    union = Record("u", "u", True, 8, (Field("n", LONG, 0), Field("at", POINTER, 0)))
    plain = Record("p", "p", True, 8, (Field("n", LONG, 0), Field("x", Type("float", "double", 8), 0)))
    records = {"u": union, "p": plain}
    base = ast.VarRef(Type("record", "", 8, record="u"), NOWHERE, "v")
    assert is_punned(base, union, union.fields[0], records)
    assert not is_punned(base, plain, plain.fields[0], records)


def test_a_struct_in_a_union_with_an_address() -> None:
    inner = Type("record", "", 16, record="s")
    records = {
        "s": Record("s", "s", False, 16, (Field("a", LONG, 0), Field("b", LONG, 8))),
        "u": Record("u", "u", True, 16, (Field("s", inner, 0), Field("at", POINTER, 8))),
    }
    outer = ast.VarRef(Type("record", "", 16, record="u"), NOWHERE, "v")
    member = ast.Member(inner, NOWHERE, outer, "s", 0)
    assert not is_punned(member, records["s"], records["s"].fields[0], records)
    assert is_punned(member, records["s"], records["s"].fields[1], records), "where the address lies"


def test_one_form_for_what_c_makes_the_same() -> None:
    p, i = ast.VarRef(POINTER, NOWHERE, "p"), ast.VarRef(INT, NOWHERE, "i")
    span = Span("a.c", 3, 9, 1, 4)
    for left, right in ((p, i), (i, p)):
        found = deref(INT, span, ast.Binary(POINTER, NOWHERE, "+", left, right))
        assert found == ast.Index(INT, span, p, i)
    assert isinstance(deref(INT, span, ast.Binary(POINTER, NOWHERE, "-", p, i)), ast.Deref)
    assert isinstance(deref(INT, span, p), ast.Deref)
    less = ast.Binary(INT, NOWHERE, "<", i, i)
    zero = ast.IntLit(INT, NOWHERE, 0)
    assert compared("!=", less, zero, span) == ast.Binary(INT, span, "<", i, i)
    assert compared("!=", ast.Binary(INT, NOWHERE, "+", i, i), zero, span) is None
    assert compared("==", less, zero, span) is None
    assert compared("!=", less, ast.IntLit(INT, NOWHERE, 1), span) is None
    assert compared("!=", less, ast.IntLit(INT, NOWHERE, 0, "FALSE"), span) is None


# --- sizes of variable arrays -----------------------------------------------------------------------------------------

VLA = Type("array", "double[n]", None, elem=Type("float", "double", 8), vla=True)


def test_sizes_that_are_told_once_more() -> None:
    name = Span("a.c", 10, 11, 1, 11)
    n = ast.VarRef(INT, Span("a.c", 12, 13, 1, 13), "n")
    assert has_bounds(VLA)
    assert has_bounds(Type("pointer", "", 8, elem=VLA))
    assert not has_bounds(FOUR)
    assert lengths(VLA, [n], name) == (n,)
    assert lengths(VLA, [ast.VarRef(INT, Span("a.c", 2, 3, 1, 3), "n")], name) == (), "of a typeof"
    assert lengths(VLA, [ast.VarRef(LONG, Span("b.h", 12, 13, 1, 1), "n")], name) == ()
    assert lengths(FOUR, [n], name) == ()
    called = ast.Call(INT, n.span, n, (), NOWHERE)
    assert lengths(VLA, [called], name) == ()
    assert is_computed(called)
    assert not is_computed(ast.Binary(INT, NOWHERE, "+", n, number(1)))
    assert is_computed(ast.VarRef(Type("int", "int", 4, volatile=True), NOWHERE, "v"))


# --- atomics ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("__atomic_load_n", True),
        ("__sync_fetch_and_add", True),
        ("__sync_fetch_and_add_4", True),
        ("__atomic_nand_fetch", True),
        ("__sync_synchronize", False),
        ("__builtin_expect", False),
    ],
)
def test_builtin_functions_that_are_atomic(name: str, expected: bool) -> None:
    assert is_atomic(name) is expected


def kind(name: str, *operands: ast.Expr) -> str:
    return type(atomic(name, INT, NOWHERE, operands)).__name__


def test_what_an_atomic_operation_does() -> None:
    p = ast.VarRef(POINTER, NOWHERE, "p")
    order, value = ast.IntLit(INT, NOWHERE, 5), ast.VarRef(INT, NOWHERE, "v")
    load = atomic("__atomic_load_n", INT, NOWHERE, (p, order))
    assert isinstance(load, ast.Deref)
    assert load.type.volatile, "what is read is not known"
    store = atomic("__atomic_store_n", INT, NOWHERE, (p, order, value))
    assert isinstance(store, ast.Assign)
    assert store.value is value
    assert kind("__sync_bool_compare_and_swap", p, value, value) == "Conditional"
    assert kind("__sync_val_compare_and_swap", p, value, value) == "Comma"
    assert kind("__sync_fetch_and_add", p, value) == "Comma"
    assert kind("__sync_fetch_and_add", p, value, value) == "NoneType", "not so many operands"
    assert kind("__atomic_load_n", p, value) == "NoneType", "the order is no constant"
    call = ast.Call(POINTER, NOWHERE, value, (), NOWHERE)
    assert kind("__atomic_load_n", call, order) == "Opaque", "it may not be evaluated twice"
    to_pointer = ast.VarRef(Type("pointer", "", 8, elem=POINTER), NOWHERE, "q")
    assert kind("__atomic_load_n", to_pointer, order) == "Opaque"


# --- declarators as they are written ----------------------------------------------------------------------------------


def test_declarators_of_one_declaration(tmp_path: Path) -> None:
    text = "static const double *p, t[2][3] = {{1}}, (*q)[4] = 0;\n"
    with macros_of(tmp_path, text) as (file, _):
        places = (("p", ",", False), ("t", "[2]", True), ("q", ")", True))
        group = [Written(name, text.index(name + at), "static", True, init) for name, at, init in places]
        found = declarators(file, 0, group, True)
    assert all(d is not None for d in found)
    p, t, q = (d for d in found if d is not None)
    assert text[t.span.begin : t.span.end] == "t[2][3] = {{1}}"
    assert t.suffix is not None
    assert text[t.suffix.begin : t.suffix.end] == "[2][3]"
    assert t.init_span is not None
    assert text[t.init_span.begin : t.init_span.end] == "{{1}}"
    assert p.init_span is None
    assert [d.first for d in (p, t, q)] == [True, False, False]
    assert not p.alone
    assert p.specifiers == "static const double"
    assert text[q.name_span.begin : q.name_span.end] == "q"
    assert text[t.statement.begin : t.statement.end] == text.strip()


# --- directives -------------------------------------------------------------------------------------------------------


def words(text: str) -> list[list[str]]:
    return [found for found, _, _ in lines(text.encode(), 0, len(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#if A\nint a;\n#endif\n", [["#", "if", "A"], ["#", "endif"]]),
        ("  # /* c */ define X \\\n 1\n", [["#", "define", "X", "1"]]),
        ("%: pragma omp for\n", [["#", "pragma", "omp", "for"]]),
        ("int a; # no\n", []),
        (
            "#if A /* c */\n#pragma omp for // d\n#endif\n",
            [["#", "if", "A"], ["#", "pragma", "omp", "for"], ["#", "endif"]],
        ),
        ("#if A /* c */ # no\n", [["#", "if", "A", "#", "no"]]),
        ('_Pragma("omp for") ;', [["_Pragma"]]),
        ('_Pragma("once") ;', []),
        ("/* #if A */\n", []),
    ],
)
def test_directives_as_they_are_written(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


def read(tmp_path: Path, text: str) -> list[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]]:
    with macros_of(tmp_path, f"{text}\nint a;\n") as (file, _):
        assert isinstance(file, File)
        span = file.span(0, len(text), True)
        missed: list[Unfollowed] = []
        found = list(directives(file, span, lambda name, called: None, lambda name: None, (), (), (), missed))
        if missed:
            raise missed[0]
        return [(d.name, d.clauses) for d in found]


def test_openmps_directives(tmp_path: Path) -> None:
    ((name, clauses),) = read(tmp_path, "#pragma omp parallel for private(i, j) reduction(+:s)")
    assert name == "parallel for"
    assert [word for word in dict(clauses)["private"] if word.isalpha()] == ["i", "j"]
    assert "s" in dict(clauses)["reduction"]
    assert read(tmp_path, "#pragma once") == []


@pytest.mark.parametrize(
    "text", ["#pragma omp teams", "#pragma omp parallel for nowait(3) strange(x)", '_Pragma("omp for") ;']
)
def test_directives_that_are_not_followed(tmp_path: Path, text: str) -> None:
    with pytest.raises(Unfollowed):
        read(tmp_path, text)


def test_variables_of_which_each_thread_has_one() -> None:
    text = b"int a, b;\n#pragma omp threadprivate(a)\n"
    assert thread_private([(text, ())], lambda name, called: None) == {"a"}
    assert thread_private([(text, ())], lambda name, called: True) is None, "a macro"
    assert thread_private([(b"int a;\n", ())], lambda name, called: None) == frozenset()
    text = b"/* threadprivate */"
    assert thread_private([(text, ())], lambda name, called: None) is None, "something else mentions it"


def test_what_stands_behind_directives() -> None:
    data = b"\n#pragma omp for\n  for (;;) ;"
    assert data[behind(data, 0, ()) :] == b"for (;;) ;"
    begin = data.index(b"for (")
    assert data[behind(data, 0, ((begin, begin + 4),)) :] == b"(;;) ;", "what is left out is passed over"


# --- by what they make of a file: opi_xform.frontend.lower.exprs, opi_xform.frontend.lower.stmts,
# opi_xform.frontend.lower.openmp, opi_xform.frontend.lower.refusals


def test_a_function_with_a_construct_that_is_not_followed(tmp_path: Path) -> None:
    unit = parse(tmp_path, "int f(int a) {\n  return ({ while (a) a--; a; });\n}\nint g(void) { return 1; }\n")
    assert unit.functions["f"].refused.startswith("`({ while (a) a--; a; })` in line 2 is a statement expression")
    assert unit.functions["g"].refused == ""


@pytest.mark.parametrize(
    ("directive", "refused"),
    [
        ("#pragma omp parallel for", ""),
        ("#pragma omp parallel for private(n)", ""),
        ("#pragma omp parallel for schedule(static)", ""),
        ("#pragma omp parallel for firstprivate(n)", ""),
        ("#pragma omp sections", "OpenMP `sections` in line 2 is not followed"),
        ("#pragma omp parallel for private(k)", "OpenMP"),  # each thread reads one that nobody has set
    ],
)
def test_regions_as_serial_code(tmp_path: Path, directive: str, refused: str) -> None:
    loop = "for (int i = 0; i < m; i++) u[i] = k;"
    text = f"void f(double *u, int m) {{ int n = 0, k = 3; (void)n;\n{directive}\n{loop} }}\n"
    found = parse(tmp_path, text, ["-fopenmp"]).functions["f"]
    assert found.refused.startswith(refused) if refused else found.refused == ""
    assert bool(found.threads) == (not refused)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a = b + 1", "(Assign (VarRef a) (Binary + (VarRef b) (IntLit 1)))"),
        ("*p = 3", "(Assign (Deref (VarRef p)) (IntLit 3))"),
        ("*(p + b) = 3", "(Assign (Index (VarRef p) (VarRef b)) (IntLit 3))"),
        ("a = b ? 1 : 2", "(Assign (VarRef a) (Conditional (VarRef b) (IntLit 1) (IntLit 2)))"),
        ("a = sizeof(int)", "(Assign (VarRef a) (Cast (SizeOf 4) False))"),
    ],
)
def test_expressions_as_they_are_read(tmp_path: Path, written: str, expected: str) -> None:
    assert expression(tmp_path, "int a, b, *p;", written) == expected


def test_statements_as_they_are_read(tmp_path: Path) -> None:
    found = body(tmp_path, "void f(int n) { if (n) n = 1; else ; while (n) break; do { } while (0); return; }")
    assert [text.split(" ")[0].strip("()") for text in found] == ["If", "While", "DoWhile", "Return"]
