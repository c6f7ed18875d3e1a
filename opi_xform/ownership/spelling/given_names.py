"""Parameters that are a short name for a variable of the file: ``static void pack(double *b) { b[i] = …; }`` with
``pack(sbuf)`` in all its calls, written as ``static void pack(void) { sbuf[i] = …; }``.

A parameter holds one address, so what it names cannot become several buffers.  Where every call gives the same
variable, and that is the same while the function runs, the variable's own name says it as well, and the parameter goes.
That is so of an array, of the address of an array or a struct, and of a pointer where the function neither sets it nor
calls anything that could.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ir.walk import within, within_statement
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import ReplaceText
from opi_xform.ownership.spelling.mentioned import Mention, is_of
from opi_xform.ownership.spelling.mentions import Texts, plain
from opi_xform.ownership.spelling.parameters import list_item, parameters_of, same_pointed
from opi_xform.ownership.spelling.scopes import has_macro, means_variable
from opi_xform.ownership.spelling.short_names import ShortName, reads, touch

_APART = re.compile(rb'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|/\*.*?\*/|//[^\n]*', re.DOTALL)
"""A literal, or a comment."""
_ARROW = re.compile(rb"\s*->\s*")
_EFFECTS = (ast.Call, ast.Assign, ast.IncDec, ast.Opaque, ast.CompoundLit)


def given_names(
    program: Program, units: Sequence[ast.Unit], names: Collection[str], structs: bool = False
) -> tuple[ShortName, ...]:
    """By function: its parameters that stand for variables with one of these names, for structs or for all others.  No
    edits of two touch.
    """
    out: list[ShortName] = []
    for unit in units:
        for function in unit.functions.values():
            if is_of(unit, function, units) and program.functions.get(function.key) is function:
                found = _Function(program, units, unit, function).run(names, structs)
                if found is not None and not any(touch(found, other) for other in out):
                    out.append(found)
    return tuple(out)


class _Function:
    """One function: ``run``."""

    def __init__(self, program: Program, units: Sequence[ast.Unit], unit: ast.Unit, function: ast.Function) -> None:
        self.program = program
        self.unit = unit
        self.function = function
        self.parameters = parameters_of(program, units)
        self.index = self.parameters.index
        self.texts = Texts()
        self.bytes = self.index.texts
        self.whole: set[int] = set()  # the parameters that are given the address of a whole array, or of a struct
        self.calls = [call for _, call in self.parameters.calls.get(function.key, ())]

    def run(self, names: Collection[str], structs: bool) -> ShortName | None:
        if not self.calls or not self.is_plain():
            return None
        found: dict[int, ast.Variable] = {}
        for i in range(len(self.function.params)):
            variable = self.given(i)
            if variable is None or variable.name not in names or bool(variable.type.record) is not structs:
                continue
            if self.stands_for(i, variable):
                found[i] = variable
        self.whole = {i for i, variable in found.items() if self.is_whole(i, variable)}
        edits = self.edits(found) if found else None
        if edits is None:
            return None
        params = [self.function.params[i] for i in found]
        said = ", ".join(self.function.variables[key].name for key in params)
        return ShortName(params[0], said, ", ".join(v.name for v in found.values()), edits)

    def is_plain(self) -> bool:
        """All calls of the function are seen, and its declarations can be written anew."""
        function, program = self.function, self.program
        if function.refused or function.threads or program.alone or not (function.static or program.complete):
            return False
        if function.key in self.parameters.taken or self.parameters.left_out(function) != ():
            return False
        if self.bytes.looks_at_types(self.texts.of(function.span)):
            return False
        return all(
            call.callee_span.editable and len(call.args) == len(function.params) and not any(map(acts, call.args))
            for call in self.calls
        )

    def given(self, i: int) -> ast.Variable | None:
        """The variable of the file that all calls give as argument ``i``, or the array or struct whose address."""
        given = [plain(call.args[i]) for call in self.calls]
        if all(isinstance(e, ast.AddrOf) and (e.operand.type.is_array or e.operand.type.record) for e in given):
            given = [e.operand for e in given if isinstance(e, ast.AddrOf)]
        keys = {e.var if isinstance(e, ast.VarRef) else "" for e in given}
        variable = self.unit.globals.get(next(iter(keys))) if len(keys) == 1 else None
        if variable is None or not variable.is_global or variable.function or variable.thread_local:
            return None
        return variable

    # --- one parameter -----------------------------------------------------------------------------------------------

    def stands_for(self, i: int, variable: ast.Variable) -> bool:
        """The parameter has the variable's value wherever it is named, and the variable's name says it there."""
        key = self.function.params[i]
        own = self.function.variables[key]
        mentions = self.index.by_key.get(key, [])
        if not own.type.is_pointer or own.type.volatile or own.attributes or not all(map(reads, mentions)):
            return False
        whole = all(isinstance(plain(call.args[i]), ast.AddrOf) for call in self.calls)
        fits = self.is_whole(i, variable) if whole else _fits(own.type, variable.type)
        if not fits or not self.is_steady(variable):
            return False
        if any(own.name in s.identifiers and s.span.file == self.function.span.file for s in self.unit.skipped):
            return False
        if self.bytes.in_directive(self.function.span.file, own.name, True) is not None:
            return False
        meant = own if own.name == variable.name else variable
        if not means_variable(self.program, self.function, meant, self.texts) or not self.is_known(variable):
            return False
        return meant is own or means_variable(self.program, self.function, own, self.texts)

    def is_whole(self, i: int, variable: ast.Variable) -> bool:
        """The parameter points to the whole array, not to its first element, or to the struct."""
        elem = self.function.variables[self.function.params[i]].type.elem
        if elem is None or (variable.type.record and (elem.volatile or elem.atomic)):
            return False
        same = variable.type.record and elem.record == variable.type.record
        return bool(same) or (variable.type.is_array and _fits_whole(elem, variable.type))

    def is_known(self, variable: ast.Variable) -> bool:
        """The name is declared before the function, and is that of no other variable of the unit."""
        if any(v.name == variable.name and v.key != variable.key for v in self.unit.globals.values()):
            return False
        here = [d.name_span for d in variable.declarators]
        file, begin = self.function.span.file, self.function.span.begin
        return any(s.file != file or s.begin < begin for s in here)

    def is_steady(self, variable: ast.Variable) -> bool:
        """The address of an array or a struct; or a pointer that keeps its value while the function runs."""
        t = variable.type
        if t.volatile or t.atomic or variable.attributes:
            return False
        if t.is_array or t.record:
            return not t.vla
        mentions = self.index.by_key.get(variable.key, ())
        if not t.is_pointer or any(isinstance(m.parent, (ast.AddrOf, ast.Opaque)) for m in mentions):
            return False
        if any(m.function == self.function.key and _sets(m) for m in mentions):
            return False
        inits = [v.init for v in self.function.variables.values() if v.init is not None]
        parts = [*within_statement(self.function.body, self.function.variables), *(x for e in inits for x in within(e))]
        return not any(isinstance(x, ast.Call) and not self.is_quiet(x) for x in parts)

    def is_quiet(self, call: ast.Call) -> bool:
        """A library function that calls nothing of the program's."""
        name = called_name(call)
        given = (x for a in call.args for x in within(a))
        return (
            name in self.program.effects
            and name not in self.program.functions
            and not name.startswith("MPI_")
            and not any(isinstance(x, ast.FuncRef) for x in given)
        )

    # --- text --------------------------------------------------------------------------------------------------------

    def edits(self, found: dict[int, ast.Variable]) -> tuple[ReplaceText, ...] | None:
        """The mentions as the variables, and all lists without the parameters; None where one is not understood."""
        count = len(self.function.params)
        out: list[ReplaceText] = []
        for i, variable in found.items():
            mentions = self.index.by_key.get(self.function.params[i], ())
            out += [self.named(m.ref.span, variable, i in self.whole) for m in mentions]
        declared = [self.parameters.declarations(self.function, i, lambda text: text) for i in range(count)]
        lists: list[tuple[Sequence[Span], str]] = []
        for edits in zip(*((e or ()) for e in declared), strict=False):
            lists.append(([e.span for e in edits], "void"))
            if self.is_marked(edits[0].span, edits[-1].span):
                return None
        if not lists or any(e is None or len(e) != len(lists) for e in declared):
            return None
        for call in self.calls:
            data = self.bytes.read(call.span.file)
            items = [list_item(data, call.callee_span.end, i) for i in range(count)]
            given = [Span(call.span.file, *item, call.span.line, 1) for item in items if item is not None]
            if list_item(data, call.callee_span.end, count) is not None or len(given) < count:
                return None
            inside = (s.begin <= a.span.begin and a.span.end <= s.end for s, a in zip(given, call.args, strict=True))
            if not all(inside) or not all(a.span.editable for a in call.args):
                return None
            lists.append((given, ""))
        for spans, empty in lists:
            if list_item(self.bytes.read(spans[0].file), spans[0].begin - 1, count) is not None:
                return None  # there are more than these
            out += self.without(spans, found, empty)
        return tuple(out)

    def named(self, span: Span, variable: ast.Variable, whole: bool) -> ReplaceText:
        """The variable where the parameter is named; whole: its address, in ``h->n`` the member of the struct."""
        if not whole:
            return ReplaceText(span, variable.name)
        arrow = _ARROW.match(self.bytes.read(span.file), span.end) if variable.type.record else None
        if arrow is None:
            return ReplaceText(span, f"(&{variable.name})")
        return ReplaceText(_between(span, span.begin, arrow.end()), f"{variable.name}.")

    def is_marked(self, first: Span, last: Span) -> bool:
        """A declaration has an attribute, which may count parameters, or a macro, which may make one."""
        data = _APART.sub(lambda m: m[1] or re.sub(rb"[^\n]", b" ", m[0]), self.bytes.read(first.file))
        start = max(data.rfind(mark, 0, first.begin) for mark in (b";", b"}"))
        ends = (data.find(mark, last.end) for mark in (b"{", b";"))
        said = data[max(start, 0) : first.begin] + b" " + data[last.end : min(e for e in (*ends, len(data)) if e >= 0)]
        lines = said.decode("utf-8", "surrogateescape").splitlines()
        text = " ".join(line for line in lines if not line.startswith("#"))
        return "__" in text or "[[" in text or has_macro(self.program, text)

    def without(self, spans: Sequence[Span], gone: Collection[int], empty: str) -> Iterator[ReplaceText]:
        """The edits that take items out of a list, with their commas; ``empty``: what is written for an empty list."""
        if len(gone) == len(spans):
            yield ReplaceText(_between(spans[0], spans[0].begin, spans[-1].end), empty)
            return
        data = self.bytes.read(spans[0].file)
        for _, group in groupby(enumerate(sorted(gone)), lambda item: item[1] - item[0]):
            run = [i for _, i in group]
            begin, end = spans[run[0]].begin, spans[run[-1]].end
            if run[0] == 0:
                end = spans[run[-1] + 1].begin
                end += len(data[end:]) - len(data[end:].lstrip(b" "))
            else:
                begin -= 1
            yield ReplaceText(_between(spans[0], begin, end), "")


def _between(span: Span, begin: int, end: int) -> Span:
    return Span(span.file, begin, end, span.line, 1)


def acts(e: ast.Expr) -> bool:
    """To evaluate it does more than give a value, or gives another one each time."""
    return any(isinstance(x, _EFFECTS) or x.type.volatile for x in within(e))


def _sets(mention: Mention) -> bool:
    parent = mention.parent
    return isinstance(parent, ast.IncDec) or (isinstance(parent, ast.Assign) and parent.target is mention.ref)


def _fits(own: Type, given: Type) -> bool:
    """Pointers to the same elements, of a known size."""
    a, b = own.elem, given.elem
    if a is None or b is None or not a.size or "void" in (a.kind, b.kind) or a.volatile or b.volatile:
        return False
    return same_pointed(a, b)


def _fits_whole(elem: Type, given: Type) -> bool:
    """A pointer to such elements is what the address of an array is: as many elements of the same type."""
    if not elem.is_array or elem.vla or given.vla or elem.volatile or given.volatile:
        return False
    return same_pointed(elem, given)
