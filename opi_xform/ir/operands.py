"""What instructions evaluate, and what operands are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from opi_xform.ir import instr as ins


def operands_of(instr: ins.Instr) -> tuple[ins.Operand, ...]:
    """What an instruction of a function evaluates."""
    match instr:
        case ins.Define(value=value) | ins.SwitchOn(value=value) | ins.Branch(cond=value) | ins.Load(address=value):
            return (value,)
        case ins.Store(address=address, value=value):
            return (address, value)
        case ins.CopyBytes(target=target, source=source):
            return (target, source)
        case ins.ReturnInstr(value=returned):
            return () if returned is None else (returned,)
        case ins.Escape(values=values):
            return values
        case ins.CallInstr() as call:
            return (call.callee, *call.args)
        case _:
            return ()


def zero_constant(operand: ins.Operand) -> bool:
    """The constant 0, also by a name (``NULL``); no constant of MPI's, which another MPI may give another value."""
    return isinstance(operand, ins.Const) and operand.value == 0 and not operand.name.startswith("MPI_")


def parts_of(operand: ins.Operand) -> Iterator[ins.Operand]:
    """An operand and all that it is made of."""
    work = [operand]
    while work:
        item = work.pop()
        yield item
        if isinstance(item, ins.PtrAdd):
            work += (item.base, item.index)
        elif isinstance(item, ins.Op):
            work += item.args


def with_operands(instr: ins.Instr, new: Mapping[tuple[str, int], ins.Temp]) -> ins.Instr:
    """An instruction that evaluates temporaries in place of variables; ``new`` by name and place in the text."""

    def of(operand: ins.Operand) -> ins.Operand:
        return _substituted(operand, new)

    match instr:
        case ins.Define(value=value) | ins.SwitchOn(value=value):
            return replace(instr, value=of(value))
        case ins.Branch(cond=cond):
            return replace(instr, cond=of(cond))
        case ins.Load(address=address):
            return replace(instr, address=of(address))
        case ins.Store(address=address, value=value):
            return replace(instr, address=of(address), value=of(value))
        case ins.CopyBytes(target=target, source=source):
            return replace(instr, target=of(target), source=of(source))
        case ins.ReturnInstr(value=value) if value is not None:
            return replace(instr, value=of(value))
        case ins.Escape(values=values):
            return replace(instr, values=tuple(map(of, values)))
        case ins.CallInstr(callee=callee, args=args):
            return replace(instr, callee=of(callee), args=tuple(map(of, args)))
    return instr


def _substituted(operand: ins.Operand, new: Mapping[tuple[str, int], ins.Temp]) -> ins.Operand:
    done: list[ins.Operand] = []
    work: list[tuple[ins.Operand, bool]] = [(operand, False)]
    while work:
        item, inner = work.pop()
        if isinstance(item, ins.Var):
            done.append(new.get((item.key, item.span.begin), item))
        elif isinstance(item, ins.PtrAdd):
            if inner:
                index = done.pop()
                done.append(replace(item, base=done.pop(), index=index))
            else:
                work += ((item, True), (item.index, False), (item.base, False))
        elif isinstance(item, ins.Op) and item.args:
            if inner:
                args = tuple(done[-len(item.args) :])
                del done[-len(item.args) :]
                done.append(replace(item, args=args))
            else:
                work += ((item, True), *((arg, False) for arg in reversed(item.args)))
        else:
            done.append(item)
    return done[0]


def temps_in(operand: ins.Operand, floating: bool = False) -> Iterator[int]:
    """Temporaries in an operand; ``floating``: without those of which only a floating number is made."""
    work = [(operand, floating)]
    while work:
        item, inexact = work.pop()
        if isinstance(item, ins.Temp):
            if not inexact:
                yield item.number
        elif isinstance(item, ins.PtrAdd):
            work += ((item.base, False), (item.index, False))
        elif isinstance(item, ins.Op):
            work += ((a, inexact and item.type.kind == "float") for a in item.args)


