"""Reasons that are found in the program's text: datatypes, threads, calls not reached, statements that could move."""

from __future__ import annotations

import ownership_support
import pytest
from ownership_support import Source, source

from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.datatypes import in_one_block, layout_refusal
from opi_xform.ownership.explain.movable import movable, roots
from opi_xform.ownership.explain.other_memory import elsewhere_of
from opi_xform.ownership.explain.part_reasons import inside_refusal
from opi_xform.ownership.explain.reaching.other_threads import started
from opi_xform.ownership.explain.unreached import Unreached
from opi_xform.ownership.model.buffers import Refusal, Use
from opi_xform.ownership.model.lines import told
from opi_xform.ownership.model.object_index import index_of

MORE = """
int MPI_Type_vector(int, int, int, MPI_Datatype, MPI_Datatype *);
int MPI_Type_contiguous(int, MPI_Datatype, MPI_Datatype *);
int MPI_Type_commit(MPI_Datatype *);
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
"""
SEND = "MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"


@pytest.fixture(autouse=True)
def header(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what makes datatypes and threads."""
    monkeypatch.setattr(ownership_support, "HEADER", ownership_support.HEADER + MORE)


def main(body: str, top: str = "") -> str:
    return f"static double b[N], v[N];\n{top}\nint main(int argc, char **argv)\n{{\n{body}\nreturn 0;\n}}\n"


def words(found: Source, refusal: Refusal | None) -> str:
    """A message as it is read of a call in the program's first file."""
    return "" if refusal is None else told(refusal.message, found.units[0].path)


# --- datatypes --------------------------------------------------------------------------------------------------------

VECTOR = "MPI_Type_vector(4, 1, argc, MPI_DOUBLE, &{}); // VECTOR"
SENT = "MPI_Send(b, 1, {}, 1, 7, MPI_COMM_WORLD);"


@pytest.mark.parametrize(
    ("body", "top"),
    [
        (f"MPI_Datatype t;\n{VECTOR.format('t')}\n{SENT.format('t')}", ""),
        (f"MPI_Datatype t, u;\n{VECTOR.format('t')}\nu = t;\n{SENT.format('u')}", ""),  # through a variable
        (f"MPI_Datatype t[3];\n{VECTOR.format('t[1]')}\n{SENT.format('t[1]')}", ""),
        (f"{VECTOR.format('s.column')}\n{SENT.format('s.column')}", "static struct { MPI_Datatype column; } s;"),
        (  # a function makes it for its caller
            f"MPI_Datatype t;\nmake(&t, argc);\n{SENT.format('t')}",
            f"static void make(MPI_Datatype *p, int argc) {{\n{VECTOR.format('(*p)').replace('&(*p)', 'p')}\n}}",
        ),
        (  # it is the result of a function
            SENT.format("make(argc)"),
            f"static MPI_Datatype make(int argc) {{ MPI_Datatype t;\n{VECTOR.format('t')}\nreturn t; }}",
        ),
        (  # the caller of the function that sends makes it
            f"MPI_Datatype t;\n{VECTOR.format('t')}\ngive(t);",
            f"static void give(MPI_Datatype d) {{ {SENT.format('d')} }}",
        ),
    ],
)
def test_the_call_that_makes_a_datatype_is_told(body: str, top: str) -> None:
    found = source(main(body, top))
    refusal = layout_refusal(found.program, found.uses[0])
    line = found.line("// VECTOR")
    assert f"it is made by `MPI_Type_vector` at line {line}" in words(found, refusal)
    assert [(span.line, what) for span, what in refusal.notes] == [(line, "made here")]


def test_each_call_that_may_have_made_it_is_told() -> None:
    other = "MPI_Type_contiguous(argc, MPI_DOUBLE, &t); // OTHER"
    found = source(main(f"MPI_Datatype t;\nif (argc > 2)\n{VECTOR.format('t')}\nelse\n{other}\n{SENT.format('t')}"))
    message = words(found, layout_refusal(found.program, found.uses[0]))
    first, second = found.line("// VECTOR"), found.line("// OTHER")
    assert message.endswith(f"`MPI_Type_vector` at line {first} or `MPI_Type_contiguous` at line {second}")


def test_of_a_datatype_that_nothing_here_makes_no_line_is_told() -> None:
    found = source(main(SENT.format("known"), "extern MPI_Datatype known;"))
    assert layout_refusal(found.program, found.uses[0]).notes == ()


@pytest.mark.parametrize(("blocks", "one"), [("1", True), ("2", False), ("argc", False)])
def test_a_vector_of_one_block(blocks: str, one: bool) -> None:
    """It has no gaps, whatever its stride is: only its length is told of."""
    made = f"MPI_Type_vector({blocks}, 4, argc, MPI_DOUBLE, &t);"
    found = source(main(f"MPI_Datatype t;\n{made}\n{SENT.format('t')}"))
    assert in_one_block(found.program, found.uses[0]) is one
    assert ("could not show how long" in words(found, layout_refusal(found.program, found.uses[0]))) is one


# --- threads ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "named"),
    [
        ("static void *work(void *p) { b[1] = 2; return p; }", True),
        ("static void deep(void) { v[0] = b[3]; }\nstatic void *work(void *p) { deep(); return p; }", True),
        ("static void *work(void *p) { v[1] = 2; return p; }", False),
        (
            "static void deep(void) { b[3] = 1; }\nstatic void *work(void *p) { v[1] = 2; return p; }",
            False,
        ),  # not called
    ],
)
def test_a_variable_that_a_thread_names(function: str, named: bool) -> None:
    body = (
        "pthread_t t;\npthread_create(&t, NULL, work, NULL); // HERE\nMPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
    )
    found = source(main(body, function))
    refusal = started(found.program, found.key("b"))
    wanted = f"`b` is used in `work`, which line {found.line('// HERE')} starts beside the rest of the program"
    assert words(found, refusal) == (wanted if named else "")


