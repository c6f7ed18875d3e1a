"""Several messages in one buffer: its mentions, its parts, the proof that accesses lie in them, and the new text."""

from __future__ import annotations

from pathlib import Path

import pytest
from core_support import last
from ownership_support import Source, source_in

from opi_xform.divide.asserted import asserted
from opi_xform.divide.check import is_place, prover_at, stays_inside
from opi_xform.divide.decompose import (
    calls,
    factors_of,
    joined,
    number_text,
    number_value,
    product,
    pure,
    spelt,
    sum_of,
    take_all,
    uncast,
    value_of,
)
from opi_xform.divide.find import Dividing, Division, allocated, candidates
from opi_xform.divide.flow import Trouble, VariableFlow, harmless
from opi_xform.divide.left_out import left_out, nobodys
from opi_xform.divide.mentions import mentions_of, only_for_free
from opi_xform.divide.named.names import namings, null, usable
from opi_xform.divide.named.proof import NamedDividing
from opi_xform.divide.named.spell import NamedSpelling
from opi_xform.divide.named_sums import NamedSums
from opi_xform.divide.passages.find import beginning, elements, passages
from opi_xform.divide.size_text import visible, within
from opi_xform.divide.spell import Spelling
from opi_xform.divide.structs.from_structs import FromStructs, declared
from opi_xform.divide.wrapped import callee_of, wrapping
from opi_xform.effects.table import load_effects
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import INT, Type
from opi_xform.ir.walk import expressions
from opi_xform.ir.walk import within as all_within
from opi_xform.memory.poly import ZERO, Poly, number, symbol
from opi_xform.ownership.allocation.deallocations import freeing_functions
from opi_xform.text.edit import apply_edits

EFFECTS = load_effects()
SEND = "MPI_Send({}, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"
TOP = "static double u[N]; static int n = 9; void other(double *);"


def read(name: str) -> bytes:
    return Path(name).read_bytes()


def program(folder: Path, body: str, top: str = TOP) -> Source:
    return source_in(folder, f"{top}\nint main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n")


# --- mentions ---------------------------------------------------------------------------------------------------------


def test_how_a_buffers_name_is_mentioned(tmp_path: Path) -> None:
    body = "double *b = malloc(8 * n);\nb = malloc(16 * n);\nb[n] = 1;\n*(b + 2) = 2;\nother(&b[3]);\n"
    body += "if (b != NULL) n = 1;\nn = sizeof(b);\nif (b)\nfree(b);"
    found = program(tmp_path, body)
    mentions = mentions_of(found.program).of(found.key("b"))
    assert [m.kind for m in mentions] == ["set", "value", "value", "value", "tested", "size", "tested", "freed"]
    by_line = {m.ref.span.line: m for m in mentions}
    element = by_line[found.line("b[n]")]
    assert element.indexed
    assert [(t.sign, t.unit) for t in element.terms] == [(1, 8)]
    address = by_line[found.line("other(&b")]
    assert address.address is not None
    assert all(m.written for m in mentions)
    assert only_for_free(by_line[found.line("if (b)")], mentions) is not None
    assert only_for_free(by_line[found.line("if (b !=")], mentions) is None
    assert only_for_free(element, mentions) is None


@pytest.mark.parametrize(
    ("text", "deleted"),
    [
        ("if (!(b == NULL)) {\nfree(b); }", "if (!(b == NULL)) "),
        ("if (!!b) { {\nfree(b); b = NULL; } }", "if (!!b) "),
        ("if (!b) goto end;\nfree(b);\nend: n = 1;", "if (!b) goto end;"),
        ("if (b == NULL) { goto end; }\nfree(b); b = NULL;\nend: n = 1;", "if (b == NULL) { goto end; }"),
        ("if (!b)\nfree(b);", None),
        ("if (!(b != NULL)) {\nfree(b); }", None),
        ("if (b) goto end;\nfree(b);\nend: n = 1;", None),
        ("if (!b) goto end;\nfree(b); n = 2;\nend: n = 1;", None),
        ("end: n = 1; if (!b) goto end;\nfree(b);", None),
        ("{ if (!b) goto end; }\nfree(b);\nend: n = 1;", None),
    ],
)
def test_what_keeps_null_from_being_freed(tmp_path: Path, text: str, deleted: str | None) -> None:
    found = program(tmp_path, f"double *b = malloc(8);\n{text}")
    mentions = mentions_of(found.program).of(found.key("b"))
    (tested,) = [m for m in mentions if m.kind == "tested"]
    one = only_for_free(tested, mentions, found.program.functions["main"].body)
    file = found.units[0].path
    assert (None if one is None else read(file)[one.test.span.begin : one.end].decode()) == deleted


