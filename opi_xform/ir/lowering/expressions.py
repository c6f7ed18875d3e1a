"""Expressions become instructions: operands, loads, stores, calls, and branches of conditions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import Any

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import COMPARISONS
from opi_xform.ir.fixed import bound, bound_of_sum, is_fixed
from opi_xform.ir.lowering.lengths import Lengths
from opi_xform.ir.lowering.memalign import given_memory
from opi_xform.ir.lowering.shapes import (
    all_of,
    callee,
    calls,
    compares,
    converted,
    decayed,
    decided,
    is_member,
    is_union,
    operands_of_compound,
    or_null,
    params,
    pointee_size,
    read_again,
    steps_over_rows,
    unary,
    view,
    whole,
    whole_cell,
)
from opi_xform.ir.lowering.truths import as_choice, compared_with_zero, is_null, plainer, truths_of
from opi_xform.ir.operands import compared, handle
from opi_xform.ir.span import Span
from opi_xform.ir.types import INT, LONG, Type

Lowering = Generator[Any, Any, Any]


class Expressions:
    """A function's basic blocks in the making.  ``at``: the block instructions go to; ``stmt``: their statement."""

    def __init__(self, function: ast.Function, globals_: Mapping[str, ast.Variable]) -> None:
        self.function = function
        self.globals = globals_
        self.blocks: list[list[ins.Instr]] = [[]]
        self.succs: list[tuple[int, ...]] = [()]
        self.closed: list[bool] = [False]
        self.at = 0
        self.temps = 0
        self.lengths = Lengths()
        self.stmts: list[ins.StmtInfo] = []
        self.stmt = -1
        self.refused = function.refused

    # --- blocks --------------------------------------------------------------------------------------------------

    def block(self) -> int:
        self.blocks.append([])
        self.succs.append(())
        self.closed.append(False)
        return len(self.blocks) - 1

    def emit(self, instr: ins.Instr) -> None:
        if not self.closed[self.at]:
            self.blocks[self.at].append(instr)

    def close(self, *succs: int) -> None:
        if not self.closed[self.at]:
            self.succs[self.at] = succs
            self.closed[self.at] = True

    def temp(self) -> ins.Temp:
        self.temps += 1
        return ins.Temp(self.temps - 1)

    def variable(self, key: str) -> ast.Variable:
        found = self.function.variables.get(key)
        return found if found is not None else self.globals[key]

    def is_plain(self, key: str) -> bool:
        """A variable of this function's own that holds what was put in."""
        v = self.function.variables.get(key)
        return v is not None and v.kind in ("local", "param") and not v.type.volatile and not v.type.atomic

    # --- expressions ---------------------------------------------------------------------------------------------

    def condition(self, e: ast.Expr, then: int, other: int) -> Lowering:
        """Branches on ``e`` being non-zero."""
        e = plainer(e)
        match e:
            case ast.Binary() if (known := decided(e)) is not None:
                self.close(then if known else other)
            case ast.Logical():
                middle = self.block()
                if e.op == "&&":
                    yield self.condition(e.left, middle, other)
                else:
                    yield self.condition(e.left, then, middle)
                self.at = middle
                yield self.condition(e.right, then, other)
            case ast.Unary(op="!"):
                yield self.condition(e.operand, other, then)
            case ast.Comma():
                yield self.effect(e.left)
                yield self.condition(e.right, then, other)
            case ast.Assign() if read_again(e):
                yield self.assign(e)  # `if ((p = malloc(n)))`: what is tested is p
                yield self.condition(e.target, then, other)
            case ast.Binary(op=op, left=ast.Assign() as left) if given_memory(left):
                value = yield self.value(left.value)
                there, success, failure = self.block(), *((then, other) if op == "!=" else (other, then))
                self.branch(left.value, value, there, failure)
                self.at = there
                target = yield self.address(left.target)
                value = self.viewed(left.value, value, left.target.type)
                padding = left.target.padding if isinstance(left.target, ast.Member) else 0
                self.write(left, target, value, left.target.type, padding, is_member(left.target))
                self.close(success)
            case ast.Binary(op="==" | "!=", left=ast.Assign() as left) if read_again(left) and is_null(e.right):
                yield self.assign(left)
                yield self.condition(replace(e, left=left.target), then, other)
            case ast.Binary(op="==" | "!=", right=ast.Assign() as right) if read_again(right) and is_null(e.left):
                yield self.assign(right)
                yield self.condition(replace(e, right=right.target), then, other)
            case ast.Binary(op="&" | "|") if (truths := truths_of(e)) is not None:
                values = []
                for truth in truths:  # all are evaluated, whatever the first one is
                    values.append((yield self.value(truth)))
                given = dict(zip(map(id, truths), values, strict=True))
                work: list[tuple[ast.Expr, int, int, int]] = [(e, self.at, then, other)]
                while work:
                    part, self.at, yes, no = work.pop()
                    if id(part) in given:
                        self.branch(part, given[id(part)], yes, no)
                        continue
                    assert isinstance(part, ast.Binary)
                    middle = self.block()
                    first = (middle, no) if part.op == "&" else (yes, middle)
                    work += [(part.right, middle, yes, no), (part.left, self.at, *first)]
            case _:
                value = yield self.value(e)
                self.branch(e, value, then, other)

    def branch(self, e: ast.Expr, value: ins.Operand, then: int, other: int) -> None:
        """Ends the block by the value of ``e``."""
        if isinstance(value, ins.Const):
            self.close(then if value.value else other)
        else:
            if e.type.kind == "float":  # what is made a whole number of it may be zero where it is not
                value = ins.Nondet("floating arithmetic", (value,))
            self.emit(ins.Branch(e.span, self.stmt, compared(self.blocks[self.at], value, self.is_plain)))
            self.close(then, other)

    def effect(self, e: ast.Expr) -> Lowering:
        """``e`` for its side effects alone."""
        match e:
            case ast.Comma():
                yield self.effect(e.left)
                yield self.effect(e.right)
            case ast.IncDec():
                yield self.incdec(e, False)
            case ast.Assign() if (choice := or_null(e.value)) is not None and read_again(e):
                yield self.either(choice, lambda arm: self.assign(replace(e, value=arm)))
            case ast.Assign():
                yield self.assign(e)
            case ast.Cast():
                yield self.effect(e.operand)
            case ast.Call():
                yield self.call(e, e.type.kind != "void")
            case _:
                yield self.value(e)

    def value(self, e: ast.Expr) -> Lowering:
        """The operand that holds the value of ``e`` (for arrays and functions: the address)."""
        match e:
            case ast.IntLit():
                return ins.Const(e.value, e.name)
            case ast.FloatLit():
                return ins.Nondet("floating constant")
            case ast.StringLit():
                return ins.AddrString(e.length)
            case ast.MacroConst(operand=operand) if operand is not None and not is_fixed(operand):
                return (yield self.value(operand))
            case ast.MacroConst():
                return ins.Const(handle(e.name), e.name)
            case ast.FuncRef():
                return ins.AddrFunc(e.name)
            case ast.SizeOf():
                if e.value is None:
                    if e.operand is not None and not isinstance(e.operand, ast.VarRef):
                        yield self.effect(e.operand)  # of such a type it is evaluated
                    size = self.lengths.size(e.operand) if e.operand is not None else None
                    return ins.Nondet("sizeof a variable length array") if size is None else size
                return ins.Const(e.value)
            case ast.VarRef():
                var = self.variable(e.var)
                if var.type.is_array or var.type.kind in ("record", "unknown"):
                    return ins.AddrVar(e.var, e.span)
                return self.load(e, ins.AddrVar(e.var, e.span))
            case ast.AddrOf():
                address = yield self.address(e.operand)
                return whole(address)
            case ast.Member() | ast.Index() | ast.Deref():
                address = yield self.address(e)
                return self.load(e, address)
            case ast.Cast():
                inner = yield self.value(e.operand)
                return self.cast(e, inner)
            case ast.Unary():
                inner = yield self.value(e.operand)
                return unary(e, inner)
            case ast.Binary():
                left = yield self.value(e.left)
                if calls(e.right):
                    left = self.kept(e.left, left)  # compilers read the left side first
                right = yield self.value(e.right)
                if any(steps_over_rows(t) for t in (e.left.type, e.right.type)) and e.op in ("+", "-"):
                    return self.stepped(e, left, right)
                made = self.binary(e.op, left, right, e.left.type, e.right.type, e.type, e.span)
                return replace(made, row=bound_of_sum(e)) if isinstance(made, ins.PtrAdd) else made
            case ast.IncDec():
                return (yield self.incdec(e, True))
            case ast.Assign():
                return (yield self.assign(e))
            case ast.Comma():
                yield self.effect(e.left)
                return (yield self.value(e.right))
            case ast.Logical() | ast.Conditional():
                return (yield self.choose(e))
            case ast.Call():
                return (yield self.call(e, True))
            case ast.CompoundLit() | ast.InitList():
                return (yield self.literal(e))
            case ast.Opaque():
                values = []
                for child in e.children:
                    values.append((yield self.value(child)))
                self.emit(ins.Escape(e.span, self.stmt, e.reason, tuple(values)))
                return ins.Nondet(e.reason)
            case _:
                self.emit(ins.Escape(e.span, self.stmt, type(e).__name__, ()))
                self.refused = self.refused or f"expression {type(e).__name__}"
                return ins.Nondet(type(e).__name__)

    def address(self, e: ast.Expr) -> Lowering:
        """The byte address of the lvalue ``e``."""
        match e:
            case ast.VarRef():
                return ins.AddrVar(e.var, e.span)
            case ast.FuncRef():
                return ins.AddrFunc(e.name)
            case ast.Deref():
                return (yield self.value(e.operand))
            case ast.Index():
                base = yield self.value(e.base)
                index = yield self.value(e.index)
                row = bound(e.base) if e.base.type.is_array else 0
                return ins.PtrAdd(base, *self.lengths.scaled(e.base, index, e.type.size or 0), row)
            case ast.Member():
                inner, offsets = e.base, [e.offset]
                while isinstance(inner, ast.Member):  # whether these are punned is of no interest
                    offsets.append(inner.offset)
                    inner = inner.base
                place = yield self.address(inner)
                for offset in reversed(offsets):
                    place = ins.PtrAdd(place, ins.Const(offset), 1)
                return view(place, e.type) if e.punned else place
            case ast.Cast() if not e.explicit:
                return (yield self.address(e.operand))
            case ast.StringLit() | ast.CompoundLit() | ast.Call() | ast.Comma() | ast.Conditional() | ast.Assign():
                return (yield self.value(e))
            case _:
                value = yield self.value(e)
                self.emit(ins.Escape(e.span, self.stmt, f"address of {type(e).__name__}", (value,)))
                return ins.Nondet("address")

    def load(self, e: ast.Expr, address: ins.Operand) -> ins.Operand:
        if e.type.is_array or e.type.kind in ("record", "function"):
            return address
        type_ = e.type
        address = whole_cell(address, self.function)
        if isinstance(address, ins.AddrVar) and all_of(self.variable(address.key).type, type_):
            own = self.variable(address.key).type
            if not own.volatile and not own.atomic:
                return ins.Var(address.key, address.span)
            # Each read is a new value, of those that were stored there: of a pointer's the targets are known.
            type_ = replace(type_, volatile=True)
        target = self.temp()
        self.emit(ins.Load(e.span, self.stmt, target, address, type_, is_member(e)))
        return target

    def incdec(self, e: ast.IncDec, wanted: bool) -> Lowering:
        address = yield self.address(e.operand)
        old = self.load(e.operand, address)
        if wanted and not e.prefix and not isinstance(old, ins.Temp):
            kept = self.temp()
            self.emit(ins.Define(e.span, self.stmt, kept, old, e.operand.type))
            old = kept
        one = ins.Const(1)
        new = self.binary("+" if e.op == "++" else "-", old, one, e.operand.type, INT, e.operand.type, e.span)
        if wanted and e.prefix:
            kept = self.temp()
            self.emit(ins.Define(e.span, self.stmt, kept, new, e.operand.type))
            new = kept
        self.write(e, address, new, e.operand.type, 0, is_member(e.operand))
        return new if e.prefix else old

    def assign(self, e: ast.Assign) -> Lowering:
        if e.target.type.kind == "record":
            target = yield self.address(e.target)
            source = yield self.address(e.value)
            self.emit(ins.CopyBytes(e.span, self.stmt, target, source, e.target.type.size))
            return target
        target = yield self.address(e.target)
        if e.op:
            old = self.load(e.target, target)
            value = yield self.value(e.value)
            to, old, value = operands_of_compound(e, old, value)
            value = self.binary(e.op, old, value, e.target.type, e.value.type, to, e.span)
        else:
            value = yield self.value(as_choice(e.value))
            value = self.viewed(e.value, value, e.target.type)
        value = self.kept(e, value)
        padding = e.target.padding if isinstance(e.target, ast.Member) else 0
        self.write(e, target, value, e.target.type, padding, is_member(e.target))
        return ins.Nondet("what a bit-field holds") if e.target.type.size is None else value

    def kept(self, e: ast.Expr, value: ins.Operand) -> ins.Operand:
        """The value as it is now, whatever the variables hold that are read for it later."""
        return self.in_temporary(value, e.type, e.span)

    def in_temporary(self, value: ins.Operand, type_: Type, span: Span) -> ins.Operand:
        """The same for an operand of a type."""
        if isinstance(value, (ins.Const, ins.Temp, ins.AddrVar, ins.AddrFunc, ins.AddrString, ins.Nondet)):
            return value
        kept = self.temp()
        self.emit(ins.Define(span, self.stmt, kept, value, type_))
        return kept

    def binary(
        self, op: str, left: ins.Operand, right: ins.Operand, lt: Type, rt: Type, result: Type, span: Span
    ) -> ins.Operand:
        lt, rt = decayed(lt), decayed(rt)
        if op in ("+", "-") and lt.is_pointer and not rt.is_pointer:
            scale = pointee_size(lt)
            return ins.PtrAdd(left, right, scale if op == "+" else -scale)
        if op == "+" and rt.is_pointer:
            return ins.PtrAdd(right, left, pointee_size(rt))
        if op == "-" and lt.is_pointer and rt.is_pointer:
            bytes_ = ins.Op("ptrdiff", (left, right), LONG)
            return ins.Op("/", (bytes_, ins.Const(max(pointee_size(lt), 1))), LONG)
        if "float" in (lt.kind, rt.kind) and not lt.is_pointer and not rt.is_pointer:
            for operand in (left, right):
                if compares(operand):  # perhaps an address, which counts as a use of it
                    self.emit(ins.Define(span, self.stmt, self.temp(), operand, INT))
            # Its comparisons are not the integers': NaN, fractions.  And `long double` is of several kinds.
            alike = {(t.kind, t.size) for t in (lt, rt, result)}
            quotient = result if op == "/" and alike <= {("float", 4), ("float", 8)} and len(alike) == 1 else None
            if quotient is not None:
                left, right = self.in_temporary(left, lt, span), self.in_temporary(right, rt, span)
            return ins.Nondet("floating arithmetic", (left, right), quotient)
        unsigned = result.kind == "int" and not result.signed
        if op in COMPARISONS:
            unsigned = (lt.kind == "int" and not lt.signed) or (rt.kind == "int" and not rt.signed)
        return compared_with_zero(op, left, right) or ins.Op(op, (left, right), result, unsigned)

    def stepped(self, e: ast.Binary, left: ins.Operand, right: ins.Operand) -> ins.Operand:
        """An address and a number of rows of variable length after it or before; the rows between two of them."""
        if not decayed(e.left.type).is_pointer:
            return ins.PtrAdd(right, *self.lengths.scaled(e.right, left, 0))
        if decayed(e.right.type).is_pointer:
            row = self.lengths.size(ast.Deref(e.left.type, e.span, e.left))
            bytes_ = ins.Op("ptrdiff", (left, right), LONG)
            return ins.Op("/", (bytes_, row or ins.Nondet("the size of a row of variable length")), LONG)
        index, scale = self.lengths.scaled(e.left, right, 0)
        return ins.PtrAdd(left, index, scale if e.op == "+" else -scale)

    def cast(self, e: ast.Cast, inner: ins.Operand) -> ins.Operand:
        to, source = e.type, decayed(e.operand.type)
        if to.kind == "void" or to == source:
            return inner
        if to.is_pointer and source.is_pointer:
            return self.viewed(e.operand, inner, to)
        if isinstance(inner, ins.Const) and (
            to.is_pointer or (inner.name and to.kind == "int" and to.signed) or to.holds(inner.value)
        ):
            return inner
        return converted(inner, source, to)

    def choose(self, e: ast.Logical | ast.Conditional) -> Lowering:
        then, other, join = self.block(), self.block(), self.block()
        target = self.temp()
        if isinstance(e, ast.Logical):
            yield self.condition(e, then, other)
            for at, value in ((then, 1), (other, 0)):
                self.at = at
                self.emit(ins.Define(e.span, self.stmt, target, ins.Const(value), INT))
                self.close(join)
        else:
            yield self.condition(e.cond, then, other)
            for at, branch in ((then, e.then), (other, e.other)):
                self.at = at
                found = yield self.value(branch)
                if e.type.kind != "void":
                    found = self.viewed(branch, found, e.type)
                    self.emit(ins.Define(e.span, self.stmt, target, found, e.type))
                self.close(join)
        self.at = join
        return target

    def either(self, e: ast.Conditional, end: Callable[[ast.Expr], Lowering]) -> Lowering:
        """What ends with one of the two values, by itself in each arm: a pointer gets memory here, and NULL there."""
        then, other, join = self.block(), self.block(), self.block()
        yield self.condition(e.cond, then, other)
        for at, arm in ((then, e.then), (other, e.other)):
            self.at = at
            yield end(arm)
            self.close(join)
        self.at = join

    def literal(self, e: ast.CompoundLit | ast.InitList) -> Lowering:
        init = e.init if isinstance(e, ast.CompoundLit) else e
        values = []
        for item in init.items if isinstance(init, ast.InitList) else (init,):
            values.append((yield self.value(item)))
        self.emit(ins.Escape(e.span, self.stmt, "compound literal", tuple(values)))
        return ins.Nondet("compound literal")

    def call(self, e: ast.Call, wanted: bool) -> Lowering:
        called = yield self.value(callee(e.callee))
        types = params(e.callee.type)
        args = []
        for i, arg in enumerate(e.args):
            if arg.type.kind == "record":
                args.append((yield self.address(arg)))
            else:
                value = yield self.value(arg)
                args.append(self.viewed(arg, value, types[i]) if i < len(types) else value)
        target = self.temp() if wanted else None
        self.emit(ins.CallInstr(e.span, self.stmt, target, called, tuple(args), e))
        return target if target is not None else ins.Nondet("void")

    # --- initialisers --------------------------------------------------------------------------------------------

    def initialise(self, var: ast.Variable, address: ins.Operand, init: ast.Expr, type_: Type) -> Lowering:
        if isinstance(init, ast.InitList):
            for item, offset in zip(init.items, init.offsets, strict=True):
                place = ins.PtrAdd(address, ins.Const(offset), 1)
                to = type_.elem  # a text in an array of pointers is its address
                text = isinstance(item, ast.StringLit) and to is not None and to.is_pointer
                yield self.initialise(var, place, item, to if text and to is not None else item.type)
        elif isinstance(init, ast.StringLit) and type_.is_array:
            pass  # Birth says the bytes are written
        elif type_.kind == "record":
            source = yield self.address(init)
            self.emit(ins.CopyBytes(init.span, self.stmt, address, source, type_.size))
        elif type_.is_pointer and (choice := or_null(init)) is not None:
            yield self.either(choice, lambda arm: self.initialise(var, address, arm, type_))
        else:
            value = yield self.value(as_choice(init))
            value = self.viewed(init, value, type_)
            self.write(init, address, value, type_, 0, type_ != var.type)

    def viewed(self, e: ast.Expr, value: ins.Operand, to: Type) -> ins.Operand:
        """The value of ``e`` where an address of type ``to`` is made of it."""
        source = decayed(e.type)
        if not (to.is_pointer and source.is_pointer) or isinstance(value, (ins.Const, ins.AddrString, ins.AddrFunc)):
            return value
        here, there = source.pointee, to.pointee
        if here == "address":
            if there != "address":
                return view(value, to)
            if (source.elem or to).is_pointer and to.elem is not None and to.elem.kind == "record":
                self.emit(ins.Escape(e.span, self.stmt, "a pointer seen as a struct", (value,)))
            if is_union(source.elem) and to.elem is not None and to.elem.kind == "record" and not is_union(to.elem):
                return view(value, to)
        return view(value, to) if here == "word" and there in ("char", "number", "void") else value

    def write(
        self,
        e: ast.Expr,
        address: ins.Operand,
        value: ins.Operand,
        type_: Type,
        padding: int = 0,
        member: bool = False,
    ) -> None:
        """A scalar store; stores to a whole variable become definitions."""
        address = whole_cell(address, self.function)
        if isinstance(address, ins.AddrVar) and all_of(self.variable(address.key).type, type_):
            self.emit(ins.Define(e.span, self.stmt, ins.Var(address.key), value, type_))
        else:
            self.emit(ins.Store(e.span, self.stmt, address, value, type_, padding, member))
