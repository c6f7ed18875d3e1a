"""What the same text is elsewhere: under an ``#if`` that is false here, and in the other files that include a header.

A function in a header is one text and as many functions as files include it, each with its own static variables.  An
edit is made in all of them, so all of them must want it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements, within, within_statement
from opi_xform.once import once, once_each
from opi_xform.ownership.model.addresses import AddressFlow
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Refusal
from opi_xform.ownership.model.plan import Edit, InsertStatement, LinkName, PointerDeclaration, ReplaceCall, StopOthers
from opi_xform.ownership.spelling.mentioned import Index, mentions_of

LEFT_OUT = "A6"
"""Text that the preprocessor leaves out stays left out; an ``#error`` sees to it."""


def left_out(units: Sequence[ast.Unit], flow: AddressFlow, strict: bool) -> Refusal | tuple[StopOthers, ...]:
    """Code under a false ``#if`` that names the buffer, or a pointer into it: there it may be used after the message.

    What keeps other configurations from compiling it; a refusal where that cannot be had, or is not wished.
    """
    out: dict[StopOthers, None] = {}
    program = flow.program
    words = frozenset().union(*(skipped.identifiers for unit in units for skipped in unit.skipped))
    names, index = [*_names(flow), *_using(program, flow.buffer, words)], mentions_of(units)
    for unit in units:
        for skipped in unit.skipped:
            for name, variable, said in names:
                if name not in skipped.identifiers or not means(unit, program, skipped, name, variable):
                    continue
                if strict or not skipped.own or not everywhere(index, skipped.span, name):
                    note = (skipped.span, "this text is left out here, and another configuration compiles it")
                    return Refusal(Reason.OUTSIDE, f"code under a false #if names {said}", (note,))
                out[StopOthers(skipped.span, name)] = None
    return tuple(out)


def naming(index: Index, name: str) -> tuple[StopOthers, ...] | None:
    """Code under a false ``#if`` that names a function, and what keeps other configurations from compiling it; None
    where that cannot be had.
    """
    found = [s for unit in index.units for s in unit.skipped if name in s.identifiers]
    if not all(s.own and everywhere(index, s.span, name) for s in found):
        return None
    return tuple(dict.fromkeys(StopOthers(s.span, name) for s in found))


def _names(flow: AddressFlow) -> Iterator[tuple[str, str, str]]:
    """Names by which text reaches the buffer: each with the variable's key ('': a member's) and what is said of it."""
    program, buffer = flow.program, flow.buffer
    member = program.members.get(buffer.carrier.variable)
    for key in (buffer.carrier.variable,) if member is None else member.named:
        name = program.variables[key].name
        yield name, key, f"`{name}`"
    if member is not None:
        for field in dict.fromkeys(e.field for _, e in member.exprs if isinstance(e, ast.Member)):
            yield field, "", f"`{field}`"
        for key in dict.fromkeys(root(e) for _, e in member.exprs):
            if key and key in program.variables:
                yield program.variables[key].name, key, f"`{program.variables[key].name}`"
    table = program.values.objects.table
    for kind, o, _ in flow.holding:
        variable = program.variables.get(table[o].variable or "") if kind == "v" else None
        if variable is not None:
            yield variable.name, variable.key, f"`{variable.name}`, which points into `{buffer.name}`"


def root(e: ast.Expr) -> str:
    """The pointer that an lvalue which is no member begins with (of ``*p``), by its key; '' when there is none."""
    while isinstance(e, (ast.Deref, ast.Cast, ast.Index)):
        e = e.base if isinstance(e, ast.Index) else e.operand
    return e.var if isinstance(e, ast.VarRef) else ""


def means(unit: ast.Unit, program: Program, text: ast.Skipped, name: str, key: str) -> bool:
    """A variable's name means it in a text, or where a macro that is defined there is used."""
    variable = program.variables.get(key)
    if variable is None:
        return True
    function = program.functions.get(variable.function)
    if function is None:
        return key in unit.globals
    return _inside(text.span, function.span) or (name in text.bodies and function.key in unit.functions)