def test_functions_that_only_free(tmp_path: Path) -> None:
    found = program(
        tmp_path,
        "double *b = malloc(8); done(b);",
        'static void done(double *p) { if (p) free(p); } static void more(double *p) { free(p); puts("x"); }'
        "static void both(double *p) { done(p); } static void last(double *p) { more(p); }",
    )
    names = {name.rpartition(":")[2] for name in freeing_functions(found.program.functions)}
    assert names == {"free", "done", "both"}


def test_an_assertion_is_edited_where_it_is_called(tmp_path: Path) -> None:
    found = program(tmp_path, "double *b = malloc(8);\nassert(b != NULL);\nfree(b);", "#include <assert.h>")
    mentions = mentions_of(found.program).of(found.key("b"))
    told = asserted(mentions, found.program.files, read)
    line = found.line("assert(b")
    assert all(m.ref.span.editable for m in told if m.ref.span.line == line)
    assert len(told) <= len(mentions)


# --- terms ------------------------------------------------------------------------------------------------------------

PART, INSIDE, SIZE = symbol(1), symbol(2), symbol(3)
WORTH = {"d": PART, "i": INSIDE, "n": SIZE}


def value(e: ast.Expr) -> Poly | None:
    match e:
        case ast.VarRef(var=key):
            return WORTH.get(key)
        case ast.IntLit(value=found):
            return number(found)
        case ast.Cast(operand=inner):
            return value(inner)
        case ast.Binary(op=op, left=left, right=right):
            a, b = value(left), value(right)
            if a is None or b is None:
                return None
            return {"+": a + b, "-": a - b, "*": a * b}.get(op)
        case _:
            return None


def text(e: ast.Expr) -> str:
    match e:
        case ast.VarRef(var=key):
            return key
        case ast.IntLit(value=found):
            return str(found)
        case ast.Cast(operand=inner):
            return text(inner)
        case ast.Binary(op=op, left=left, right=right):
            return f"{text(left)} {op} {text(right)}"
        case _:
            return "?"


def expr(written: str) -> ast.Expr:
    return last(f"int d, i, n, g(void); int f(void) {{ (void)0; return {written}; }}")


def test_sums_and_products_taken_apart() -> None:
    assert [(sign, text(e)) for sign, e in sum_of(expr("d * n + i - 1"), value)] == [(1, "d * n"), (1, "i"), (-1, "1")]
    assert [text(e) for e in factors_of(expr("d * n * 2"), value)] == ["d", "n", "2"]
    assert value_of(expr("7"), {}) == number(7)
    assert value_of(expr("d"), {}) is None
    assert text(uncast(expr("(int)(long)d"), value)) == "d"
    assert product([PART, INSIDE]) == PART * INSIDE
    assert product([PART, None]) is None
    assert pure(expr("d + i"))
    assert not pure(expr("d++"))
    assert calls(expr("d + g()"))
    assert not calls(expr("d + i"))
    assert joined([(1, "a"), (-1, "b")]) == "a - b"
    assert joined([]) == "0"


@pytest.mark.parametrize(
    ("written", "part", "rest"),
    [
        ("d * n + i", "d", "i"),
        ("n + i", "1", "i"),
        ("2 * n + i", "2", "i"),
        ("(d + 1) * n", "d + 1", "0"),
        ("i", None, None),
    ],
)
def test_the_part_in_which_a_place_lies(written: str, part: str | None, rest: str | None) -> None:
    e = expr(written)
    taken = take_all(sum_of(e, value), SIZE, value, text)
    if part is None:
        assert taken is None
        return
    assert taken is not None
    whole = value(e)
    assert whole is not None
    inside = number_value(taken, value) * SIZE
    assert joined(taken.rest) == rest
    assert inside + (INSIDE if rest == "i" else ZERO) == whole, "part times size and rest are the place"
    assert number_text(taken, text).replace("(", "").replace(")", "") == part


