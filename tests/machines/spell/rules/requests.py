"""Requests, statuses, tags, ranks and pairs of messages in the forms that programs keep them in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opi_xform.ir import ast, walk
from tests.machines.spell.rules.declarations import declared_together
from tests.machines.spell.source import MESSAGES, RECEIVES, SENDS, Change, Source, changed, has_effect
from tests.machines.spell.table import rewriting


@rewriting("calls")
def sendrecv_as_two(s: Source) -> Iterator[Change]:
    """``MPI_Sendrecv`` becomes a receive that is started, a send, and a wait."""
    for spot, call in s.calls("MPI_Sendrecv"):
        words = [s.text(arg) for arg in call.args]
        request = s.unused("request")
        receive, send = ", ".join(words[5:11]), ", ".join((*words[:5], words[10]))
        # The mark of the call stands in front of the block, and so in front of both.
        new = f"MPI_Irecv({receive}, &{request}); MPI_Send({send}); MPI_Wait(&{request}, {words[11]});"
        if not has_effect(*call.args):
            yield (s.braced(spot, f"MPI_Request {request};", new),)


@rewriting("calls")
def requests_in_array(s: Source) -> Iterator[Change]:
    """The single requests of a declaration become an array of requests."""
    for found, uses in declared_together(s, "MPI_Request"):
        name = s.unused("requests")
        number = {variable.key: n for n, variable in enumerate(found)}
        own = s.edit(found[0].declarators[0].statement, f"MPI_Request {name}[{len(found)}];")
        edits = [(p.expr, number[p.expr.var]) for p in uses if isinstance(p.expr, ast.VarRef)]
        yield (own, *(s.edit(e, f"{name}[{n}]") for e, n in edits))


def _waited_for(s: Source) -> Iterator[tuple[ast.Stmt, ast.Call, str]]:
    """``MPI_Waitall`` without statuses, and its requests as an operand."""
    for spot, call in s.calls("MPI_Waitall"):
        if s.text(call.args[2]) == "MPI_STATUSES_IGNORE" and not has_effect(*call.args):
            yield spot.stmt, call, s.atom(call.args[1])


@rewriting("calls")
def waitall_as_loop(s: Source) -> Iterator[Change]:
    """``MPI_Waitall`` becomes a loop of ``MPI_Wait``."""
    for stmt, call, requests in _waited_for(s):
        k = s.unused("k")
        one = f"MPI_Wait(&{requests}[{k}], MPI_STATUS_IGNORE);"
        yield (s.edit(stmt, f"for (int {k} = 0; {k} < {s.atom(call.args[0])}; {k}++) {one}"),)


@rewriting("calls")
def waitall_one_by_one(s: Source) -> Iterator[Change]:
    """``MPI_Waitall`` of a few becomes an ``MPI_Wait`` for each."""
    for stmt, call, requests in _waited_for(s):
        count = call.args[0]
        if isinstance(count, ast.IntLit) and 1 <= count.value <= 4:
            waits = (f"MPI_Wait(&{requests}[{k}], MPI_STATUS_IGNORE);" for k in range(count.value))
            yield (s.edit(stmt, f"{{ {' '.join(waits)} }}"),)


@rewriting("calls")
def statuses_given(s: Source) -> Iterator[Change]:
    """``MPI_STATUSES_IGNORE`` becomes an array of statuses."""
    for spot, call in s.calls("MPI_Waitall"):
        count, last = call.args[0], call.args[2]
        if isinstance(count, ast.IntLit) and count.value > 0 and s.text(last) == "MPI_STATUSES_IGNORE":
            name, text = s.unused("statuses"), s.text(spot.stmt)
            at, end = (x - spot.stmt.span.begin for x in (last.span.begin, last.span.end))
            yield (s.braced(spot, f"MPI_Status {name}[{s.text(count)}];", f"{text[:at]}{name}{text[end:]}"),)


@rewriting("calls")
def wait_as_tests(s: Source) -> Iterator[Change]:
    """``MPI_Wait`` becomes ``MPI_Test`` again and again."""
    for spot, call in s.calls("MPI_Wait"):
        done, (request, status) = s.unused("done"), call.args
        if not has_effect(request, status):
            new = f"while (!{done}) MPI_Test({s.text(request)}, &{done}, {s.text(status)});"
            yield (s.braced(spot, f"int {done} = 0;", new),)


TRY = """#define {name}(call) \\
    do {{ \\
        int error = (call); \\
        if (error != MPI_SUCCESS) \\
            return error; \\
    }} while (0)"""


@rewriting("calls")
def result_returned_by_macro(s: Source) -> Iterator[Change]:
    """A call is the argument of a macro that returns its error, where nothing that was started is pending."""
    if re.search("MPI_Isend|MPI_Irecv", "".join(s.texts.values())):
        return
    for spot, call in s.calls(*MESSAGES):
        returned = spot.function.type.elem
        if returned is not None and returned.spelling == "int":
            name = s.unused("TRY")
            yield (s.above(spot.function, TRY.format(name=name)), s.edit(spot.stmt, f"{name}({s.text(call)});"))


def _first_function(s: Source, file: str) -> ast.Function:
    return min((f for f in s.functions if s.file(f.span) == file), key=lambda f: f.span.begin)


@rewriting("calls")
def communicator_in_struct(s: Source) -> Iterator[Change]:
    """The communicator and the count of messages become members of a static struct, which ``main`` sets."""
    for start, init in s.calls("MPI_Init"):
        file = s.file(init.span)
        calls = [call for _, call in s.calls(*SENDS, *RECEIVES) if s.file(call.span) == file]
        communicators = [call.args[5] for call in calls if s.text(call.args[5]) == "MPI_COMM_WORLD"]
        counts = [call.args[1] for call in calls if isinstance(call.args[1], ast.IntLit)]
        if communicators and counts and start.block:
            name, count = s.unused("with"), counts[0].value if isinstance(counts[0], ast.IntLit) else 0
            edits = [s.edit(e, f"{name}.comm") for e in communicators]
            edits += [s.edit(e, f"{name}.count") for e in counts if isinstance(e, ast.IntLit) and e.value == count]
            first = s.above(_first_function(s, file), f"static struct {{ MPI_Comm comm; int count; }} {name};")
            set_first = f" {name}.comm = MPI_COMM_WORLD; {name}.count = {s.text(counts[0])};"
            yield (first, s.after(start.stmt, set_first), *edits)


@rewriting("calls")
def tags_in_table(s: Source) -> Iterator[Change]:
    """The numbers of a file that are tags stand in a table."""
    for file in s.sources:
        tags = [call.args[4] for _, call in s.calls(*SENDS, *RECEIVES) if s.file(call.span) == file]
        numbers = [tag for tag in tags if isinstance(tag, ast.IntLit) and s.text(tag) == str(tag.value)]
        values = sorted({tag.value for tag in numbers})
        if values:
            name = s.unused("tags")
            table = f"static const int {name}[] = {{ {', '.join(map(str, values))} }};"
            edits = (s.edit(tag, f"{name}[{values.index(tag.value)}]") for tag in numbers)
            yield (s.above(_first_function(s, file), table), *edits)


@rewriting("calls")
def others_in_table(s: Source) -> Iterator[Change]:
    """Whom a message goes to, and whom the next one comes from, stand in a local table first."""
    found = {id(spot.stmt): call for spot, call in s.calls(*SENDS, *RECEIVES)}
    for spot in s.spots:
        following = spot.following[:1]
        if id(spot.stmt) not in found or not following or id(following[0]) not in found:
            continue
        ones = [found[id(stmt)].args[3] for stmt in (spot.stmt, *following)]
        parts = [e for one in ones for e in walk.within(one)]
        plain = all(isinstance(e, (ast.VarRef, ast.Binary, ast.IntLit)) for e in parts)
        touched = changed(spot.stmt, spot.function)
        if plain and not any(isinstance(e, ast.VarRef) and e.var in touched for e in parts):
            name = s.unused("others")
            first = s.before(spot.stmt, f"{{ const int {name}[2] = {{ {', '.join(s.text(e) for e in ones)} }}; ")
            edits = (s.edit(e, f"{name}[{n}]") for n, e in enumerate(ones))
            yield (first, *edits, s.after(following[0], " }"))