def test_a_variable_of_a_function_is_named_by_no_other() -> None:
    work = "static void *work(void *p) { double own[9]; own[1] = 2; return p + (own[1] > 1); }"
    found = source(main("pthread_t t; pthread_create(&t, NULL, work, NULL);", work))
    assert started(found.program, found.key("own")) is None


# --- places inside a buffer -------------------------------------------------------------------------------------------

GRID = "static double g[4][N];"
ROW = "MPI_Send(g[{}], N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"


def inside(body: str, top: str = "", name: str = "") -> str:
    """What is said of the last call that passes a buffer."""
    found = source(main(body, top))
    buffer = found.buffers[name]
    use: Use = max(buffer.uses, key=lambda u: u.node)
    return words(found, inside_refusal(found.program, buffer, use)).replace(
        f"line {found.line('// HERE')}", "line HERE"
    )


HERE = "\n// HERE"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "MPI_Send(b + argc, 9, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);",
            "the call begins inside `b`, at a place that the program computes; a message needs a buffer of its own",
        ),
        (
            "for (int i = 0; i < 9; i++) MPI_Send(b + 9 * i, 9, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);",
            "the call begins inside `b`, at another place in each turn of a loop; a message needs a buffer of its own",
        ),
        (
            "MPI_Send(b + 3, 9, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);",
            "the call names a place 24 bytes inside `b`, whose beginning no message has; "
            "it would need a buffer of its own",
        ),
        (
            "MPI_Send(b, 9, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);\nMPI_Send(b + 9, 9, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);",
            "the messages of `b` begin at its bytes 0, 72, in parts of one buffer; "
            "each part would need a buffer of its own",
        ),
        (
            "MPI_Send(b, 9, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);\nMPI_Send(b + 9, 9, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);\n"
            "memcpy(v, b + 8, 16); // HERE",
            "`b` has a message at its byte 72, and line HERE may touch bytes on both sides of that",
        ),
    ],
)
def test_a_message_that_begins_inside_an_array(body: str, message: str) -> None:
    assert inside(body + HERE, name="b") == message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f"{ROW.format(1)}\nv[0] = g[2][argc > 2 ? 7 : 8]; // HERE",
            "the call names one row of `g`, and row 0 (of 3) is no message's buffer by itself; "
            "what is sent would need an array of its own",
        ),
        (
            f"{ROW.format(1)}\nmemcpy(v, g[2] + 90, 160); // HERE",
            "the call names one row of `g`, and line HERE touches 880 bytes from the beginning of a row of 800",
        ),
        (
            f"{ROW.format(1)}\nmemcpy(v, (char *)g + argc, 160); // HERE",
            "the call names one row of `g`, and line HERE touches it other than by one of its rows",
        ),
    ],
)
def test_a_message_of_a_row(body: str, message: str) -> None:
    assert inside(body + HERE, GRID, "g") == message


# --- calls that are not reached ---------------------------------------------------------------------------------------

PUT = "static void put(void) { MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); }"


@pytest.mark.parametrize(
    ("body", "top", "message"),
    [
        ("", PUT, "the call is not reached from main: nothing calls `put`"),
        (
            "",
            f"{PUT}\nstatic void all(void) {{ put(); }}",
            "the call is not reached from main: nothing calls `all`, which leads to it",
        ),
        (
            "return 0;\nput(); // HERE",
            PUT,
            "the call is not reached from main: the program never comes to the call of `put` at line HERE",
        ),
        (
            "solve(put); // HERE",
            f"{PUT}\nint solve(void (*)(void));",
            "`put`, which leads to the call, is given to `solve`, of which nothing is known",
        ),
        (
            "put();",
            "static void put(void) { return; MPI_Send(b, N, 0, 1, 7, 0); }",
            "the program never comes to the call",
        ),
    ],
)
def test_what_stands_between_a_call_and_main(body: str, top: str, message: str) -> None:
    found = source(main(body + HERE, top))
    (key,) = (k for k, f in found.program.functions.items() if f.name == "put")
    refusal = Unreached(found.program).refusal(key)
    assert words(found, refusal).replace(f"line {found.line('// HERE')}", "line HERE") == message


