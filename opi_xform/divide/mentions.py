"""Where a buffer's name stands in the source, and what is added to it there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from opi_xform.ir import ast
from opi_xform.ir.walk import children, within
from opi_xform.ownership.allocation.deallocations import only_frees
from opi_xform.ownership.model.buffers import Program
from opi_xform.record import dataclass

Place = tuple[str, int]  # file, offset: what a mention is known by


@dataclass(frozen=True, slots=True)
class Term:
    """What is added to (``sign`` 1) or taken from a pointer, in elements of ``unit`` bytes."""

    expr: ast.Expr
    sign: int
    unit: int


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention of the buffer's name, ``ref``, in the function of key ``function`` ('': at file scope).

    kind: ``set`` (an assignment's target), ``freed`` (also by a function that only frees), ``tested`` (compared with
    NULL), ``size`` (in sizeof), ``value``.
    around: the expression that the name is the pointer of, casts included (the name itself, ``(char *)buf``).  terms:
    what is added to that; ``indexed``: the one term is a subscript.  whole: the expression with the terms, to which
    ``address`` is ``&`` (None: it is not).  parents: the expressions around the name, innermost first.
    """

    ref: ast.VarRef
    function: str
    stmt: ast.Stmt | None
    kind: str
    around: ast.Expr
    terms: tuple[Term, ...]
    indexed: bool
    whole: ast.Expr
    address: ast.AddrOf | None
    parents: tuple[ast.Expr, ...]

    @property
    def place(self) -> Place:
        return (self.ref.span.file, self.ref.span.begin)

    @property
    def written(self) -> bool:
        """The expression can be written anew: as a whole, or name and subscript where a macro adds them up."""
        return self.whole.span.editable or self.by_macro

    @property
    def by_macro(self) -> bool:
        """A macro adds its arguments up (``AT(buf, N + i)``): the name is one, what is added to it is another."""
        term = self.terms[0] if len(self.terms) == 1 else None
        return term is not None and not self.whole.span.editable and term.sign > 0 and term.expr.span.editable


class Mentions:
    """Mentions of variables in functions' bodies and the initialisers in them: each text is walked once for all."""

    def __init__(self, functions: Mapping[str, ast.Function]) -> None:
        self.freeing = freeing_functions(functions)
        self.roots: dict[str, list[tuple[ast.Expr, ast.Stmt, str]]] = {}  # by variable: expressions that name it
        for function in functions.values():
            for root, stmt in _roots(function):
                place = (root, stmt, function.key)
                for key in {e.var for e in within(root) if isinstance(e, ast.VarRef)}:
                    self.roots.setdefault(key, []).append(place)

    def of(self, key: str) -> list[Mention]:
        """Those of one variable, in source order."""
        out: dict[tuple[str, int, int], Mention] = {}
        for root, stmt, function in self.roots.get(key, ()):
            for ref, parents in mentions_within(root, key):
                m = _mention(ref, function, stmt, parents, self.freeing)
                out.setdefault((ref.span.file, ref.span.begin, id(ref)), m)
        return sorted(out.values(), key=lambda m: m.place)


@lru_cache(maxsize=1)
def mentions_of(program: Program) -> Mentions:
    """Those of a program, found once."""
    return Mentions(program.functions)


def _roots(function: ast.Function) -> Iterator[tuple[ast.Expr, ast.Stmt]]:
    """The full expressions of a function, each with its statement."""
    stack: list[ast.Stmt] = [function.body]
    while stack:
        s = stack.pop()
        match s:
            case ast.Block(body=items):
                stack.extend(reversed(items))
            case ast.DeclStmt(variables=keys):
                for key in keys:
                    var = function.variables.get(key)
                    if var is not None and var.init is not None:
                        yield var.init, s
            case ast.ExprStmt(expr=e):
                yield e, s
            case ast.If(cond=e, then=then, other=other):
                yield e, s
                stack.extend(x for x in (other, then) if x is not None)
            case ast.For(init=init, cond=cond, step=step, body=inner):
                yield from ((e, s) for e in (cond, step) if e is not None)
                stack.extend(x for x in (inner, init) if x is not None)
            case ast.While(cond=e, body=inner) | ast.DoWhile(cond=e, body=inner) | ast.Switch(cond=e, body=inner):
                yield e, s
                stack.append(inner)
            case ast.Case(body=inner) | ast.Label(body=inner):
                stack.append(inner)
            case ast.Return(value=value) if value is not None:
                yield value, s
            case ast.OpaqueStmt(children=found):
                yield from ((e, s) for e in found)
            case _:
                pass