def test_a_number_of_elements_in_an_allocations_words() -> None:
    e = expr("n * d")
    known = {id(x): found for x in within(e) if (found := value(x)) is not None}
    assert spelt(SIZE * PART, [e], known, text) == "(size_t)d * n"


# --- where addresses come from ----------------------------------------------------------------------------------------


def test_from_which_mention_an_address_is_made(tmp_path: Path) -> None:
    body = "double *b = malloc(16 * n), *p = b + n;\np[0] = 1;\nb[0] = 2;\n" + SEND.format("p") + "\nfree(b);"
    found = program(tmp_path, body)
    flow = VariableFlow(found.program, [found.key("b")]).run()
    roots = set(flow.roots.values())
    mentioned = {root for root in roots if is_place(root)}
    assert mentioned
    assert flow.made, "p is made of one"
    assert harmless(EFFECTS["memset"], [0])
    assert harmless(EFFECTS["free"], [0])
    assert not harmless(EFFECTS["MPI_Win_create"], [0])


def test_an_address_that_leaves_is_trouble(tmp_path: Path) -> None:
    found = program(tmp_path, "double *b = malloc(16 * n);\nother(b);\n" + SEND.format("b + n") + "\nfree(b);")
    with pytest.raises(Trouble):
        VariableFlow(found.program, [found.key("b")]).run()


def test_accesses_that_stay_inside_their_part(tmp_path: Path) -> None:
    found = program(tmp_path, "for (int i = 0; i < n; i++)\n{\nu[i] = 1;\n}\n" + SEND.format("u"))
    (node, *_) = [n for n in found.program.graph.nodes if isinstance(n.action, ins.Store)]
    assert stays_inside(found.program, node.number, (number(8), number(8)), (ZERO, number(80)))
    assert not stays_inside(found.program, node.number, (number(80), number(8)), (ZERO, number(80)))
    (access,) = found.program.values.accesses.placed(node.number)
    assert access.lo is not None
    symbols = found.program.values.symbols
    k = symbol(symbols.count(found.program.nest.loops[0].number))
    assert prover_at(found.program, node.number, ()).proves(symbols.resolve(access.lo) - k.scaled(8) + number(1))


# --- functions that allocate ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("static void *get(size_t k) { return malloc(k); }", True),
        ("static void *get(size_t k) { void *p = malloc(k); if (!p) exit(1); return p; }", True),
        ("static void *get(size_t k) { return malloc(k + 8); }", False),
        ("static void *get(int k, int m) { return malloc(k); }", False),
        ("static int made; static void *get(size_t k) { made++; return malloc(k); }", False),
    ],
)
def test_functions_that_ask_malloc_for_what_they_are_given(tmp_path: Path, function: str, expected: bool) -> None:
    given = "get(80, 1)" if "int m)" in function else "get(80)"
    found = program(tmp_path, f"double *b = {given};\nb[0] = 1;\nfree(b);", function)
    malloc = ins.AddrFunc("malloc")
    nodes = found.program.graph.nodes
    (n,) = [x.number for x in nodes if isinstance(x.action, ins.CallInstr) and x.action.callee == malloc]
    call = wrapping(found.program, n)
    assert (call is not None) is expected
    if call is not None:
        assert callee_of(call).endswith("get")
        assert allocated(found.program, n) == number(80)


# --- dividing ---------------------------------------------------------------------------------------------------------

HALVES = "for (int i = 0; i < n; i++)\n{{\nb[i] = u[i];\nb[n + i] = u[i] + 1;\n}}\n{}\n{}\n"


def divided(folder: Path, body: str) -> tuple[Source, Division]:
    found = program(folder, body)
    (candidate, *_) = candidates(found.program)
    return found, Dividing(found.program, candidate, read).run()