def test_what_leads_to_a_function_the_nearest_first() -> None:
    top = f"{PUT}\nstatic void one(void) {{ put(); }}\nstatic void two(void) {{ one(); }}\nstatic void no(void) {{ }}"
    found = source(main("two(); no();", top))
    names = {k: f.name for k, f in found.program.functions.items()}
    (key,) = (k for k, name in names.items() if name == "put")
    steps = Unreached(found.program).above(key)
    assert [(names[k], n) for k, n in steps.items()] == [("put", 0), ("one", 1), ("two", 2), ("main", 3)]


# --- statements that could stand before the send ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behind", "could"),
    [
        ("v[0] = b[3]; // READ", True),
        ("argc = 7;\nv[0] = b[3]; // READ", True),
        ("v[0] = 7;\nv[0] = b[3]; // READ", False),  # what it sets is set between the two
        ("argc = 7;\nv[argc] = b[3]; // READ", False),  # what it uses
        ("argc = v[0];\nv[0] = b[3]; // READ", False),  # what it sets is used between the two
        ("double w = 2;\nv[0] = w * b[3]; // READ", False),  # declared between the two
        ('puts("a");\nv[0] = b[3]; // READ', True),
        ('puts("a");\nprintf("%g", b[3]); // READ', False),  # what is printed keeps its order
        ("if (argc > 2) v[0] = b[3]; // READ", True),
        ("if (argc > 2) goto out; v[0] = b[3]; // READ\nout: ;", True),
        ("if (argc > 2) { v[0] = b[3]; /* READ */ // READ\nreturn 1; }", False),  # it leaves
        ("other();\nv[0] = b[3]; // READ", False),  # what is global may be changed there
        ("other();\nargc = b[3]; // READ", False),  # b is global itself
        ("v[1] = 2;\nother_reads(b[3]); // READ", False),  # a function may read what is global
        ("int own = 1;\nargc = own;\nother_reads(b[3]); // READ", True),
        ("return b[3] > 0; // READ", True),  # the read of what is returned
    ],
)
def test_a_read_that_could_stand_before_the_send(behind: str, could: bool) -> None:
    found = source(main(f"{SEND}\n{behind}", "void other(void); void other_reads(double);"))
    (use,) = found.uses
    line = found.line("// READ")
    nodes = found.program.graph.nodes
    (table,) = (o.number for o in found.program.values.objects.table if o.variable == found.key("b"))
    accesses = sorted(index_of(found.program).accesses.of(table))
    reader = next(n for n in accesses if n > use.node and node_span(found.program, n).line == line)
    assert nodes[reader].frame == nodes[use.node].frame
    assert movable(found.program, use, reader, ()) is could
    assert not movable(found.program, use, reader, [reader])  # what writes the message stays behind it


def test_the_variables_by_which_a_place_is_written() -> None:
    found = source(main("MPI_Send(&b[argc] + 1, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"))
    assert roots(found.uses[0].call.args[0]) == {found.key("b"), found.key("argc")}


# --- other memory -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passed", "set_inside", "called"),
    [("plus", "", ["plus"]), ("minus", "", ["minus"]), ("plus", "if (k > 9) f = minus;", ["minus", "plus"])],
)
def test_functions_that_a_pointer_may_be_by_what_calls_pass(passed: str, set_inside: str, called: list[str]) -> None:
    """`apply` calls what it is passed, through another function; what sets the parameter may make it any."""
    top = "static double plus(double a) { return v[0] + a; }\nstatic double minus(double a) { return v[1] - a; }\n"
    top += f"static double apply(double (*f)(double), int k) {{ {set_inside} return (*f)(k); }}\n"
    top += "static double twice(double (*g)(double), int k) { return apply(g, k) + apply(g, 2 * k); }\n"
    other = "minus" if passed == "plus" else "plus"
    body = f"v[2] = twice({passed}, argc) + (argc > 2 ? {other} : {passed})(argc);\n{SEND}"
    program = source(main(body, top)).program
    here = elsewhere_of(program)
    graph = program.graph
    functions = [program.functions[f.function].name if f.function else "" for f in graph.frames]
    inner = [n.number for n in graph.nodes if functions[n.frame] in ("plus", "minus")]
    inner = [n for n in inner if functions[graph.frames[graph.nodes[n].frame].parent] == "apply"]
    kept = {functions[graph.nodes[n].frame] for n in inner if not here.never_called(n)}
    assert kept == set(called)


def test_a_loop_in_which_the_functions_of_a_library_are_called_is_none_of_its_text() -> None:
    text = f"static double b[N], v[N];\nvoid given(void)\n{{\n{SEND}\nfor (int i = 0; i < 3; i++)\n{SEND}\n}}\n"
    found = source(text)
    here = elsewhere_of(found.program)
    assert [len(here.loops(use.node)) for use in found.uses] == [0, 1]
    assert len({here.entry(use.node) for use in found.uses}) == 1
