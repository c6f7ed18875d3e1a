"""Requests, statuses and pairs of messages in the forms that programs keep them in."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast
from tests.machines.spell.rules.declarations import declared_together
from tests.machines.spell.source import Change, Source, has_effect
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