def test_a_buffer_that_falls_into_two_parts(tmp_path: Path) -> None:
    messages = HALVES.format(SEND.format("b"), SEND.format("b + n"))
    found, division = divided(tmp_path, f"double *b = malloc(2 * n * sizeof(double));\n{messages}free(b);")
    assert division.candidate.key == found.key("b")
    assert division.layout.count == 2
    ((bounds),) = division.layout.bounds.values()
    assert bounds[0] == ZERO
    assert len(bounds) == 3
    edits = Spelling(found.program, division, read).run()
    file = found.units[0].path
    after = apply_edits(read(file), edits[file]).decode()
    assert "b[2]" in after or "(*b" in after or "b[1]" in after
    assert "b[n + i]" not in after


@pytest.mark.parametrize(
    "loop",
    ["for (int i = 0; i < 2 * n; i++)\nb[i] = u[i];", "for (double *p = b; p < b + 2 * n; p++)\n*p = 1;"],
    ids=["by a number", "by a pointer"],
)
def test_a_loop_over_both_parts_keeps_them_together(tmp_path: Path, loop: str) -> None:
    with pytest.raises(Trouble):
        divided(tmp_path, f"double *b = malloc(2 * n * sizeof(double));\n{loop}\n{SEND.format('b + n')}\nfree(b);")


def test_buffers_with_a_message_inside(tmp_path: Path) -> None:
    body = "double *b = malloc(16 * n), *c = malloc(8 * n);\n" + SEND.format("c") + SEND.format("b + n")
    found = program(tmp_path, body)
    assert [c.key for c in candidates(found.program)] == [found.key("b")]


# --- parts with names -------------------------------------------------------------------------------------------------


def test_an_allocation_whose_parts_have_names(tmp_path: Path) -> None:
    loop = "for (int i = 0; i < n; i++)\n{\nb[i] = u[i];\nc[i] = u[i];\n}"
    messages = SEND.format("b") + "\n" + SEND.format("c")
    body = f"double *b = malloc(2 * n * sizeof(double)), *c = b + n;\n{loop}\n{messages}\nfree(b);"
    found = program(tmp_path, body)
    ((naming, *_),) = namings(found.program)
    assert set(naming.names) == {found.key("b"), found.key("c")}
    assert usable(found.program, found.key("b"))
    assert not usable(found.program, found.key("n"))
    assert null(last("void *f(void) { (void)0; return (void *)0; }"))
    division = NamedDividing(found.program, naming, read).run()
    assert division.count == 2
    edits = NamedSpelling(found.program, division, read).run()
    file = found.units[0].path
    after = apply_edits(read(file), edits[file]).decode()
    assert after.count("malloc(") == 2
    assert after.count("free(") == 2


# --- text left out ----------------------------------------------------------------------------------------------------


def test_text_that_is_left_out_and_names_a_part(tmp_path: Path) -> None:
    body = "double *b = malloc(80);\n#if OTHER\nb[0] = 2;\n#endif\n#if 0\nb[1] = 3;\n#endif\nfree(b);"
    found = program(tmp_path, body)
    stops = left_out(found.units, found.program, [found.key("b")], (), False)
    assert [stop.name for stop in stops] == ["b"]
    assert left_out(found.units, found.program, [found.key("n")], (), False) == ()
    with pytest.raises(Trouble):
        left_out(found.units, found.program, [found.key("b")], (), True)
    assert len(nobodys(found.units)) == 1


# --- passages ---------------------------------------------------------------------------------------------------------


def test_a_message_with_the_statements_that_pack_it(tmp_path: Path) -> None:
    body = "int at = 3 * n;\nfor (int i = 0; i < n; i++)\nu[at + i] = i;\n" + SEND.format("&u[at]")
    found = program(tmp_path, body)
    (use,) = found.uses
    told = beginning(use)
    assert told is not None
    assert told[0].var == found.key("u")
    (one, *_) = passages(found.program, [use.place[:3]], [found.units[0].path], read)
    assert one.key == found.key("u")
    assert isinstance(one.first, ast.For)
    assert all(elements(m) for m in one.mentions)
    assert passages(found.program, [], [found.units[0].path], read) == []


@pytest.mark.parametrize(("cond", "expected"), [("0", 1), ("n-- > 3", 0)])
def test_a_message_in_a_body_that_runs_once(tmp_path: Path, cond: str, expected: int) -> None:
    body = f"for (int i = 0; i < n; i++)\nu[n + i] = i;\ndo {{ {SEND.format('&u[n]')} }} while ({cond});"
    found = program(tmp_path, body)
    (use,) = found.uses
    assert len(passages(found.program, [use.place[:3]], [found.units[0].path], read)) == expected


