"""Variables of static storage: every declaration (``opi_xform.frontend.statics``), and what is done to them where they
are named (``opi_xform.frontend.static_uses``).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.frontend.statics import collect
from opi_xform.ir.statics import Declared, Static, Statics


def statics(folder: Path, text: str, *flags: str) -> Statics:
    path = folder / "t.c"
    path.write_text(text)
    return collect(str(path), flags)


def variable(found: Statics, name: str) -> Static:
    (one,) = (v for v in found.variables.values() if v.name == name)
    return one


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("b = a", "read"),
        ("a = 1", "write"),
        ("a += 1", "write"),
        ("a++", "write"),
        ("p = &a", "address"),
        ("b = -a", "read"),
        ("b = (a)", "read"),
        ("v[1] = 2", "write"),
        ("b = v[1]", "read"),
        ("b = *v", "read"),
        ("b = v[v[0]]", "read"),
        ("p = v", "address"),  # an array by its name
        ("p = v + 1", "address"),
        ("f(v)", "address"),
        ("f(&v[1])", "address"),
        ("s.x = 1", "write"),
        ("b = s.in.y", "read"),
        ("b = sizeof a", "sizeof"),
        ("b = (__typeof__(a))1.5", "type"),
        ("static __typeof__(a) other", "type"),
    ],
)
def test_what_is_done_to_a_variable(expression: str, what: str, tmp_path: Path) -> None:
    top = "static int a, v[4]; static struct { int x; struct { int y; } in; } s; void f(int *);"
    found = statics(tmp_path, f"{top}\nvoid g(int b, int *p) {{\n{expression}; }}\n")
    uses = [u for u in found.uses if u.span.line == 3]
    assert {u.what for u in uses} == {what}
    assert {u.function for u in uses} == {"g"}


@pytest.mark.parametrize(
    ("expression", "alone"), [("sizeof a", True), ("sizeof(a[1])", True), ("sizeof(a + 1)", False)]
)
def test_the_operand_of_sizeof_by_itself(expression: str, alone: bool, tmp_path: Path) -> None:
    found = statics(tmp_path, f"static int a[4];\nunsigned long g(void) {{ return {expression}; }}\n")
    (use,) = found.uses
    assert use.alone is alone


def test_an_initialiser_holds_the_addresses_that_it_takes(tmp_path: Path) -> None:
    found = statics(tmp_path, "static int a, b;\nstatic int *p = &a, *q;\nint g(void) { return *p + *q + b; }\n")
    (use,) = (u for u in found.uses if u.what == "init")
    a, p = variable(found, "a"), variable(found, "p")
    assert (use.key, use.holder) == (a.key, p.key)
    assert (p.holds, variable(found, "q").holds) == ((a.key,), ())


@pytest.mark.parametrize(
    ("text", "kind", "function", "thread_local"),
    [
        ("int a;", "extern", "", False),
        ("static int a;", "static", "", False),
        ("_Thread_local int a;", "extern", "", True),
        ("int g(void) { static int a; return a; }", "local-static", "g", False),
        ("extern int a; int g(void) { return a; }", "extern", "", False),
    ],
)
def test_kinds_of_variables(text: str, kind: str, function: str, thread_local: bool, tmp_path: Path) -> None:
    found = variable(statics(tmp_path, text + "\n"), "a")
    assert (found.kind, found.function, found.thread_local) == (kind, function, thread_local)


def test_locals_and_parameters_are_none(tmp_path: Path) -> None:
    found = statics(tmp_path, "int g(int a) { int b = a; register int c = b; return c; }\n")
    assert not found.variables
    assert set(found.others) >= {"a", "b", "c"}  # names that stand for something else


def declared(folder: Path, text: str) -> tuple[Declared, str]:
    (one,) = variable(statics(folder, text), "a").declared
    return one, text


def test_a_declaration_and_its_parts(tmp_path: Path) -> None:
    one, text = declared(tmp_path, "static int a[3] = {1, 2};\n")
    assert text[one.name.begin : one.name.end] == "a"
    assert text[one.statement.begin : one.statement.end] == "static int a[3] = {1, 2};"
    assert one.init is not None
    assert text[one.init.begin : one.init.end] == "{1, 2}"
    assert text[one.specifier - 6 : one.specifier] == "static"  # a storage class goes after it
    assert (one.definition, one.has_init, one.plain, one.storage) == (True, True, True, "static")
    assert one.after == one.statement.end


@pytest.mark.parametrize(
    ("text", "plain", "specifier", "after", "crowded"),
    [
        ("static int a;", True, True, True, False),
        ("#define MAKE static int a;\nMAKE", False, True, True, False),
        ("#define MAKE static int a\nMAKE;", False, True, True, False),
        ("#define MAKE static int a; static int b;\nMAKE", False, False, True, True),
        ("#define MAKE(x) static int x\nMAKE(a);", False, True, True, False),
    ],
)
def test_declarations_that_a_macro_makes(
    text: str, plain: bool, specifier: bool, after: bool, crowded: bool, tmp_path: Path
) -> None:
    one, _ = declared(tmp_path, text + "\n")
    assert (one.plain, one.specifier >= 0, one.after >= 0, one.crowded) == (plain, specifier, after, crowded)


@pytest.mark.parametrize(
    ("body", "bare"),
    [
        ("static int a;", ""),
        ("switch (n) { static int a; case 1: a = 1; }", "switch"),
    ],
)
def test_where_no_statement_can_stand_beside_a_declaration(body: str, bare: str, tmp_path: Path) -> None:
    one, _ = declared(tmp_path, f"void g(int n) {{ {body} }}\n")
    assert one.bare == bare


def test_functions_and_who_runs_them(tmp_path: Path) -> None:
    text = """void other(void (*)(void));
