"""Where the program frees a carrier's memory: calls of free, and of its own functions that do nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import statements, within
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.spelling.mentions import is_null, plain
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Deallocation:
    """freeing: the node of the call of free.  node, argument: the call in the source that names the carrier.

    wrappers: the frames in between.  out: the call is given the carrier's address (``done(&b)``).  stays: the call does
    more than to free, and stays behind ``OPI_Free`` (``busy_frees.py``).
    """

    freeing: int
    node: int
    argument: int
    wrappers: tuple[int, ...] = ()
    out: bool = False
    stays: bool = False


def deallocation(program: Program, n: int, argument: int) -> Deallocation:
    """The call that stands for the one at node ``n``: itself, or that of the outermost function that only frees."""
    graph = program.graph
    at = n
    wrappers: list[int] = []
    while True:
        frame = graph.nodes[at].frame
        function = program.functions.get(graph.frames[frame].function)
        outer = graph.frames[frame].call
        action = graph.nodes[at].action
        assert isinstance(action, ins.CallInstr)
        out = graph.out_parameters.get(frame)
        if function is None or outer < 0 or not direct(program, outer) or not _only_frees(function, action.call, out):
            return Deallocation(n, at, argument, tuple(wrappers))
        wrappers.append(frame)
        at, argument = outer, 0
        if out is not None:
            return Deallocation(n, at, argument, tuple(wrappers), True)


def freeing_functions(functions: Mapping[str, ast.Function]) -> frozenset[str]:
    """``free``, and the program's functions that do nothing but free what they are given, or have one of them do it."""
    found = set() if "free" in functions else {"free"}
    known = -1
    while known != len(found):
        known = len(found)
        found |= {key for key, function in functions.items() if key not in found and only_frees(function, found)}
    return frozenset(found)


def only_frees(function: ast.Function, freeing: Collection[str] = ("free",)) -> bool:
    """``void f(T *p) { if (p) free(p); }``, or less: a function that frees what it is given, once, and nothing else.

    freeing: what frees, and functions of which that is known.
    """
    calls = [
        e
        for s, _ in statements(function.body)
        if isinstance(s, ast.ExprStmt) and isinstance(e := plain(s.expr), ast.Call)
    ]
    if len(calls) != 1:
        return False
    callee, made = calls[0].callee, function.type.elem
    if made is None or made.kind != "void":
        return False
    return isinstance(callee, ast.FuncRef) and callee.name in freeing and _only_frees(function, calls[0], None)


def direct(program: Program, n: int) -> bool:
    """The call at node ``n`` is written with the function's name: a pointer could mean another one as well."""
    action = program.graph.nodes[n].action
    return isinstance(action, ins.CallInstr) and isinstance(action.call.callee, ast.FuncRef)


def _only_frees(function: ast.Function, call: ast.Call, out: str | None) -> bool:
    """``void f(T *p) { if (p) free(p); }``, or less; ``call``: of free.  Of ``out``, what it points to counts.

    It may return a constant (``return NULL;``): a call whose value is used is no statement, and is not replaced.
    """
    if len(function.params) != 1 or len(call.args) != 1 or function.type.elem is None:
        return False
    key = function.params[0]
    if not _names(call.args[0], key, out):
        return False
    return _Freeing(function, call, key, out).run()