def _using(program: Program, buffer: Buffer, words: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Functions of these names that name the buffer, or call one that does, and tables of such: another configuration
    calls them where this one does not.  As ``_names`` tells names.
    """
    key = buffer.carrier.variable
    member = program.members.get(key)
    if member is None and not program.variables[key].is_global:
        return
    fields = {e.field for _, e in member.exprs if isinstance(e, ast.Member)} if member is not None else set[str]()
    using = set[str]()
    for function in program.functions.values():
        found = within_statement(function.body, function.variables)
        if any(e.var == key if isinstance(e, ast.VarRef) else _field(e) in fields for e in found):
            using.add(function.key)
    for reached in sorted(_leading_to(program, frozenset(using))):
        function_, variable = program.functions.get(reached), program.variables.get(reached)
        name = function_.name if function_ is not None else variable.name if variable is not None else ""
        if name in words:
            yield name, "", f"`{name}`, which {'uses' if reached in using else 'leads to what uses'} `{buffer.name}`"


@once_each
def _leading_to(program: Program, using: frozenset[str]) -> frozenset[str]:
    """These functions, those that name them, and variables that begin with the address of one."""
    naming: dict[str, set[str]] = {}
    for function in program.functions.values():
        for e in within_statement(function.body, function.variables):
            named = e.name if isinstance(e, ast.FuncRef) else e.var if isinstance(e, ast.VarRef) else None
            if named is not None:
                naming.setdefault(named, set()).add(function.key)
    for v in program.variables.values():
        for e in within(v.init) if v.init is not None and v.is_global else ():
            if isinstance(e, ast.FuncRef):
                naming.setdefault(e.name, set()).add(v.key)
    out, work = set(using), sorted(using)
    while work:
        new = naming.get(work.pop(), set()) - out
        out |= new
        work += sorted(new)
    return frozenset(out)


def _field(e: ast.Expr) -> str:
    return e.field if isinstance(e, ast.Member) else ""


def everywhere(index: Index, text: Span, name: str) -> bool:
    """Every file that includes the text leaves it out, each time."""
    readers = [unit for unit in index.units if text.file == unit.path or text.file in unit.files]
    if not all(any(_inside(text, s.span) and text.end <= s.span.end for s in unit.skipped) for unit in readers):
        return False
    compiled = index.known.get(name, ())
    called = (f.span for unit in readers for f in unit.functions.values())
    return not any(f == text.file and text.begin <= at < text.end for f, at in compiled) and not any(
        _inside(span, text) for span in called
    )


def several(units: Sequence[ast.Unit], program: Program, buffer: Buffer) -> Refusal | None:
    """A variable of which every file that includes a header has its own."""
    variable = program.variables[buffer.carrier.variable]
    if variable.key in program.members or variable.kind == "extern":
        return None
    for declarator in variable.declarators:
        span = declarator.span
        if sum(span.file == unit.path or span.file in unit.files for unit in units) > 1:
            message = f"`{variable.name}` is declared in a header, and every file that includes it has its own"
            return Refusal(Reason.OUTSIDE, message, ((span, "declared here"),))
    return None


def shared_text(program: Program, converted: Iterable[Place], edits: Iterable[Edit]) -> Refusal | None:
    """An edit inside a function of a header that runs in several files, or in text that is included inside functions,
    but of a call that all agree on.
    """
    sites = {(file, begin) for file, begin, _, _ in converted}
    running = _running(program)
    for edit in edits:
        span = written_at(edit)
        if isinstance(edit, ReplaceCall) and (span.file, span.begin) in sites:
            continue
        if span.file in _fragments(program):
            message = "this text is included inside a function, and may be in several places"
            return Refusal(Reason.OUTSIDE, message, ((span, "what would change here, would change in all of them"),))
        copies = [f for f in running.get(span.file, ()) if _inside(span, f.span)]
        if len(copies) > 1:
            message = f"`{copies[0].name}` is written in a header, and runs in several files that include it"
            return Refusal(Reason.OUTSIDE, message, ((span, "what would change here, would change in all of them"),))
    return None


@once
def _running(program: Program) -> dict[str, list[ast.Function]]:
    """The functions that run, by file."""
    running = {frame.function for frame in program.graph.frames} | program.graph.passed
    by_file: dict[str, list[ast.Function]] = {}
    for function in program.functions.values():
        if function.key in running:
            by_file.setdefault(function.span.file, []).append(function)
    return by_file


@once
def _fragments(program: Program) -> frozenset[str]:
    """Files with statements of functions that begin in other files."""
    out: set[str] = set()
    for function in program.functions.values():
        spans = (s.span for s, _ in statements(function.body))
        out.update(span.file for span in spans if span.editable and span.file != function.span.file)
    return frozenset(out)


def siblings(program: Program, function: ast.Function) -> Iterator[ast.Function]:
    """The functions that the same text is in other files."""
    place = function.span.file, function.span.begin
    for other in program.functions.values():
        if other.key != function.key and (other.span.file, other.span.begin) == place:
            yield other


def written_at(edit: Edit) -> Span:
    """Where an edit changes the text."""
    match edit:
        case ReplaceCall(callee=span):
            return span
        case InsertStatement(anchor=span):
            return span
        case PointerDeclaration(declarator_name=span) | LinkName(declarator_name=span):
            return span
        case _:
            return edit.span


def _inside(span: Span, outer: Span) -> bool:
    return span.file == outer.file and outer.begin <= span.begin < outer.end