static void called(void) {}
static void passed(void) {}
__attribute__((constructor)) static void early(void) {}
static void through(void (*p)(void)) { p(); }
static void team(void) {
#pragma omp parallel
    called();
}
void g(int n) { if (n) goto out; called(); other(passed); through(passed); out: team(); }
"""
    found = statics(tmp_path, text, "-fopenmp")
    routines = {key.rpartition(":")[2]: one for key, one in found.routines.items()}
    names = {key.rpartition(":")[2] for key in routines["g"].named}
    assert names == {"called", "other", "passed", "through", "team"}
    assert [key.rpartition(":")[2] for key in routines["g"].taken] == ["passed"]
    assert {n for n, r in routines.items() if r.indirect} == {"through"}
    assert {n for n, r in routines.items() if r.parallel} == {"team"}
    assert {n for n, r in routines.items() if r.labels} == {"g"}
    assert {n for n, r in routines.items() if r.constructor} == {"early"}
    (call,) = (c for c in found.calls if c.name == "other")
    assert [key.rpartition(":")[2] for key in call.passed] == ["passed"]
    assert call.function == "g"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('void g(void) { __asm__ volatile ("movl %eax, mine"); }', {"movl", "eax", "mine"}),
        ('int b __attribute__((alias("mine")));\nint mine;'.replace("int b", "extern int b"), {"mine"}),
        ("#pragma weak mine\nint b;", {"weak", "mine"}),
        ('void g(void) { const char *s = "mine"; }', set()),
    ],
)
def test_names_in_assembly_attributes_and_pragmas(text: str, words: set[str], tmp_path: Path) -> None:
    assert statics(tmp_path, text + "\n").words == words


def test_a_name_that_a_macro_turns_into_text(tmp_path: Path) -> None:
    text = "#define SHOW(x) show(#x, x)\nvoid show(const char *, int);\nstatic int a, b;\n"
    found = statics(tmp_path, f"{text}void g(void) {{ SHOW(a); show(0, b); }}\n")
    quoted = {u.key: u.quoted for u in found.uses}
    assert quoted[variable(found, "a").key]
    assert not quoted[variable(found, "b").key]


def test_a_use_in_a_macros_body_stands_where_the_macro_is_used(tmp_path: Path) -> None:
    text = "static int a;\n#define NEXT (a + 1)\nint g(void) { return NEXT; }\n"
    (use,) = statics(tmp_path, text).uses
    assert (use.span.macro, use.span.line, text[use.span.begin :][:4]) == ("NEXT", 3, "NEXT")


def test_an_initialiser_with_an_unnamed_object_and_a_struct_without_end(tmp_path: Path) -> None:
    text = "struct open { int n; int rest[]; };\nstatic struct open o = {1, {2}};\nstatic int *p = (int[]){1, 2}, *q;\n"
    found = statics(tmp_path, f"{text}int g(void) {{ return o.n + *p + *q; }}\n")
    assert {v.name for v in found.variables.values() if v.literal} == {"p"}
    assert {v.name for v in found.variables.values() if v.flexible} == {"o"}
