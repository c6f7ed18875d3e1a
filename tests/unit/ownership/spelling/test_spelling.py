"""Carriers as text: what words mean at a place, other names of a buffer, parameters, comments, text left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from core_support import last
from ownership_support import Source, shared, source, source_in

from opi_xform.codes import Reason
from opi_xform.frontend import parse_unit
from opi_xform.ir import ast
from opi_xform.ir.types import INT, Type
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.plan import StopOthers, Told
from opi_xform.ownership.spelling import mentions
from opi_xform.ownership.spelling.comments import about, keep_refusal, never_packed
from opi_xform.ownership.spelling.configurations import left_out, naming, root
from opi_xform.ownership.spelling.lifts import Lifts
from opi_xform.ownership.spelling.mentioned import Index, is_of, mentions_of
from opi_xform.ownership.spelling.parameters import (
    argument,
    list_item,
    parameters_of,
    reassigned,
    same_pointed,
)
from opi_xform.ownership.spelling.paths import Paths
from opi_xform.ownership.spelling.scopes import (
    expanded,
    fresh,
    has_macro,
    hidden,
    may_fall_apart,
    means_function,
    means_variable,
    pieces,
    words,
    written_as_int,
)
from opi_xform.ownership.spelling.second_names import first_name, renaming, second_names
from opi_xform.ownership.spelling.short_names import settings, short_names, touch

SEND = "MPI_Send({}, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"
RECV = "MPI_Recv({}, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


def program(body: str, top: str = "") -> Source:
    return source(f"{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n * sizeof(double)", {"n", "sizeof", "double"}),
        ("h->out + s.in", {"h", "s"}),
        ("struct cell *", {"struct cell"}),
        ("3 + 0x1f", set()),
    ],
)
def test_the_names_that_a_text_is_made_of(text: str, expected: set[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("written", "count"), [("(a, b)", 2), ("(f(a, b), c) + d", 2), ("({1, 2})", 2), ("(a)", 1), ("(f(a, b))", 1)]
)
def test_arguments_that_a_text_would_be(written: str, count: int) -> None:
    assert pieces(written) == count


def test_macros_in_a_text(tmp_path: Path) -> None:
    macros = "#define COUNT (HALF + HALF)\n#define HALF 8\n#define SUM 3 + 4\n"
    body = "double b[COUNT]; b[0] = SUM; " + SEND.format("b")
    found = source_in(tmp_path, f"{macros}int main(int argc, char **argv) {{ {body} return 0; }}\n")
    assert {"COUNT", "HALF"} <= expanded(found.program, ["COUNT"])
    assert has_macro(found.program, "COUNT * 2")
    assert not has_macro(found.program, "argc * 2")
    assert may_fall_apart(found.program, "SUM")
    assert not may_fall_apart(found.program, "COUNT"), "it stands in parentheses"
    assert not may_fall_apart(found.program, "17")
    assert written_as_int(found.program, "HALF")
    assert written_as_int(found.program, "17")
    assert not written_as_int(found.program, "17UL")


def test_what_a_name_means_at_a_statement() -> None:
    found = program("int k = 3;\n{\nint N2 = k;\n" + SEND.format("b") + "\n}", "static double b[N], k2;")
    at = shared(found)
    (use,) = found.uses
    _, stmt = next(iter(at.flow.levels(use.node)))
    lowered = at.flow.lowered(0)
    names = set(hidden(lowered, stmt, at.texts))
    assert {"k", "N2", "argc"} <= names
    assert "b" not in names
    main = found.program.functions["main"]
    assert means_variable(found.program, main, found.program.variables[found.key("b")], at.texts)
    assert means_function(main, "puts", at.texts)
    assert fresh("b", found.program) != "b"
    assert fresh("unheard", found.program) == "unheard"


def test_a_name_that_a_macro_pastes_is_none_that_is_free() -> None:
    found = program(SEND.format("b"), "#define OF(x) static long x##_bytes\nstatic double b[N]; OF(b);")
    assert fresh("b_bytes", found.program) == "opi_b_bytes"


def test_a_name_that_a_function_declares_anew() -> None:
    found = program("{ int b = 3; argc = b; }\n" + SEND.format("c"), "static double b[N], c[N];")
    at = shared(found)
    (b,) = [v for v in found.program.variables.values() if v.name == "b" and v.is_global]
    assert not means_variable(found.program, found.program.functions["main"], b, at.texts)


# --- mentions ---------------------------------------------------------------------------------------------------------


def test_a_header_that_one_file_reads_once_is_of_that_file(tmp_path: Path) -> None:
    once = "static void in_{0}(int *p) {{ *p = 1; }}\n"
    twice = "static void NAME(int *p) { *p = 1; }\n"
    read = '#define NAME first\n#include "twice.h"\n#undef NAME\n#define NAME second\n#include "twice.h"\n'
    texts = {
        "own.h": once.format("own"),
        "both.h": once.format("both"),
        "twice.h": twice,
        "a.c": f'#include "own.h"\n#include "both.h"\n{read}static void here(int *p) {{ *p = 1; }}\n',
        "b.c": '#include "both.h"\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    units = [parse_unit(str((tmp_path / name).resolve())) for name in ("a.c", "b.c")]
    found = {f.name: is_of(units[0], f, units) for f in units[0].functions.values()}
    assert found == {"in_own": True, "in_both": False, "first": False, "second": False, "here": True}


def test_where_variables_occur() -> None:
    body = "double *p = b; p = b + 1; p[0] = 1; other(&p);\n" + SEND.format("b")
    found = program(body, "static double b[N]; void other(double **);")
    defs = mentions.definitions(found.program)
    key = found.key("p")
    assert len(defs.nodes[key]) == 3, "its birth, and two that set it"
    assert key in defs.addressed
    assert found.key("b") in defs.named


@pytest.mark.parametrize(("text", "name"), [("&a[0]", "a"), ("a + 0", "a"), ("(char *)a", "a"), ("&a[1]", "")])
def test_what_an_argument_is_without_casts(text: str, name: str) -> None:
    e = last(f"double a[4]; void f(void) {{ (void)0; {text}; }}")
    found = mentions.plain(e)
    assert (found.var if isinstance(found, ast.VarRef) else "") == name
    assert not mentions.is_null(e)
    assert any(isinstance(x, ast.VarRef) for x in mentions.walk(e))


def test_where_a_variable_can_be_named() -> None:
    body = "{ double *inner = b; inner[0] = 1; }\ndouble *later = b;\n" + SEND.format("b") + "\nlater[1] = 1;"
    found = program(body, "static double b[N];")
    at = shared(found)
    lowered = at.flow.lowered(0)
    (use,) = found.uses
    _, stmt = next(iter(at.flow.levels(use.node)))
    assert mentions.in_scope(lowered, found.program.variables[found.key("later")], stmt)
    assert not mentions.in_scope(lowered, found.program.variables[found.key("inner")], stmt)
    told = mentions.Mentions(found.program, at.flow, at.defs, found.buffers["b"], at.texts)
    level = (0, stmt)
    assert told.visible(level)
    assert told.target(use.node, None, level) == "b"
    main = found.program.functions["main"]
    statement = lowered.stmts[stmt].stmt
    assert [type(e).__name__ for e in mentions.expressions(main, statement)] == ["Call"]


# --- members ----------------------------------------------------------------------------------------------------------


def test_how_a_pointer_in_a_struct_is_written() -> None:
    found = program(
        "s.out = malloc(80);\ns.out[0] = 1;\n" + SEND.format("s.out") + "\nfree(s.out);",
        "static struct { int n; double *out; } s;",
    )
    at = shared(found)
    ((key, member),) = found.program.members.items()
    paths = Paths(found.program, at.flow, member, at.texts)
    (use,) = found.uses
    level = next(iter(at.flow.levels(use.node)))
    assert paths.text(level, "before") == "s.out"
    path = paths.path(use.call.args[0])
    assert path is not None
    assert path.root.var == found.key("s")
    assert path.offset == 8
    assert found.program.variables[key].type.is_pointer


# --- second and short names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("double *q = b; " + RECV.format("b") + " v[0] = q[1];", {"q"}),
        ("double *q = b; q++; " + RECV.format("b") + " v[0] = q[1];", set()),
        ("double *q = argc ? b : v; " + RECV.format("b") + " v[0] = q[1];", set()),
        ("double *q = b; other(&q); " + RECV.format("b") + " v[0] = q[1];", set()),
    ],
)
def test_pointers_that_are_another_name_of_a_buffer(tmp_path: Path, body: str, expected: set[str]) -> None:
    found = source_in(
        tmp_path,
        "static double b[N], v[N]; void other(double **);\n"
        f"int main(int argc, char **argv)\n{{\n{body}\nreturn 0;\n}}\n",
    )
    names = second_names(found.program, found.units, found.buffers["b"])
    assert {found.program.variables[key].name for key in names} == expected
    for key, second in names.items():
        assert second.text == "b"
        edits = renaming(found.program, names, ())
        assert edits is not None
        assert any(edit.text == "b" for edit in edits)
        assert len(second.mentions) == 1
        assert first_name(found.program, key, ()) in (found.key("b"), key)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("double *q = m[k]; q[0] = 1; " + SEND.format("q"), "m[k]"),
        ("double *q; q = m[k]; q[0] = 1; " + SEND.format("q"), "m[k]"),
        ("double *q = m[k]; q++; " + SEND.format("q"), None),
        ("double *q = m[k]; q[0] = 1; k++; " + SEND.format("q"), None),
        ("double *q = other(); " + SEND.format("q"), None),
        ("double *q = f[0]; tell(k); " + SEND.format("q"), "f[0]"),
        ("double *q = f[0]; count(k); " + SEND.format("q"), "f[0]"),
        ("double *q = f[0]; move(k); " + SEND.format("q"), None),
        ("double *q = f[0]; again(k); " + SEND.format("q"), None),
        ("double *q = f[0]; fill(f[1]); " + SEND.format("q"), None),
    ],
)
def test_short_names_that_can_be_written_out(tmp_path: Path, body: str, text: str | None) -> None:
    top = (
        "#include <stdio.h>\ndouble *other(void); static double m[3][N], *f[2], s;\n"
        'static void tell(int k) { for (int i = 0; i < k; i++) s += i; fprintf(stderr, "%d", k); }\n'
        "static void count(int k) { static int calls; calls += k; }\n"
        "static void move(int k) { tell(k); f[0] = f[1]; }\n"
        "static void again(int k) { if (k) again(k - 1); }\n"
        "static void fill(double *b) { s += b[0]; }\n"
    )
    found = source_in(tmp_path, f"{top}\nint main(int argc, char **argv)\n{{\nint k = argc;\n{body}\nreturn 0;\n}}\n")
    names = short_names(found.program, found.units, {found.key("q")})
    assert [name.text for name in names] == ([] if text is None else [text])
    set_by = settings(found.program.functions["main"])
    assert found.key("q") in set_by
    for name in names:
        assert touch(name, name)
        assert name.name == "q"


# --- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "indexed", "first"),
    [
        ("b", False, False),
        ("&b[0]", False, True),
        ("b + 0", False, False),
        ("m[2]", True, False),
        ("&m[2][0]", True, True),
        ("b + 1", None, None),
    ],
)
def test_arguments_that_name_the_start_of_a_buffer(text: str, indexed: bool | None, first: bool | None) -> None:
    found = argument(last(f"double b[4], m[3][4]; void f(void) {{ (void)0; {text}; }}"))
    assert (None if found is None else found.indexed) == indexed
    if found is not None:
        assert found.variable in ("b", "m")
        assert found.first in (True, False)


@pytest.mark.parametrize(
    ("text", "wanted", "part"),
    [
        ("f(a, g(b, c), d)", 1, " g(b, c)"),
        ("f (a)", 0, "a"),
        ("f(a, b)", 2, None),
        ("f(a /* c, d) */, b)", 1, " b"),
        ("f(a, // c, d)\n b)", 1, " // c, d)\n b"),
        ("f /* of */ (a, b /* c */)", 1, " b /* c */"),
        ("f(a, /* c", 1, None),
        ("f(a, // c \\\n b)", 1, None),
        ("f;", 0, None),
    ],
)
def test_one_item_of_a_list(text: str, wanted: int, part: str | None) -> None:
    found = list_item(text.encode(), 1, wanted)
    assert (None if found is None else text[found[0] : found[1]]) == part


def test_pointers_that_are_the_same_type() -> None:
    double = Type("float", "double", 8)
    constant = Type("float", "const double", 8, const=True)
    assert same_pointed(double, double)
    assert same_pointed(double, constant)
    assert not same_pointed(double, INT)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("static void pack(double *p) { p[0] = 1; }", None),
        ("static void pack(double *p) { double **q = &p; (*q)[0] = 1; }", "a code"),
        ("void pack(double *p) { p[0] = 1; } void (*hook)(double *) = pack;", "a code"),
        ("static void pack(double *p) { p++; p[0] = 1; }", "a code"),
    ],
)
def test_parameters_that_can_become_addresses(text: str, code: str | None) -> None:
    found = program("double *b = malloc(80);\npack(b);\n" + SEND.format("b") + "\nfree(b);", text)
    parameters = parameters_of(found.program, found.units)
    key = next(key for key, v in found.program.variables.items() if v.name == "p" and v.kind == "param")
    assert (parameters.refusal(key) is not None) == (code is not None)
    assert parameters_of(found.program, found.units) is parameters
    assert not reassigned(found.program, found.buffers["b"], {key})


def test_a_carrier_as_a_function_with_its_address_writes_it() -> None:
    give = "static void give(double *p) { p[0] = 1; " + SEND.format("p") + " }"
    found = program("double *b = malloc(80);\ngive(b);\nfree(b);", give)
    at = shared(found)
    (key,) = [key for key, v in found.program.variables.items() if v.name == "p"]
    (use,) = found.uses
    level = next(iter(at.flow.levels(use.node)))
    lifted = replace(found.buffers["b"], lifted=frozenset({key}))
    assert Lifts(found.program, at.flow, lifted, at.texts).text(level) == "(*p)"
    assert Lifts(found.program, at.flow, found.buffers["b"], at.texts).text(level) is None


# --- comments ---------------------------------------------------------------------------------------------------------


def test_what_a_comment_says_of_a_call() -> None:
    found = program("b[0] = 1;\n" + SEND.format("b"), "static double b[N];")
    (use,) = found.uses
    span = use.call.span
    keep = Told("keep", "", span.file, span.begin - 5, span.end, span)
    packed = Told("packed", "b", span.file, span.begin - 5, span.end, span)
    buffer = found.buffers["b"]
    assert about([keep, packed], buffer, use, "packed") is packed
    assert about([Told("packed", "c", span.file, 0, span.end, span)], buffer, use, "packed") is None
    assert about([Told("keep", "", span.file, 0, span.begin, span)], buffer, use, "keep") is None
    refusal = keep_refusal([keep], buffer, [use])
    assert refusal is not None
    assert refusal.reason is Reason.REQUESTED
    assert keep_refusal([packed], buffer, [use]) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [("b[0] = 1;", False), ("argc = 2;", True), ("if (argc) b[0] = 1;", False)],
)
def test_a_send_that_nothing_is_written_for(body: str, expected: bool) -> None:
    found = program(f"{body}\n" + SEND.format("b"), "static double b[N];")
    assert never_packed(found.program, found.buffers["b"], found.uses[0]) is expected


# --- other configurations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "text", "expected"),
    [
        ("OTHER", "b[0] = 2;", "stop"),
        ("OTHER", "argc = 2;", ""),
        ("defined(__never__)", "b[0] = 2;", "12"),  # a compiler decides
        ("OTHER", "double *q = v; q[0] = 1;", ""),
    ],
)
def test_text_that_is_left_out(tmp_path: Path, condition: str, text: str, expected: str) -> None:
    found = source_in(
        tmp_path,
        "static double b[N], v[N];\nint main(int argc, char **argv)\n{\n"
        f"#if {condition}\n{text}\n#endif\n{SEND.format('b')}\nreturn 0;\n}}\n",
    )
    told = left_out(found.units, found.flow("b"), False)
    if isinstance(told, Refusal):
        assert told.reason.recv.code.endswith(expected)
        return
    assert (["stop"] if expected else []) == ["stop" for one in told if isinstance(one, StopOthers)]
    strict = left_out(found.units, found.flow("b"), True)
    assert isinstance(strict, Refusal) is bool(expected), "strict: it is refused"
    stops = naming(mentions_of(found.units), "argc")
    assert stops is not None


def test_functions_that_left_out_text_names_are_looked_for_in_one_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = "static double b[N];\nstatic void give(void) {}\n#if OTHER\nvoid other(void) { give(); }\n#endif\n"
    main = f"int main(int argc, char **argv)\n{{\ngive();\n{SEND.format('b')}\nreturn 0;\n}}\n"
    found = source_in(tmp_path, top + main)
    parameters = parameters_of(found.program, found.units)
    monkeypatch.setattr(Index, "__init__", lambda *_: pytest.fail("the text is read again"))
    stops = {f.name: parameters.left_out(f) for f in found.program.functions.values()}
    assert stops["main"] == ()
    assert [stop.name for stop in stops["give"] or ()] == ["give"]


def test_the_pointer_that_an_lvalue_begins_with() -> None:
    assert root(last("double *p; void f(void) { (void)0; *p; }")) == "p"
    assert root(last("double a[4]; void f(void) { (void)0; a[1]; }")) == "a"
    assert root(last("struct { int n; } s; int f(void) { (void)0; return s.n; }")) == ""
