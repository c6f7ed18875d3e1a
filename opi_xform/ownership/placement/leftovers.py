"""What an edit leaves behind and nobody would write: functions that nothing calls any more, loops without a body.

A static function without a caller is a warning for a compiler, and a riddle for a reader.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from opi_xform.graph.statements import Flow
from opi_xform.ir import ast
from opi_xform.ir.instr import StmtInfo
from opi_xform.ir.span import Span
from opi_xform.ir.walk import children
from opi_xform.ownership.model.plan import Edit, InsertStatement, ReplaceCall, ReplaceText
from opi_xform.ownership.spelling.parameters import Parameters
from opi_xform.text.lex import COMMENT, SourceText

_NEAR = 2000
_PRAGMA = re.compile(
    rb"(?:\#[ \t]*pragma[^\n]*\n|_Pragma\s*\([^)]*\))(?:\s|\#[^\n]*\n|/\*.*?\*/|//[^\n]*\n)*\Z", re.DOTALL
)
_DIRECTIVE = re.compile(rb"^(?:[ \t]|/\*(?:[^*]|\*(?!/))*\*/)*(?:\#|%:|\?\?=)", re.MULTILINE)


def without_empty_loops(parameters: Parameters, edits: Collection[Edit]) -> list[Edit]:
    """The edits; where they would delete all that a counting loop does, they delete the loop."""
    deleted = {e.span for e in edits if isinstance(e, ReplaceText) and not e.text}
    anchors = [e.anchor for e in edits if isinstance(e, InsertStatement)]
    out = list(edits)
    for function in parameters.program.functions.values():
        for loop in _loops(function.body):
            body = loop.body.body if isinstance(loop.body, ast.Block) else (loop.body,)
            if not body or not loop.span.editable or not all(s.span in deleted for s in body):
                continue
            if not only_counts(function, loop) or any(_within(a, loop.span) for a in anchors):
                continue
            before = parameters.texts.read(loop.span.file)[max(loop.span.begin - _NEAR, 0) : loop.span.begin]
            if _PRAGMA.search(before) or _has_directive(parameters, loop.span):
                continue  # which wants a loop after it, or would be lost
            out = [e for e in out if not (isinstance(e, ReplaceText) and _inside(e.span, [_place(loop.span)]))]
            out.append(ReplaceText(loop.span, ""))
    return out


def _loops(body: ast.Stmt) -> Iterator[ast.For]:
    work: list[ast.Stmt] = [body]
    while work:
        s = work.pop()
        match s:
            case ast.For(body=inner):
                yield s
                work.append(inner)
            case ast.Block(body=items):
                work.extend(items)
            case ast.If(then=then, other=other):
                work.extend(x for x in (then, other) if x is not None)
            case ast.While(body=inner) | ast.DoWhile(body=inner) | ast.Switch(body=inner):
                work.append(inner)
            case ast.Case(body=inner) | ast.Label(body=inner):
                work.append(inner)
            case _:
                pass


def only_counts(function: ast.Function, loop: ast.For) -> bool:
    """``for (int i = …; i < …; i++)``: what it declares is all that it changes."""
    if not isinstance(loop.init, ast.DeclStmt) or loop.cond is None or loop.step is None:
        return False
    inits = [function.variables[key].init for key in loop.init.variables]
    if any(init is None or _has_effect(init) for init in inits):
        return False
    step = loop.step
    if isinstance(step, ast.IncDec):
        changed: ast.Expr = step.operand
    elif isinstance(step, ast.Assign) and not _has_effect(step.value):
        changed = step.target
    else:
        return False
    return isinstance(changed, ast.VarRef) and changed.var in loop.init.variables and not _has_effect(loop.cond)


def loop_goes_too(flow: Flow, frame: int, info: StmtInfo) -> bool:
    """The statement is all that a loop does, which ``leftover_edits`` then deletes."""
    lowered = flow.lowered(frame)
    loop = lowered.stmts[info.parent].stmt
    return isinstance(loop, ast.For) and loop.span.editable and only_counts(lowered.function, loop)


def _has_effect(e: ast.Expr) -> bool:
    work = [e]
    while work:
        item = work.pop()
        if isinstance(item, (ast.Call, ast.Assign, ast.IncDec, ast.Opaque)) or item.type.volatile:
            return True
        work.extend(children(item))
    return False


def _within(span: Span, other: Span) -> bool:
    return span != other and _inside(span, [_place(other)])


def _place(span: Span) -> tuple[str, int, int]:
    return span.file, span.begin, span.end


def leftover_edits(parameters: Parameters, edits: Collection[Edit]) -> tuple[ReplaceText, ...]:
    """Deletes every static function all of whose calls ``edits`` remove, when it is written once and not declared."""
    gone = [(e.span.file, e.span.begin, e.span.end) for e in edits if isinstance(e, ReplaceText)]
    gone += [(e.callee.file, e.callee.begin, e.callee.end) for e in edits if isinstance(e, ReplaceCall)]
    texts = [e.text for e in edits if isinstance(e, (ReplaceText, InsertStatement))]
    texts += [text for e in edits if isinstance(e, ReplaceCall) for _, text in e.arguments]
    written = {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}  # a size may still call it
    out: dict[str, ReplaceText] = {}
    units = {unit.path for unit in parameters.index.units}
    again = True
    while again:
        again = False
        for key, calls in sorted(parameters.calls.items()):
            function = parameters.program.functions.get(key)
            if key in out or function is None or not function.static or key in parameters.taken:
                continue
            if function.name in written or function.span.file not in units or not function.span.editable:
                continue
            if _has_directive(parameters, function.span):
                continue  # what follows may rest on it
            if all(_inside(call.callee_span, gone) for _, call in calls) and _alone(parameters, function):
                out[key] = ReplaceText(_with_comment(parameters, function.span), "")
                gone.append((function.span.file, function.span.begin, function.span.end))
                again = True
    return tuple(out.values())


def _has_directive(parameters: Parameters, span: Span) -> bool:
    return _DIRECTIVE.search(parameters.texts.read(span.file), span.begin, span.end) is not None


def _inside(span: Span, gone: Iterable[tuple[str, int, int]]) -> bool:
    return any(file == span.file and begin <= span.begin and span.end <= end for file, begin, end in gone)


def _alone(parameters: Parameters, function: ast.Function) -> bool:
    """Its name stands in its definition and its calls only."""
    known = {(c.callee_span.file, c.callee_span.begin) for _, c in parameters.calls[function.key]}
    span = function.span
    for file in parameters.files:
        for at, _, _ in parameters.texts.occurrences(file, function.name):
            own = file == span.file and span.begin <= at < span.end
            if not own and (file, at) not in known:
                return False
    return True


def _with_comment(parameters: Parameters, span: Span) -> Span:
    """The definition and the comment right above it."""
    data = parameters.texts.read(span.file)
    begin = data.rfind(b"\n", 0, span.begin) + 1
    if data[begin : span.begin].strip():
        return span
    top = begin
    lines = data[:begin].split(b"\n")[:-1]
    if lines and lines[-1].rstrip().endswith(b"*/"):
        text = SourceText(data)
        comment = text.region_at(len(data[:begin].rstrip()) - 1)
        if comment is not None and comment.kind == COMMENT and text.first_on_line(comment.begin):
            top = text.line_start(comment.begin)
    else:
        while lines and lines[-1].lstrip().startswith(b"//"):
            top -= len(lines.pop()) + 1
    row = data.count(b"\n", 0, top) + 1
    return span if top == begin else Span(span.file, top, span.end, row, 1, editable=True)