def used_temps(body: ins.Lowered) -> frozenset[int]:
    """Temporaries of a function that something is computed from."""
    instrs = (instr for block in body.blocks for instr in block)
    return frozenset(n for instr in instrs for operand in operands_of(instr) for n in temps_in(operand))


def assigned(body: ins.Lowered) -> frozenset[str]:
    """Variables that a function may set, or whose address it takes; all its parameters where it is not understood."""
    out: set[str] = set()
    for instr in (instr for block in body.blocks for instr in block):
        if isinstance(instr, ins.Escape):
            out.update(body.function.params)
        if isinstance(instr, ins.Define) and isinstance(instr.target, ins.Var):
            out.add(instr.target.key)
        out.update(x.key for operand in operands_of(instr) for x in parts_of(operand) if isinstance(x, ins.AddrVar))
    return frozenset(out)


_COMPARING = frozenset({"<", ">", "<=", ">=", "==", "!=", "not"})


def compared(instrs: Sequence[ins.Instr], cond: ins.Operand, plain: Callable[[str], bool]) -> ins.Operand:
    """A condition at the end of a block: ``a < b`` in the place of a variable that was set to that in the same block.

    Nothing in between may change the variables that are compared.  plain: a local variable that is not volatile.
    """
    key = _tested(cond)
    if key is None or not plain(key):
        return cond
    for at in range(len(instrs) - 1, -1, -1):
        instr = instrs[at]
        match instr:
            case ins.Define(target=ins.Var(key=found), value=value) if found == key:
                while isinstance(value, ins.Op) and value.op == "cast" and value.type.boolean:
                    value = value.args[0]
                if not isinstance(value, ins.Op) or value.op not in _COMPARING:
                    return cond
                leaves = [x for x in parts_of(value) if not isinstance(x, ins.Op)]
                names = [x.key for x in leaves if isinstance(x, ins.Var)]
                known = all(isinstance(x, (ins.Const, ins.Temp, ins.Var)) for x in leaves)
                kept = known and key not in names and all(map(plain, names))
                later = {i.target for i in instrs[at + 1 :] if isinstance(i, (ins.Define, ins.Load))}
                return value if kept and later.isdisjoint(leaves) else cond
            case ins.Birth(var=born) if born == key:
                return cond
            case ins.Define() | ins.Load() | ins.Birth():  # what is born has not been compared yet
                continue
            case _:
                return cond
    return cond


def _tested(cond: ins.Operand) -> str | None:
    """The variable of which a condition is that it is not 0."""
    while isinstance(cond, ins.Op):
        match cond:
            case ins.Op(op="!=", args=(inner, ins.Const(value=0, name=""))):
                cond = inner
            case ins.Op(op="cast", args=(inner,), type=type_) if type_.kind == "int":
                cond = inner
            case _:
                return None
    return cond.key if isinstance(cond, ins.Var) else None


def handle(name: str) -> int:
    """A stable number for a constant known by its name only; far from every real value."""
    number: int = sum(ord(c) * pow(257, i) for i, c in enumerate(name)) % (1 << 39)
    return -(1 << 40) - number


def null_test(cond: ins.Operand) -> tuple[ins.Operand, bool]:
    """What a branch compares with NULL, and whether it is NULL where the condition holds."""
    null = False
    while isinstance(cond, ins.Op):
        if cond.op == "not":
            cond, null = cond.args[0], not null
        elif cond.op in ("==", "!=") and any(is_null(x) for x in cond.args):
            null = null != (cond.op == "==")
            cond = cond.args[1] if is_null(cond.args[0]) else cond.args[0]
            break
        else:
            break
    return cond, null


def is_null(operand: ins.Operand) -> bool:
    while isinstance(operand, ins.Op) and operand.op == "cast":
        operand = operand.args[0]
    return isinstance(operand, ins.Const) and operand.value == 0
