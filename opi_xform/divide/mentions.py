"""Where a buffer's name stands in the source, and what is added to it there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from opi_xform.ir import ast
from opi_xform.ir.walk import children, uncast, within
from opi_xform.once import once
from opi_xform.ownership.allocation.deallocations import freeing_functions
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

    kind: ``set`` (an assignment's target), ``made`` (the same, in a condition that asks for NULL first of all),
    ``freed`` (also by a function that only frees), ``tested`` (compared with NULL), ``size`` (in sizeof), ``value``.
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


@once
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
        case ast.Assign(target=target, op="") if target is inner and isinstance(stmt, ast.If):
            return "made" if _asked_first(above) else "value"
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


def _asked_first(above: Sequence[ast.Expr]) -> bool:
    """An assignment, with the expressions around it, is what a condition evaluates first, and asked whether NULL."""
    inner, *rest = above
    asked = False
    for e in rest:
        match e:
            case ast.Cast() if not e.explicit:
                pass
            case ast.Unary(op="!"):
                asked = True
            case ast.Binary(op=("==" | "!="), left=left, right=right) if left is inner and not asked:
                if not _null(right):
                    return False
                asked = True
            case ast.Logical(left=left) if left is inner:
                asked = True
            case _:
                return False
        inner = e
    return asked or not rest


@dataclass(frozen=True, slots=True)
class FreeTest:
    """A test that only keeps NULL from being freed: without the text from its beginning to ``end`` all is as it was."""

    test: ast.If
    end: int


def only_for_free(m: Mention, mentions: Sequence[Mention], body: ast.Stmt | None = None) -> FreeTest | None:
    """``if (buf) free(buf);`` with the test that names the buffer there, among all that do.

    ``if (!buf) goto end; free(buf); end: ;`` is one, too, in the function's ``body``.
    """
    test = m.stmt
    if m.kind != "tested" or not isinstance(test, ast.If) or test.other is not None or not test.span.editable:
        return None
    sign = _tests(test.cond, m.ref)
    jump = _alone(test.then)
    if sign > 0:
        guarded: Sequence[ast.Stmt] = (test.then,)
        end = test.then.span.begin
    elif sign < 0 and isinstance(jump, ast.Goto) and body is not None:
        guarded = _up_to(body, test, jump.label)
        end = test.span.end
    else:
        return None
    nothing = [o.stmt for o in mentions if o.kind == "set" and not _sets_null(o)]
    freed = [o.stmt for o in mentions if o.kind in ("freed", "set") and not any(o.stmt is f for f in nothing)]
    inside = bool(guarded) and all(any(s is f for f in freed) for one in guarded for s in _plainly(one))
    return FreeTest(test, end) if inside and test.then.span.editable else None


def _tests(cond: ast.Expr, ref: ast.VarRef) -> int:
    """1: the condition is that the pointer ``ref`` is not NULL; -1: that it is; 0: another one."""
    sign = 1
    while cond is not ref:
        match cond:
            case ast.Cast():
                cond = cond.operand
            case ast.Unary(op="!"):
                sign, cond = -sign, cond.operand
            case ast.Binary(op=("==" | "!=")):
                sign = sign if cond.op == "!=" else -sign
                if not (_null(cond.left) or _null(cond.right)):
                    return 0
                cond = cond.left if _null(cond.right) else cond.right
            case _:
                return 0
    return sign


def _alone(s: ast.Stmt) -> ast.Stmt:
    """A statement without the braces around it."""
    while isinstance(s, ast.Block) and len(s.body) == 1:
        s = s.body[0]
    return s


def _plainly(s: ast.Stmt) -> Iterator[ast.Stmt]:
    """The statements of blocks in blocks."""
    stack = [s]
    while stack:
        s = stack.pop()
        if isinstance(s, ast.Block):
            stack.extend(reversed(s.body))
        elif not isinstance(s, ast.Null):
            yield s


def _up_to(body: ast.Stmt, test: ast.Stmt, label: str) -> Sequence[ast.Stmt]:
    """What stands between a statement and a label after it, in its block; nothing where the label is elsewhere."""
    block = next((b for b in blocks(body) if any(s is test for s in b)), ())
    at = next((i for i, s in enumerate(block) if s is test), 0)
    end = next((i for i, s in enumerate(block) if i > at and isinstance(s, ast.Label) and s.label == label), 0)
    return block[at + 1 : end]


def blocks(top: ast.Stmt) -> Iterator[Sequence[ast.Stmt]]:
    """What stands in each block of a statement, the outer ones first."""
    stack = [top]
    while stack:
        s = stack.pop()
        match s:
            case ast.Block(body=items):
                yield items
                stack.extend(items)
            case ast.If(then=then, other=other):
                stack.extend(x for x in (then, other) if x is not None)
            case ast.For() | ast.While() | ast.DoWhile() | ast.Switch() | ast.Case() | ast.Label():
                stack.append(s.body)
            case _:
                pass


def _sets_null(m: Mention) -> bool:
    value = m.parents[-1].value if m.parents and isinstance(m.parents[-1], ast.Assign) else None
    return value is not None and _null(value)


def _null(e: ast.Expr) -> bool:
    e = uncast(e)
    return isinstance(e, ast.IntLit) and e.value == 0