# --- structs ----------------------------------------------------------------------------------------------------------


def test_an_array_in_a_struct_as_a_variable(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++)\nh.out[i] = i;\n" + SEND.format("h.out") + "\nh.k = 1;"
    found = program(tmp_path, body, TOP + "static struct { int k; double out[N]; } h;")
    (use,) = found.uses
    lifted = list(FromStructs(found.program, found.units, read).run(frozenset({use.place[:3]})))
    assert [one.field for one in lifted] == ["out"]
    file = found.units[0].path
    after = apply_edits(read(file), lifted[0].edits[file]).decode()
    assert "h_out[i] = i;" in after
    assert "h.k = 1;" in after
    assert declared(INT, "k") == "int k"


# ``opi_xform.divide.structs.member_flow`` follows them, ``opi_xform.divide.structs.named_text`` has names.
MEMBERS = "static struct { int k; double out[N], next[N]; } h; static void put(double *a, int i) { a[i] = i; }\n"


@pytest.mark.parametrize(
    ("text", "lifted"),
    [
        ("for (int i = 0; i < N; i++) put(h.out, i);", True),
        ("double *p = (&h)->out; for (int i = 0; i < N; i++) *p++ = i;", True),
        ("double *p = h.next; for (int i = 0; i < N; i++) *p++ = i;", True),
        ("for (int i = 0; i <= N; i++) put(h.out, i);", False),
        ("double *p = h.out; for (int i = 0; i < N + n; i++) *p++ = i;", False),
        ("n = h.next - h.out;", False),
        ("other(h.out);", False),
    ],
)
def test_pointers_to_an_array_in_a_struct(tmp_path: Path, text: str, lifted: bool) -> None:
    found = program(tmp_path, f"{text}\n" + SEND.format("h.out"), TOP + MEMBERS)
    (use,) = found.uses
    ways = list(FromStructs(found.program, found.units, read).run(frozenset({use.place[:3]})))
    assert [one.field for one in ways] == (["out"] if lifted else [])


def test_types_without_a_name() -> None:
    assert declared(INT, "k") == "int k"
    assert declared(Type("pointer", "int *", 8, elem=INT), "p").replace(" ", "") == "int*p"


@pytest.mark.parametrize(
    ("set_to", "between", "told"),
    [
        ("n + 2 * i", "", True),
        ("n + 2 * i", "#define i 1", False),  # another thing by that name where the subscript is
        ("(int)u[i]", "", False),  # reads memory
        ("other2(i)", "", False),
    ],
)
def test_what_a_subscripts_variable_was_set_to(set_to: str, between: str, told: bool, tmp_path: Path) -> None:
    body = f"for (int i = 0; i < n; i++) {{\nint at = {set_to};\n{between}\nu[at] = 1;\n}}\n#undef i\n" + SEND.format(
        "u"
    )
    found = program(tmp_path, body, TOP + " int other2(int);")
    graph = found.program.graph
    line = found.line("u[at] = 1;")
    store = next(n for n in graph.nodes if isinstance(n.action, ins.Store) and n.action.span.line == line)
    info = graph.statement(store)
    assert info is not None
    index = next(e for e in inner(info.stmt) if isinstance(e, ast.Index)).index
    sums = NamedSums(found.program, read)
    assert (sums.of(index, info.stmt, store.number, store.frame) is not None) == told


def inner(stmt: ast.Stmt) -> list[ast.Expr]:
    return [e for whole in expressions(stmt) for e in all_within(whole)]


# --- words ------------------------------------------------------------------------------------------------------------


def test_where_a_variable_means_itself(tmp_path: Path) -> None:
    found = program(tmp_path, "{ int inner = 1; n = inner; }\nargc = 2;\n" + SEND.format("u"))
    statement = next(s for s in found.program.functions["main"].body.body if s.span.line == found.line("argc = 2"))
    assert visible(found.program, found.key("n"), "main", statement)
    assert not visible(found.program, found.key("inner"), "main", statement)
