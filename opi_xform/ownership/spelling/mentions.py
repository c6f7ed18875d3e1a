"""The carrier as text: where its name is visible, and how one of its rows is written at a place."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator

from opi_xform.graph.graph import Bind, Lost
from opi_xform.graph.statements import Flow, Level
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.memory.poly import Poly
from opi_xform.ownership.model.buffers import Buffer, Program
from opi_xform.ownership.model.lvalues import hole
from opi_xform.ownership.model.names import leaves, operands
from opi_xform.ownership.model.split_rows import row_index
from opi_xform.record import dataclass

POINTER_BYTES = 8


class Texts:
    """The bytes that spans cover, each file read once."""

    def __init__(self, read: Callable[[str], bytes] | None = None) -> None:
        self._read = read or _read_file
        self._files: dict[str, bytes] = {}

    def of(self, span: Span) -> str:
        """The text at a span; '' when the file cannot be read."""
        data = self._files.get(span.file)
        if data is None:
            try:
                data = self._read(span.file)
            except OSError:
                data = b""
            self._files[span.file] = data
        return data[span.begin : span.end].decode("utf-8", "surrogateescape")


def _read_file(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


@dataclass(frozen=True, slots=True)
class Definitions:
    """Where variables occur in a program graph.

    nodes: per variable the nodes that set it.  named: per variable (frame, node) of every mention in an operand.
    addressed: variables whose address is taken somewhere, or that summarised functions set.  lost: calls that are not
    followed.  stores: to memory.  calls: library calls that free memory or complete requests.
    """

    nodes: dict[str, list[int]]
    named: dict[str, list[tuple[int, int]]]
    addressed: frozenset[str]
    lost: tuple[int, ...]
    stores: tuple[int, ...]
    calls: tuple[int, ...]


def definitions(program: Program) -> Definitions:
    nodes: dict[str, list[int]] = {}
    named: dict[str, list[tuple[int, int]]] = {}
    addressed = set(program.graph.background.named)
    lost, stores, calls = [], [], []
    for node in program.graph.nodes:
        n = node.number
        match node.action:
            case ins.Define(target=ins.Var(key=key)) | ins.Birth(var=key):
                nodes.setdefault(key, []).append(n)
            case Bind(params=params):
                for key in params:
                    nodes.setdefault(key, []).append(n)
            case Lost():
                lost.append(n)
            case ins.Store():
                stores.append(n)
            case ins.CallInstr(callee=ins.AddrFunc(key=name)):
                effect = program.effects.get(name)
                mpi = effect.mpi if effect is not None else None
                if effect is not None and (effect.frees is not None or (mpi is not None and mpi.completes is not None)):
                    calls.append(n)
            case _:
                pass
        for frame, operand in operands(node):
            for leaf in leaves(operand):
                if isinstance(leaf, (ins.AddrVar, ins.Var)):
                    named.setdefault(leaf.key, []).append((frame, n))
                    if isinstance(leaf, ins.AddrVar):
                        addressed.add(leaf.key)
    return Definitions(nodes, named, frozenset(addressed), tuple(lost), tuple(stores), tuple(calls))


# --- expressions ---------------------------------------------------------------------------------------------------


def children(item: object) -> Iterator[ast.Expr]:
    if isinstance(item, ast.Expr):
        for name in type(item).__slots__:
            value = getattr(item, name)
            if isinstance(value, ast.Expr):
                yield value
            elif isinstance(value, tuple):
                yield from (v for v in value if isinstance(v, ast.Expr))


def walk(root: ast.Expr) -> Iterator[ast.Expr]:
    """An expression and everything below it."""
    stack = [root]
    while stack:
        item = stack.pop()
        yield item
        stack.extend(reversed(list(children(item))))


def expressions(function: ast.Function, stmt: ast.Stmt) -> Iterator[ast.Expr]:
    """The full expressions of one statement, those of its parts left out."""
    match stmt:
        case ast.ExprStmt(expr=e):
            yield e
        case ast.DeclStmt(variables=keys, sizes=sizes):
            for _, e in sizes:
                yield e
            for key in keys:
                var = function.variables.get(key)
                if var is not None and var.init is not None:
                    yield var.init
        case ast.If(cond=e) | ast.While(cond=e) | ast.DoWhile(cond=e) | ast.Switch(cond=e):
            yield e
        case ast.For(cond=cond, step=step):
            if cond is not None:
                yield cond
            if step is not None:
                yield step
        case ast.Return(value=value) if value is not None:
            yield value
        case _:
            return


def plain(e: ast.Expr) -> ast.Expr:
    """Without casts; ``&a[0]``, ``&*a`` and ``a + 0`` are ``a`` (C 6.5.3.2)."""
    while True:
        match e:
            case ast.Cast(operand=inner):
                e = inner
            case ast.AddrOf(operand=ast.Index(base=base, index=ast.IntLit(value=0))) if _is_address(base):
                e = base
            case ast.AddrOf(operand=ast.Deref(operand=base)) if _is_address(base):
                e = base
            case ast.Binary(op="+", left=base, right=ast.IntLit(value=0)) if _is_address(base):
                e = base
            case _:
                return e


def is_null(e: ast.Expr) -> bool:
    e = plain(e)
    return isinstance(e, ast.IntLit) and e.value == 0


def _is_address(e: ast.Expr) -> bool:
    return e.type.is_pointer or e.type.is_array


@dataclass(frozen=True, slots=True)
class Written:
    """Text of an expression, and the variables it reads; ``atom``: no parentheses are needed around it."""

    text: str
    variables: frozenset[str]
    atom: bool


def in_scope(lowered: ins.Lowered, variable: ast.Variable, stmt: int) -> bool:
    """A variable of a function can be named at one of its statements."""
    if variable.kind == "param":
        return True
    for i, info in enumerate(lowered.stmts):
        if isinstance(info.stmt, ast.DeclStmt) and variable.key in info.stmt.variables:
            at = stmt
            while at >= 0 and at != info.parent:
                at = lowered.stmts[at].parent
            return at == info.parent and stmt > i
    return True


class Mentions:
    """How a buffer's carrier can be written at a statement.  given: parameters that are the carrier's table."""

    def __init__(
        self,
        program: Program,
        flow: Flow,
        defs: Definitions,
        buffer: Buffer,
        texts: Texts,
        given: frozenset[str] = frozenset(),
    ) -> None:
        self.program = program
        self.flow = flow
        self.defs = defs
        self.buffer = buffer
        self.texts = texts
        self.given = given
        self.variable = program.variables[buffer.carrier.variable]
        self.name = self.variable.name
        self._carriers: frozenset[int] | None = None
        self._naming: frozenset[str] | None = None
        self._named: list[tuple[str, int]] | None = None
        self._by_level: dict[Level, list[tuple[Poly, ast.Expr]]] | None = None

    # --- visibility ------------------------------------------------------------------------------------------------

    def visible(self, level: Level) -> bool:
        """The carrier's name means the carrier at a statement."""
        lowered = self.flow.lowered(level[0])
        function = lowered.function
        key = self.buffer.carrier.variable
        for other in function.variables.values():
            if other.name == self.name and other.key != key and in_scope(lowered, other, level[1]):
                return False
        if self.variable.function:
            return self.variable.function == function.key and in_scope(lowered, self.variable, level[1])
        anchor = lowered.stmts[level[1]].stmt.span
        if any(_same_file(d.span.file, anchor.file) and d.span.begin < anchor.begin for d in self.variable.declarators):
            return True
        if self._named is None:
            self._named = self._mentioned()
        return any(_same_file(file, anchor.file) and at < anchor.end for file, at in self._named)

    def _mentioned(self) -> list[tuple[str, int]]:
        """Where functions of the program name the carrier."""
        nodes = self.flow.graph.nodes
        key = self.buffer.carrier.variable
        numbers = [*(n for _, n in self.defs.named.get(key, ())), *self.defs.nodes.get(key, ())]
        return [(a.span.file, a.span.begin) for n in numbers if isinstance(a := nodes[n].action, ins.Instr)]

    # --- rows ------------------------------------------------------------------------------------------------------

    def row(self, value: Poly) -> Poly | None:
        """The row that an address of the buffer lies in."""
        symbols = self.program.values.symbols
        base = symbols.base(value)
        if base is None:
            return None
        if base in self.buffer.objects:
            found = row_index(self.program, base, symbols.offset(value))
            return None if found is None else symbols.resolve(found)
        if self.buffer.carrier.kind == "pointer" and base in self._cells():
            offset = symbols.resolve(symbols.offset(value))
            if all(c % POINTER_BYTES == 0 for _, c in offset.terms):
                return Poly(tuple((m, c // POINTER_BYTES) for m, c in offset.terms))
        return None

    def _cells(self) -> frozenset[int]:
        """The objects of the carrier itself: an array of pointers."""
        if self._carriers is None:
            key = self.buffer.carrier.variable
            table = self.program.values.objects.table
            self._carriers = frozenset(o.number for o in table if o.variable == key and o.kind == "variable")
        return self._carriers

    def by_level(self) -> dict[Level, list[tuple[Poly, ast.Expr]]]:
        """(row, index as written) of every ``carrier[index]`` per statement."""
        if self._by_level is None:
            self._by_level = {}
            named = (self.defs.named.get(key, ()) for key in (self.buffer.carrier.variable, *sorted(self.given)))
            for n in dict.fromkeys(n for nodes in named for _, n in nodes):
                found = self._in_node(n)
                if found:
                    for level in self.flow.levels(n):
                        if level[0] == self._frame(n):
                            self._by_level.setdefault(level, []).extend(found)
                            break
        return self._by_level

    def _frame(self, n: int) -> int:
        node = self.flow.graph.nodes[n]
        return node.action.caller if isinstance(node.action, Bind) else node.frame

    def _in_node(self, n: int) -> list[tuple[Poly, ast.Expr]]:
        node = self.flow.graph.nodes[n]
        values = self.program.values
        match node.action:
            case ins.CallInstr(args=args) | Lost(call=ins.CallInstr(args=args)):
                known = values.args.get(n, ())
            case Bind(args=args):
                known = values.operands.get(n, ())
            case ins.Define(value=value):
                args, known = (value,), values.operands.get(n, ())
            case ins.Load(address=address):
                args, known = (address,), values.operands.get(n, ())
            case ins.Store(address=address, value=value):
                args, known = (address, value), values.operands.get(n, ())
            case ins.CopyBytes(target=target, source=source):
                args, known = (target, source), values.operands.get(n, ())
            case _:
                return []
        out: list[tuple[Poly, ast.Expr]] = []
        if len(known) != len(args):
            return out
        for operand, value_ in zip(args, known, strict=True):
            for leaf in leaves(operand):
                own = isinstance(leaf, ins.AddrVar) and leaf.key == self.buffer.carrier.variable
                if isinstance(leaf, (ins.AddrVar, ins.Var)) and (own or leaf.key in self.given):
                    row = self.row(value_)
                    index = self._index(n, leaf.span)
                    if row is not None and index is not None:
                        out.append((row, index))
        return out

    def _index(self, n: int, span: Span) -> ast.Expr | None:
        """The index of the ``carrier[index]`` whose name is written at ``span``."""
        frame = self._frame(n)
        member = self.program.members.get(self.buffer.carrier.variable)
        for level in self.flow.levels(n):
            if level[0] != frame:
                continue
            lowered = self.flow.lowered(frame)
            for whole in expressions(lowered.function, lowered.stmts[level[1]].stmt):
                for e in walk(whole):
                    if member is not None and isinstance(e, (ast.Member, ast.Index)) and e.span == span:
                        found = hole(e, member.stride)
                        return None if found is None else found.index
                    if isinstance(e, ast.Index):
                        base = plain(e.base)
                        if isinstance(base, ast.VarRef) and base.span == span:
                            return e.index
            return None
        return None

    # --- text ------------------------------------------------------------------------------------------------------

    def target(self, node: int, row: Poly | None, level: Level, number: bool = True) -> str | None:
        """The carrier of ``row``, which ``node`` concerns, as written at a statement around it; None: not possible."""
        if not self.visible(level):
            return None
        if not self.buffer.carrier.rows:
            return self.name
        text = self.index(node, row, level, number)
        return None if text is None else f"{self.name}[{text}]"

    def index(self, node: int, row: Poly | None, level: Level, number: bool = True) -> str | None:
        """The subscript of ``row``, as written at a statement; ``number``: a constant row's may be a number."""
        if row is None:
            return None
        if row.constant is not None and number:
            return self._constant(node, row)
        for inner in self.flow.levels(node):
            for found, index in self.by_level().get(inner, ()):
                if found == row:
                    text = self._at(index, inner[0], level)
                    if text is not None:
                        return text
        return self._fixed(row, level)

    def _fixed(self, row: Poly, level: Level) -> str | None:
        """An index written in another statement of the function, of variables that are set once and before."""
        lowered = self.flow.lowered(level[0])
        for (frame, _), found in sorted(self.by_level().items(), key=lambda item: item[0]):
            for value, index in found:
                if frame != level[0] or value != row:
                    continue
                written = self._write(index, {})
                if written is not None and all(self._set_once(lowered, key, level) for key in written.variables):
                    return written.text
        return None

    def _set_once(self, lowered: ins.Lowered, key: str, level: Level) -> bool:
        """A parameter that is never assigned, or a visible local variable that only its declaration sets."""
        variable = self.program.variables[key]
        if variable.function != lowered.function.key or key in self.defs.addressed:
            return False
        nodes = self._set_in(key, level[0])
        setting = [n for n in nodes if not isinstance(self.flow.graph.nodes[n].action, ins.Birth)]
        if len(setting) > 1:
            return False
        if variable.kind == "param":
            return True
        if len(setting) != 1 or not in_scope(lowered, variable, level[1]):
            return False
        declared = lowered.stmts[self.flow.stmt[setting[0]]].stmt
        return isinstance(declared, ast.DeclStmt) and key in declared.variables

    def named_outside(self, node: int, frame: int, lifted: Container[str]) -> bool:
        """``frame`` is not called from the innermost function around the node that names the carrier.

        A function that gets the buffer as an argument must not change the carrier after its caller's back.  lifted:
        functions that get the carrier's address.
        """
        for inner, _ in self.flow.levels(node):
            function = self.flow.graph.frames[inner].function
            if function in lifted or function in self._functions():
                return True
            if inner == frame:
                return False
        return True

    def _functions(self) -> frozenset[str]:
        """The functions that name the carrier."""
        if self._naming is None:
            key = self.buffer.carrier.variable
            graph = self.flow.graph
            frames = {frame for frame, _ in self.defs.named.get(key, ())}
            frames.update(graph.nodes[n].frame for n in self.defs.nodes.get(key, ()))
            self._naming = frozenset(graph.frames[frame].function for frame in frames)
        return self._naming

    def _constant(self, node: int, row: Poly) -> str:
        for inner in self.flow.levels(node):
            for found, index in self.by_level().get(inner, ()):
                if found == row and isinstance(index, ast.IntLit) and index.name:
                    return self._number(index)
        return str(row.constant)

    def _number(self, e: ast.IntLit) -> str:
        """A number by its name, where that means the same everywhere."""
        hidden = any(v.name == e.name for v in self.program.variables.values())
        return e.name if e.name and e.name not in self.program.unsteady and not hidden else str(e.value)

    def _at(self, index: ast.Expr, frame: int, level: Level) -> str | None:
        """An index written in ``frame``, rewritten for a statement of that frame or of one it was called from."""
        written = self._write(index, {})
        if written is not None and frame != level[0]:
            written = self._outward(index, written, frame, level[0])
        if written is None:
            return None
        for key in written.variables:
            variable = self.program.variables[key]
            if key in self.defs.addressed or variable.type.volatile or variable.thread_local:
                return None
            if any(self.flow.inside(level, n) for n in self.defs.nodes.get(key, ()) if self._mine(n, key, level[0])):
                return None
            if variable.is_global and any(self.flow.inside(level, n) for n in self.defs.lost):
                return None
        return written.text

    def _outward(self, index: ast.Expr, written: Written, frame: int, wanted: int) -> Written | None:
        """The index as the caller of ``frame`` writes it: its parameters replaced by the arguments of the call."""
        inner = self.flow.graph.frames[frame]
        if inner.parent != wanted or inner.call < 0:
            return None  # one call outward is as far as an index is carried
        action = self.flow.graph.nodes[inner.call].action
        params = self.flow.lowered(frame).function.params
        if not isinstance(action, ins.CallInstr) or len(params) != len(action.call.args):
            return None
        replaced: dict[str, Written] = {}
        for key in sorted(written.variables):
            if self.program.variables[key].is_global:
                continue
            if key not in params or key in self.defs.addressed or len(self._set_in(key, frame)) > 1:
                return None
            argument = self._write(action.call.args[params.index(key)], {})
            if argument is None:
                return None
            replaced[key] = argument
        return self._write(index, replaced)

    def _set_in(self, key: str, frame: int) -> list[int]:
        return [n for n in self.defs.nodes.get(key, ()) if self.flow.graph.nodes[n].frame == frame]

    def _mine(self, n: int, key: str, frame: int) -> bool:
        return self.program.variables[key].is_global or self.flow.graph.nodes[n].frame == frame

    def _write(self, e: ast.Expr, replaced: dict[str, Written]) -> Written | None:
        """Text of a simple index: names of scalar variables, numbers and arithmetic."""
        match e:
            case ast.IntLit():
                return Written(self._number(e), frozenset(), True)
            case ast.VarRef(var=key):
                if key in replaced:
                    return replaced[key]
                variable = self.program.variables[key]
                return Written(variable.name, frozenset({key}), True) if variable.type.kind == "int" else None
            case ast.Cast(explicit=False):
                return self._write(e.operand, replaced)
            case ast.Binary(op=op, left=left, right=right) if op in ("+", "-", "*", "/", "%", "^", "&", "|"):
                a, b = self._write(left, replaced), self._write(right, replaced)
                if a is None or b is None:
                    return None
                text = f"{_wrapped(a)} {op} {_wrapped(b)}"
                named = (x for x in walk(e) if isinstance(x, ast.IntLit) and x.name)
                if e.span.editable and not replaced and all(self._number(x) == x.name for x in named):
                    text = self.texts.of(e.span) or text
                return Written(text, a.variables | b.variables, False)
            case _:
                return None


def _wrapped(written: Written) -> str:
    return written.text if written.atom else f"({written.text})"


def _same_file(a: str, b: str) -> bool:
    return a == b or os.path.realpath(a) == os.path.realpath(b)
