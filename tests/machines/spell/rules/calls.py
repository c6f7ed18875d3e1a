"""Calls of messages with their result, their status, their communicator and their waiting in other forms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opi_xform.ir import ast, walk
from tests.machines.spell.source import MESSAGES, SENDS, Change, Edit, Source, Spot, has_effect
from tests.machines.spell.table import rewriting

CHECKED = """#define {name}(call) \\
    do {{ \\
        int error = (call); \\
        if (error != MPI_SUCCESS) \\
            MPI_Abort(MPI_COMM_WORLD, error); \\
    }} while (0)"""
ALL = (*MESSAGES, "MPI_Wait", "MPI_Waitall")


def _calls(s: Source) -> Iterator[tuple[Spot, ast.Call, str]]:
    """Messages and their completions, each with its text."""
    for spot, call in s.calls(*ALL):
        yield spot, call, s.text(call)


@rewriting("calls")
def result_checked(s: Source) -> Iterator[Change]:
    """The result of a call is compared, and the program aborts where it is an error."""
    for spot, _, text in _calls(s):
        yield (s.conditional(spot, f"if ({text} != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);"),)


@rewriting("calls")
def result_kept(s: Source) -> Iterator[Change]:
    """The result of a call is a local, which is looked at."""
    for spot, _, text in _calls(s):
        name = s.unused("error")
        yield (s.edit(spot.stmt, f"{{ int {name} = {text}; if ({name}) MPI_Abort(MPI_COMM_WORLD, {name}); }}"),)


@rewriting("calls")
def result_returned(s: Source) -> Iterator[Change]:
    """The function ends early where a call gives an error, and nothing that it started is pending."""
    for spot, _, text in _calls(s):
        returned = spot.function.type.elem
        if re.search("MPI_Isend|MPI_Irecv", "".join(s.texts.values())):
            continue
        if returned is not None and returned.spelling in ("int", "void"):
            end = "return 1;" if returned.spelling == "int" else "return;"
            yield (s.conditional(spot, f"if ({text} != MPI_SUCCESS) {end}"),)


@rewriting("calls")
def result_dropped(s: Source) -> Iterator[Change]:
    """``f(…);`` becomes ``(void)f(…);``."""
    for spot, _, text in _calls(s):
        yield (s.edit(spot.stmt, f"(void){text};"),)


@rewriting("calls")
def call_in_check(s: Source) -> Iterator[Change]:
    """A call is the argument of a macro that checks its result."""
    for spot, _, text in _calls(s):
        name = s.unused("CHECK")
        yield (s.above(spot.function, CHECKED.format(name=name)), s.edit(spot.stmt, f"{name}({text});"))


@rewriting("calls")
def call_timed(s: Source) -> Iterator[Change]:
    """The time that a call takes is added up."""
    for spot, _, text in _calls(s):
        name = s.unused("seconds")
        new = f"{{ double begin = MPI_Wtime(); {text}; {name} += MPI_Wtime() - begin; }}"
        yield (s.above(spot.function, f"static double {name};"), s.edit(spot.stmt, new))


@rewriting("calls")
def call_timed_by_sums(s: Source) -> Iterator[Change]:
    """The time before a call is taken from a sum, and the time after it is added."""
    for spot, _, text in _calls(s):
        name = s.unused("seconds")
        new = f"{{ {name} -= MPI_Wtime(); {text}; {name} += MPI_Wtime(); }}"
        yield (s.above(spot.function, f"static double {name};"), s.edit(spot.stmt, new))


@rewriting("calls")
def started_when_warm(s: Source) -> Iterator[Change]:
    """In the turn 1 of a loop with messages a clock is started."""
    for spot in s.of(ast.For):
        assert isinstance(spot.stmt, ast.For)
        body, init = spot.stmt.body, spot.stmt.init
        if isinstance(init, ast.DeclStmt) and len(init.variables) == 1 and isinstance(body, ast.Block) and body.body:
            counter = s.variables[init.variables[0]]
            if counter.type.kind == "int" and "MPI_" in s.text(body) and s.may_edit(body.body[0]):
                name = s.unused("start")
                first = f"if ({counter.name} == 1) {name} = MPI_Wtime(); "
                yield (s.above(spot.function, f"static double {name};"), s.before(body.body[0], first))


@rewriting("calls")
def call_on_lines(s: Source) -> Iterator[Change]:
    """Each argument of a call stands on a line of its own."""
    for spot, call, text in _calls(s):
        new = text
        for arg in reversed(call.args):
            at = arg.span.begin - call.span.begin
            new = new[:at] + "\n        " + new[at:]
        yield (s.edit(spot.stmt, new + ";"),)


@rewriting("calls")
def status_given(s: Source) -> Iterator[Change]:
    """``MPI_STATUS_IGNORE`` becomes the address of a local."""
    for spot, call in s.calls("MPI_Recv", "MPI_Sendrecv", "MPI_Wait"):
        last = call.args[-1]
        if s.text(last) == "MPI_STATUS_IGNORE":
            text, at = s.text(spot.stmt), last.span.begin - spot.stmt.span.begin
            new = text[:at] + "&status" + text[last.span.end - spot.stmt.span.begin :]
            yield (s.braced(spot, "MPI_Status status;", new),)


@rewriting("calls")
def communicator_local(s: Source) -> Iterator[Change]:
    """``MPI_COMM_WORLD`` becomes a local of the function."""
    for function in s.functions:
        uses = [p.expr for p in s.places if p.spot.function is function and s.text(p.expr) == "MPI_COMM_WORLD"]
        if uses:
            name, at = s.unused("comm"), function.body.span
            first = Edit(s.file(at), at.begin + 1, at.begin + 1, f" MPI_Comm {name} = MPI_COMM_WORLD;")
            yield (first, *(s.edit(use, name) for use in uses))


@rewriting("calls")
def communicator_global(s: Source) -> Iterator[Change]:
    """``MPI_COMM_WORLD`` becomes a static variable that ``main`` sets."""
    for call_spot, call in s.calls("MPI_Init"):
        uses = [
            p.expr
            for p in s.places
            if s.text(p.expr) == "MPI_COMM_WORLD"
            and isinstance(p.parent, ast.Call)
            and isinstance(p.parent.callee, ast.FuncRef)
            and p.parent.callee.name in ALL
            and s.file(p.expr.span) == s.file(call.span)
        ]
        firsts = [f for f in s.functions if s.file(f.span) == s.file(call.span)]
        if uses:
            name = s.unused("world")
            first = min(firsts, key=lambda f: f.span.begin)
            yield (
                s.above(first, f"static MPI_Comm {name};"),
                s.after(call_spot.stmt, f" {name} = MPI_COMM_WORLD;"),
                *(s.edit(use, name) for use in uses),
            )


@rewriting("calls")
def communicator_macro(s: Source) -> Iterator[Change]:
    """``MPI_COMM_WORLD`` becomes a macro."""
    for spot, call in s.calls(*MESSAGES):
        for arg in call.args:
            if s.text(arg) == "MPI_COMM_WORLD":
                name = s.unused("WORLD")
                yield (s.above(spot.function, f"#define {name} MPI_COMM_WORLD"), s.edit(arg, name))


@rewriting("calls")
def type_in_macro(s: Source) -> Iterator[Change]:
    """``MPI_DOUBLE`` becomes a macro."""
    for spot, call in s.calls(*MESSAGES):
        if s.text(call.args[2]) == "MPI_DOUBLE":
            name = s.unused("REAL")
            yield (s.above(spot.function, f"#define {name} MPI_DOUBLE"), s.edit(call.args[2], name))


@rewriting("calls")
def type_in_local(s: Source) -> Iterator[Change]:
    """``MPI_DOUBLE`` becomes a local of the function."""
    for spot, call in s.calls(*MESSAGES):
        if s.text(call.args[2]) == "MPI_DOUBLE":
            name, text = s.unused("type"), s.text(spot.stmt)
            at, end = (x - spot.stmt.span.begin for x in (call.args[2].span.begin, call.args[2].span.end))
            yield (s.braced(spot, f"MPI_Datatype {name} = MPI_DOUBLE;", f"{text[:at]}{name}{text[end:]}"),)


@rewriting("calls")
def tag_in_enum(s: Source) -> Iterator[Change]:
    """The number of a tag becomes an enumerator."""
    for spot, call in s.calls(*SENDS, "MPI_Recv", "MPI_Irecv"):
        tag = call.args[4]
        if isinstance(tag, ast.IntLit) and s.text(tag) == str(tag.value):
            name = s.unused("TAG")
            yield (s.above(spot.function, f"enum {{ {name} = {tag.value} }};"), s.edit(tag, name))


@rewriting("calls")
def wait_as_waitall(s: Source) -> Iterator[Change]:
    """``MPI_Wait`` of one request becomes ``MPI_Waitall`` of one."""
    for spot, call in s.calls("MPI_Wait"):
        if s.text(call.args[1]) == "MPI_STATUS_IGNORE":
            yield (s.edit(spot.stmt, f"MPI_Waitall(1, {s.text(call.args[0])}, MPI_STATUSES_IGNORE);"),)


@rewriting("calls")
def send_started_and_waited_for(s: Source) -> Iterator[Change]:
    """``MPI_Send`` becomes ``MPI_Isend`` and ``MPI_Wait``."""
    for spot, call in s.calls("MPI_Send"):
        name = s.unused("request")
        args = ", ".join(s.text(arg) for arg in call.args)
        new = f"{{ MPI_Request {name}; MPI_Isend({args}, &{name}); MPI_Wait(&{name}, MPI_STATUS_IGNORE); }}"
        yield (s.edit(spot.stmt, new),)


@rewriting("calls")
def receive_started_and_waited_for(s: Source) -> Iterator[Change]:
    """``MPI_Recv`` becomes ``MPI_Irecv`` and ``MPI_Wait``."""
    for spot, call in s.calls("MPI_Recv"):
        name = s.unused("request")
        args = ", ".join(s.text(arg) for arg in call.args[:6])
        new = f"{{ MPI_Request {name}; MPI_Irecv({args}, &{name}); MPI_Wait(&{name}, {s.text(call.args[6])}); }}"
        yield (s.edit(spot.stmt, new),)


@rewriting("calls")
def result_counted(s: Source) -> Iterator[Change]:
    """A static variable counts the calls that give an error."""
    for spot, _, text in _calls(s):
        name = s.unused("errors")
        first = s.above(spot.function, f"static int {name};")
        yield (first, s.edit(spot.stmt, f"{name} += {text} != MPI_SUCCESS;"))


@rewriting("calls")
def guarded_by_proc_null(s: Source) -> Iterator[Change]:
    """A send or receive, which does nothing for ``MPI_PROC_NULL``, stands under ``if (other != MPI_PROC_NULL)``."""
    for spot, call in s.calls("MPI_Send", "MPI_Ssend", "MPI_Recv"):
        other = call.args[3]
        status = s.text(call.args[-1]) if len(call.args) == 7 else "MPI_STATUS_IGNORE"
        named = isinstance(other, (ast.VarRef, ast.Member, ast.Index))  # nobody asks it of a number, or of a sum
        if status == "MPI_STATUS_IGNORE" and not has_effect(*call.args) and named:
            yield (s.conditional(spot, f"if ({s.text(other)} != MPI_PROC_NULL) {s.marked(spot.stmt)}"),)


@rewriting("calls")
def sent_as_bytes(s: Source) -> Iterator[Change]:
    """All messages of a program of ``MPI_DOUBLE`` become messages of ``MPI_BYTE``."""
    whole = "".join(s.texts.values())
    known = (*SENDS, "MPI_Recv", "MPI_Irecv")
    calls = [call for _, call in s.calls(*known) if s.text(call.args[2]) == "MPI_DOUBLE"]
    if calls and len(calls) == len(re.findall(r"\bMPI_DOUBLE\b", whole)):
        pairs = [(call.args[1], call.args[2]) for call in calls]
        yield tuple(
            edit
            for count, type_ in pairs
            for edit in (s.edit(count, f"(int)({s.atom(count)} * sizeof(double))"), s.edit(type_, "MPI_BYTE"))
        )


@rewriting("calls")
def other_by_function(s: Source) -> Iterator[Change]:
    """Whom a message goes to or comes from is the result of a function of the rank."""
    for spot, call in s.calls(*SENDS, "MPI_Recv", "MPI_Irecv"):
        other = call.args[3]
        keys = sorted({e.var for e in walk.within(other) if isinstance(e, ast.VarRef)})
        parts = all(isinstance(e, (ast.VarRef, ast.Binary, ast.IntLit)) for e in walk.within(other))
        ints = [s.variables[key] for key in keys if key in s.variables and s.variables[key].type.spelling == "int"]
        if parts and keys and len(ints) == len(keys) and "MPI_" not in s.text(other):
            name = s.unused("neighbour")
            head = f"static int {name}({', '.join(f'int {v.name}' for v in ints)})"
            first = s.above(spot.function, f"{head}\n{{\n    return {s.text(other)};\n}}")
            yield (first, s.edit(other, f"{name}({', '.join(v.name for v in ints)})"))


def _plain_tags(s: Source) -> Iterator[tuple[Spot, ast.IntLit]]:
    """The numbers that are tags."""
    for spot, call in s.calls(*SENDS, "MPI_Recv", "MPI_Irecv"):
        tag = call.args[4]
        if isinstance(tag, ast.IntLit) and s.text(tag) == str(tag.value):
            yield spot, tag


@rewriting("calls")
def tag_in_macro(s: Source) -> Iterator[Change]:
    """The number of a tag becomes a macro."""
    for spot, tag in _plain_tags(s):
        name = s.unused("TAG")
        yield (s.above(spot.function, f"#define {name} {tag.value}"), s.edit(tag, name))


@rewriting("calls")
def tag_in_constant(s: Source) -> Iterator[Change]:
    """The number of a tag becomes a static constant."""
    for spot, tag in _plain_tags(s):
        name = s.unused("tag")
        yield (s.above(spot.function, f"static const int {name} = {tag.value};"), s.edit(tag, name))


@rewriting("calls")
def started_with_threads(s: Source) -> Iterator[Change]:
    """``MPI_Init`` becomes ``MPI_Init_thread``, with no more than it gives."""
    for spot, call in s.calls("MPI_Init"):
        name = s.unused("provided")
        words = ", ".join(s.text(arg) for arg in call.args)
        new = f"MPI_Init_thread({words}, MPI_THREAD_SINGLE, &{name});"
        if spot.block:
            yield (s.edit(spot.stmt, f"int {name}; {new}"),)


@rewriting("calls")
def communicator_duplicated(s: Source) -> Iterator[Change]:
    """All calls of a program use a duplicate of ``MPI_COMM_WORLD`` that ``main`` makes first."""
    for spot, call in s.calls("MPI_Init"):
        uses = [p.expr for p in s.places if s.text(p.expr) == "MPI_COMM_WORLD"]
        text = s.texts[s.file(call.span)]
        if len(s.texts) > 1 or not uses or len(uses) != len(re.findall(r"\bMPI_COMM_WORLD\b", text)):
            continue
        name, first = s.unused("world"), min(s.functions, key=lambda f: f.span.begin)
        if spot.block and min(use.span.begin for use in uses) > first.span.begin:
            make = f" MPI_Comm_dup(MPI_COMM_WORLD, &{name});"
            edits = (s.edit(use, name) for use in uses)
            yield (s.above(first, f"static MPI_Comm {name};"), s.after(spot.stmt, make), *edits)


@rewriting("calls")
def rank_by_function(s: Source) -> Iterator[Change]:
    """``MPI_Comm_rank(MPI_COMM_WORLD, &rank);`` becomes ``rank = my_rank();``."""
    for spot, call in s.calls("MPI_Comm_rank", "MPI_Comm_size"):
        match call.args[1], call.callee:
            case ast.AddrOf(operand=ast.VarRef() as ref), ast.FuncRef(name=asked) if s.may_edit(ref):
                if ref.type.spelling == "int" and s.text(call.args[0]) == "MPI_COMM_WORLD":
                    name = s.unused("mine")
                    ask = f"    int found;\n    {asked}(MPI_COMM_WORLD, &found);\n    return found;"
                    helper = f"static int {name}(void)\n{{\n{ask}\n}}"
                    yield (s.above(spot.function, helper), s.edit(spot.stmt, f"{s.text(ref)} = {name}();"))
            case _:
                pass