def mentions_within(root: ast.Expr, key: str) -> Iterator[tuple[ast.VarRef, tuple[ast.Expr, ...]]]:
    """Every mention of a variable, with the expressions around it, innermost first."""
    stack: list[tuple[ast.Expr, tuple[ast.Expr, ...]]] = [(root, ())]
    while stack:
        e, parents = stack.pop()
        if isinstance(e, ast.VarRef):
            if e.var == key:
                yield e, parents
            continue
        stack.extend((child, (e, *parents)) for child in children(e))


def freeing_functions(functions: Mapping[str, ast.Function]) -> frozenset[str]:
    """``free``, and the program's functions that do nothing but free what they are given."""
    own = {key for key, function in functions.items() if only_frees(function)}
    return frozenset(own if "free" in functions else {"free", *own})


def _mention(
    ref: ast.VarRef,
    function: str,
    stmt: ast.Stmt,
    parents: tuple[ast.Expr, ...],
    freeing: Collection[str],
) -> Mention:
    around: ast.Expr = ref
    above = list(parents)
    while above and isinstance(above[0], ast.Cast) and (above[0].type.is_pointer or not above[0].explicit):
        around = above.pop(0)
    whole, terms, indexed = around, [], False
    while above and isinstance(above[0], ast.Binary) and above[0].op in ("+", "-") and above[0].type.is_pointer:
        up = above[0]
        other = up.right if up.left is whole else up.left
        terms.append(Term(other, 1 if up.op == "+" else -1, _unit(up)))
        whole = above.pop(0)
    if not terms and above and isinstance(above[0], ast.Index) and above[0].base is whole:
        indexed = True
        terms.append(Term(above[0].index, 1, above[0].type.size or 0))
        whole = above.pop(0)
    address = above[0] if indexed and above and isinstance(above[0], ast.AddrOf) else None
    kind = "size" if any(isinstance(p, ast.SizeOf) for p in parents) else _kind(ref, stmt, parents, freeing)
    return Mention(ref, function, stmt, kind, around, tuple(terms), indexed, whole, address, parents)


def _unit(e: ast.Expr) -> int:
    elem = e.type.elem
    if elem is None or elem.kind in ("void", "function"):
        return 1
    return elem.size or 0


def _kind(ref: ast.VarRef, stmt: ast.Stmt, parents: tuple[ast.Expr, ...], freeing: Collection[str]) -> str:
    inner: ast.Expr = ref
    above = list(parents)
    while above:
        match above:
            case [ast.Cast(), *_]:
                inner = above.pop(0)
            case [ast.Index(base=base, index=ast.IntLit(value=0)), ast.AddrOf(), *_] if base is inner:
                inner = above[1]
                del above[:2]
            case [ast.Binary(op="+", left=base, right=ast.IntLit(value=0)), *_] if base is inner:
                inner = above.pop(0)
            case _:
                break
    if not above:
        return "tested" if isinstance(stmt, (ast.If, ast.While, ast.DoWhile, ast.For)) else "value"
    match above[0]:
        case ast.Assign(target=target, op="") if target is inner and len(above) == 1 and isinstance(stmt, ast.ExprStmt):
            return "set"
        case ast.Unary(op="!") | ast.Logical():
            return "tested"
        case ast.Conditional(cond=cond) if cond is inner:
            return "tested"
        case ast.Binary(op=("==" | "!=")):
            other = above[0].right if above[0].left is inner else above[0].left
            return "tested" if _null(other) else "value"
        case ast.Call() if len(above) == 1 and isinstance(stmt, ast.ExprStmt):
            callee = above[0].callee
            return "freed" if isinstance(callee, ast.FuncRef) and callee.name in freeing else "value"
        case _:
            return "value"


def only_for_free(m: Mention, mentions: Sequence[Mention]) -> ast.If | None:
    """``if (buf) free(buf);`` with the test that names the buffer there, among all that do."""
    test = m.stmt
    if m.kind != "tested" or not isinstance(test, ast.If):
        return None
    cond = test.cond
    while isinstance(cond, ast.Cast):
        cond = cond.operand
    alone = cond is m.ref or (isinstance(cond, ast.Binary) and cond.op == "!=" and cond in m.parents)
    body = test.then.body if isinstance(test.then, ast.Block) else (test.then,)
    freed = [o.stmt for o in mentions if o.kind in ("freed", "set")]
    nothing = [o.stmt for o in mentions if o.kind == "set" and not _sets_null(o)]
    inside = all(any(s is f for f in freed) and not any(s is f for f in nothing) for s in body)
    plain = test.other is None and test.span.editable and test.then.span.editable
    return test if alone and inside and plain else None


def _sets_null(m: Mention) -> bool:
    value = m.parents[-1].value if m.parents and isinstance(m.parents[-1], ast.Assign) else None
    return value is not None and _null(value)


def _null(e: ast.Expr) -> bool:
    while isinstance(e, ast.Cast):
        e = e.operand
    return isinstance(e, ast.IntLit) and e.value == 0
