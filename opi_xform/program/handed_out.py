"""Functions that give somebody's pointer fresh memory: ``allocate(&m->out, n)`` with ``*p = malloc(n)``.

Such a function is called for many pointers, of structs as well.  In the program graph the call sets the pointer where
it stands, as ``m->out = allocate(n)`` would: so what is decided of one pointer has nothing to do with the others.
That is the same where the function sets ``*p`` before it reads it, on every way that returns, and touches no other
memory that was there before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.operands import operands_of, parts_of
from opi_xform.ir.types import Type
from opi_xform.ir.walk import addressed, uncast, within
from opi_xform.program.out_parameters import OutParameter, out_parameter, returning
from opi_xform.record import dataclass

INT_BYTES = 4
Name = int | str
"""A temporary, or a variable."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A call that sets the pointer at ``address``, which is written as ``lvalue``."""

    function: OutParameter
    address: ins.Operand
    lvalue: ast.Expr


class HandedOut:
    """Which calls of a program set a pointer in this way."""

    def __init__(
        self,
        functions: Iterable[str],
        lowered: Callable[[str], ins.Lowered | None],
        effects: Mapping[str, FunctionEffect],
    ) -> None:
        """functions: all that may run."""
        self.lowered = lowered
        self.effects = effects
        self.known: dict[str, OutParameter | None] = {}
        self.calls: Counter[str] = Counter()
        for name in functions:
            body = lowered(name)
            for instr in () if body is None else (i for block in body.blocks for i in block):
                if isinstance(instr, ins.CallInstr) and isinstance(instr.callee, ins.AddrFunc):
                    self.calls[instr.callee.key] += 1

    def of(self, caller: ins.Lowered, call: ins.CallInstr) -> Handed | None:
        """What a call sets, that is a statement of its own and whose result nobody wants.

        Where it is the only one of its function, it stays a copy, unless what it sets is a row of a table.
        """
        key = called_key(call)
        if not self.calls[key] or not _alone(caller, call):
            return None
        if key not in self.known:
            self.known[key] = self.function(key)
        found = self.known[key]
        if found is None or len(call.args) != len(found.body.function.params):
            return None
        address = call.args[found.index]
        while isinstance(address, ins.Op) and address.op == "cast":
            address = address.args[0]
        written = addressed(call.call.args[found.index])
        if self.calls[key] < 2 and not isinstance(written, ast.Index):
            return None
        if written is None or not isinstance(address, (ins.AddrVar, ins.PtrAdd, ins.Var, ins.Temp)):
            return None
        type_ = written.type
        if not type_.is_pointer or type_.const or type_.volatile or type_.atomic:
            return None
        return Handed(found, address, written)

    def function(self, name: str) -> OutParameter | None:
        """The function, where it does nothing but to give its parameter's pointer fresh memory."""
        body = self.lowered(name)
        if body is None or any(_narrow(body.function.variables[key].type) for key in body.function.params):
            return None
        found = out_parameter(body, self.lowered, self.effects, results=True)
        return found if found is not None and self.gives(found) else None

    def gives(self, found: OutParameter) -> bool:
        """On every way that returns, the pointer is set to memory allocated there, and nothing older is touched."""
        body = found.body
        ways = returning(body, self.effects)
        held: dict[int, frozenset[Name]] = {0: frozenset()}
        work = [0]
        while work:
            block = work.pop()
            behind = self.behind(found, body.blocks[block], held[block]) if block in ways else None
            if behind is None:
                if block in ways:
                    return False
                continue
            if not body.succs[block] and found.key not in behind:
                return False
            for s in body.succs[block]:
                before = held.get(s)
                after = behind if before is None else before & behind
                if after != before:
                    held[s] = after
                    work.append(s)
        return True

    def behind(
        self, found: OutParameter, block: Collection[ins.Instr], held: frozenset[Name]
    ) -> frozenset[Name] | None:
        """What surely holds the new memory behind a block; None: it does something else."""
        for instr in block:
            after = self.after(found, instr, held)
            if after is None:
                return None
            held = after
        return held

    def after(self, found: OutParameter, instr: ins.Instr, held: frozenset[Name]) -> frozenset[Name] | None:
        """The same for an instruction."""
        if not self.own(found, instr, held):
            return None
        match instr:
            case ins.Define(target=target, value=value):
                name: Name = target.number if isinstance(target, ins.Temp) else target.key
                if _root(value) in held:
                    return held | {name}
                return None if name == found.key else held - {name}
            case ins.Load(target=ins.Temp(number=number), address=address):
                return held - {number} if _root(address) in held else None
            case ins.Store(address=address, value=value):
                return held if _root(address) in held and _root(value) not in held else None
            case ins.CallInstr(callee=ins.AddrFunc(key=key), target=target):
                made = self.effects[key].allocates
                if made is None or made.into is not None or self.effects[key].frees is not None or made.shared:
                    return None
                return None if target is None else held | {target.number}
            case ins.Birth(var=var):
                return held - {var}
            case ins.Branch() | ins.SwitchOn() | ins.ReturnInstr():
                return held
            case _:
                return None

    def own(self, found: OutParameter, instr: ins.Instr, held: frozenset[Name]) -> bool:
        """It names variables of the function only, whose addresses nobody has; it sets local ones, and it reads the
        pointer where it has been set.
        """
        mine = found.body.function.variables
        target = instr.target if isinstance(instr, ins.Define) else None
        if isinstance(target, ins.Var) and target.key != found.key:
            variable = mine.get(target.key)
            if variable is None or variable.kind != "local":
                return False
        for part in (part for operand in operands_of(instr) for part in parts_of(operand)):
            if isinstance(part, ins.AddrVar) or (isinstance(part, ins.Var) and part.key not in mine):
                return False
            if isinstance(part, ins.Var) and part.key == found.key and part.key not in held:
                return False
        return True


def _alone(caller: ins.Lowered, call: ins.CallInstr) -> bool:
    """A call is a statement, in which nothing else happens, as it is written: so it may be replaced."""
    stmt = caller.stmts[call.stmt].stmt if call.stmt >= 0 else None
    e = uncast(stmt.expr) if isinstance(stmt, ast.ExprStmt) else None
    if e is not call.call or stmt is None or not stmt.span.editable or not call.call.callee_span.editable:
        return False
    return all(a.span.editable and not any(map(_does, within(a))) for a in call.call.args)


def _does(e: ast.Expr) -> bool:
    return isinstance(e, (ast.Assign, ast.IncDec, ast.Call))


def _narrow(type_: Type) -> bool:
    """A number that is made smaller where it is passed: what is written at a call means another one."""
    return type_.kind == "int" and type_.size is not None and type_.size < INT_BYTES


def put_back(handed: Handed, call: ins.CallInstr, value: ins.Temp) -> ins.Store:
    """Sets the pointer after the call, as an assignment to what is written there would."""
    span = handed.lvalue.span
    return ins.Store(span, call.stmt, handed.address, value, handed.lvalue.type)


def _root(operand: ins.Operand) -> Name | None:
    """What an address is made from."""
    while True:
        match operand:
            case ins.PtrAdd(base=base):
                operand = base
            case ins.Op(op="cast", args=args) if operand.type.is_pointer:
                operand = args[0]
            case ins.Temp(number=number):
                return number
            case ins.Var(key=key):
                return key
            case _:
                return None