class _Freeing:
    """A function that is given memory: ``run`` tells whether it frees it, once, and does nothing else.

    Its statements are followed as they run where the pointer is not NULL.  Where it is NULL, others of them may run,
    and none of them does anything.
    """

    def __init__(self, function: ast.Function, call: ast.Call, key: str, out: str | None) -> None:
        self.function = function
        self.call = call
        self.key = key
        self.out = out
        found = [s for s, _ in statements(function.body)]
        self.labels = {s.label: s.span.begin for s in found if isinstance(s, ast.Label)}
        self.known: dict[str, int] = {}  # what local variables hold
        self.freed = 0
        self.null = False  # the pointer has been set to NULL

    def run(self) -> bool:
        if not all(self.is_quiet(s) for s, _ in statements(self.function.body)):
            return False
        work: list[ast.Stmt] = [self.function.body]
        while work:
            s = work.pop()
            match s:
                case ast.Block(body=items):
                    work.extend(reversed(items))
                case ast.DoWhile(body=body) | ast.Label(body=body):
                    work.append(body)
                case ast.If(cond=cond, then=then, other=other):
                    value = self.value(cond)
                    if value is None:
                        return False
                    work.extend(x for x in ([then] if value else [other]) if x is not None)
                case ast.DeclStmt(variables=keys):
                    for key in keys:
                        init, type_ = self.function.variables[key].init, self.function.variables[key].type
                        value = None if init is None else self.value(init)
                        narrow = isinstance(init, ast.IntLit) and type_.kind == "int" and not type_.holds(init.value)
                        if value is not None and not narrow:
                            self.known[key] = value
                case ast.ExprStmt(expr=e) if plain(e) is self.call:
                    self.freed += not self.null
                case ast.ExprStmt(expr=ast.Assign(value=value)):
                    number = plain(value)
                    self.null = self.null or (isinstance(number, ast.IntLit) and number.value == 0)
                case ast.Goto(label=label):
                    while work and not (isinstance(work[-1], ast.Label) and work[-1].label == label):
                        work.pop()
                    if not work:
                        return False
                case ast.Return():
                    break
                case _:
                    pass
        return self.freed == 1

    def is_quiet(self, s: ast.Stmt) -> bool:
        """A statement that frees, sets the pointer, chooses, goes on further down, or does nothing."""
        match s:
            case ast.Block() | ast.Null() | ast.Return(value=None) | ast.Label():
                return True
            case ast.Return(value=value) if value is not None:
                return isinstance(plain(value), ast.IntLit)
            case ast.Goto(label=label):
                return s.span.begin < self.labels.get(label, 0)
            case ast.DoWhile(cond=ast.IntLit(value=0)):
                return True
            case ast.If(cond=cond):
                return self.value(cond) is not None or self.is_local(cond)
            case ast.DeclStmt(variables=keys, sizes=()):
                made = [self.function.variables[key] for key in keys]
                return all(v.kind == "local" and v.init is not None and self.value(v.init) is not None for v in made)
            case ast.ExprStmt(expr=e) if plain(e) is self.call:
                return True
            case ast.ExprStmt(expr=ast.Assign(target=target, op="", value=value)) if _names(target, self.key, self.out):
                number = plain(value)
                return isinstance(number, ast.IntLit) and (self.out is None or not number.value)
            case _:
                return False

    def is_local(self, cond: ast.Expr) -> bool:
        """A test of local numbers, which are known where it runs."""
        parts = list(within(cond))
        return all(isinstance(x, (ast.VarRef, ast.IntLit, ast.Unary, ast.Binary, ast.Cast)) for x in parts) and all(
            self.function.variables[x.var].kind == "local" if x.var in self.function.variables else False
            for x in parts
            if isinstance(x, ast.VarRef)
        )

    def value(self, e: ast.Expr) -> int | None:
        """What a test is, as far as that is known: of the pointer, which is not NULL, and of numbers."""
        flip = False
        while True:
            e = plain(e)
            match e:
                case ast.Unary(op="!", operand=inner):
                    e, flip = inner, not flip
                case ast.Binary(op=("==" | "!=") as op, left=left, right=right) if is_null(left) or is_null(right):
                    e, flip = (right if is_null(left) else left), flip != (op == "==")
                case ast.VarRef(var=key) if key in self.known:
                    return int(bool(self.known[key]) != flip)
                case ast.IntLit(value=value):
                    return int(bool(value) != flip)
                case _ if _names(e, self.key, self.out):
                    return int((not self.null) != flip)
                case _:
                    return None


def _names(e: ast.Expr, key: str, out: str | None) -> bool:
    e = plain(e)
    if key == out:
        if not isinstance(e, ast.Deref):
            return False
        e = plain(e.operand)
    return isinstance(e, ast.VarRef) and e.var == key
