"""The value of operands as polynomials, in an environment of what variables hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opi_xform.calls.by_value import Numbers
from opi_xform.graph.graph import Node
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import NEGATED
from opi_xform.ir.types import Type
from opi_xform.memory.environment import Cell
from opi_xform.memory.extent import extent
from opi_xform.memory.objects import Objects
from opi_xform.memory.poly import ZERO, Poly, number, symbol
from opi_xform.memory.queries import PointsTo
from opi_xform.memory.symbols import CUT, WIDENED, WRAPS
from opi_xform.memory.values import Comparison, Values
from opi_xform.values.arithmetic.derived import Derived
from opi_xform.values.arithmetic.floating import CONVERTED, has_whole_part, is_unknown_floating, quotient
from opi_xform.values.arithmetic.folding import exactly, folded, wrapped
from opi_xform.values.arithmetic.widths import CUT_OFF, Widths
from opi_xform.values.versions import WIDEST, Versions, kind_of

TAG = 1 << 8  # what is shifted out and back by so much drops bits: no size of an element is so large


class Evaluator(Versions):
    """Evaluates operands of nodes.  ``env`` and ``scope`` are those of the place that is being looked at."""

    def __init__(
        self,
        variables: Mapping[str, ast.Variable],
        objects: Objects,
        points_to: PointsTo,
        values: Values,
        families: Mapping[int, int],
    ) -> None:
        super().__init__(objects, values, families)
        self.variables = variables
        self.pts = points_to
        self.families = families
        self.widths = Widths(variables, values.symbols)
        self.numbers: Numbers = {}  # read in structs that are variables
        self.derived: Mapping[int, Derived] = {}  # by array
        self.idom: Sequence[int] = ()
        self.exactly = False  # as C has it where numbers lose bits, which places and lengths are believed not to do

    def address(self, o: int) -> Poly:
        return self.symbols.of("object", (o,), frozenset())

    def opaque(self, node: Node, what: object, nonneg: bool = False) -> Poly:
        return self.symbols.of("opaque", (node.number, what), self.scope, nonneg)

    def value(self, node: Node, frame: int, operand: ins.Operand) -> Poly:
        """The value of an operand, evaluated in ``frame``; iterative over the operand's tree."""
        done: list[Poly] = []
        work: list[tuple[ins.Operand, bool]] = [(operand, False)]
        while work:
            item, ready = work.pop()
            match item:
                case ins.Op(args=args) | ins.Nondet(args=args, quotient=Type()) if not ready:
                    work.append((item, True))
                    work.extend((a, False) for a in reversed(args))
                case ins.PtrAdd() if not ready:
                    work.append((item, True))
                    work.append((item.index, False))
                    work.append((item.base, False))
                case ins.Op(args=args) | ins.Nondet(args=args, quotient=Type()):
                    values = done[len(done) - len(args) :]
                    del done[len(done) - len(args) :]
                    if isinstance(item, ins.Op):
                        done.append(self.operation(node, frame, item, values))
                    else:
                        known = None if self.rounding_may_change else quotient(self.symbols, item, values)
                        done.append(self.leaf(node, frame, item) if known is None else known)
                case ins.PtrAdd():
                    index, base = self.widths.believed(done.pop()), done.pop()
                    if item.scale == 0 and index != ZERO:
                        done.append(
                            self.symbols.of("op", ("ptradd?", base, index), self.symbols.scope(base) | self.scope)
                        )
                    elif self.is_row(base, item):
                        done.append(base + self.row(base, index, item.scale))
                    else:
                        done.append(base + index.scaled(item.scale))
                case _:
                    done.append(self.leaf(node, frame, item))
            if self.exactly and (ready or isinstance(item, ins.Var | ins.Temp)):
                done[-1] = self.widths.typed(frame, item, done[-1])
        return done[0]

    def is_row(self, base: Poly, item: ins.PtrAdd) -> bool:
        """A subscript that picks one row of an array of arrays."""
        s = base.single
        if not item.row or s is None or self.symbols.table[s].kind != "object":
            return False
        number_ = self.symbols.base(base)
        assert number_ is not None
        type_ = self.objects.table[number_].type
        return (
            type_ is not None
            and type_.is_array
            and type_.elem is not None
            and type_.elem.is_array
            and type_.elem.size == item.scale
        )

    def constant(self, operand: ins.Const) -> Poly:
        """Its value; of a datatype it is noted how long an element is, since variables may have it then."""
        size = extent(operand)
        if size is not None:
            self.values.handles.setdefault(operand.value, size)
        return number(operand.value)

    def row(self, base: Poly, index: Poly, size: int) -> Poly:
        """The place of a row, kept as a symbol so that it stays known which row an address was made from."""
        s = self.symbols.get("row", (self.symbols.base(base), index), self.symbols.scope(index))
        self.symbols.defs[s] = index.scaled(size)
        return symbol(s)

    def leaf(self, node: Node, frame: int, operand: ins.Operand) -> Poly:
        match operand:
            case ins.Const():
                return self.constant(operand)
            case ins.Var(key=key):
                return self.read_cell(node, self.objects.variable(frame, key), 0, self.variables[key].type)
            case ins.Temp(number=n):
                cell: Cell = ("t", frame, n)
                found = self.look(cell)
                return found if found is not None else self.opaque(node, ("temp", frame, n))
            case ins.AddrVar(key=key):
                return self.address(self.objects.variable(frame, key))
            case ins.AddrFunc(key=key):
                return self.symbols.of("opaque", ("function", key), frozenset())
            case ins.AddrHeap(node=n):
                return self.address(self.objects.heap(n))
            case ins.AddrLocal(key=key, frame=of):
                return self.address(self.objects.variable(of, key))
            case ins.AddrString():
                return self.symbols.of("opaque", ("string", node.number), frozenset())
            case ins.Nondet(reason=reason):
                return self.opaque(node, ("nondet", id(operand), reason))
            case _:
                return self.opaque(node, ("nondet", id(operand), type(operand).__name__))

    def read_cell(self, node: Node, o: int, offset: int, type_: Type) -> Poly:
        if o in self.objects.foreign:
            return self.others(node, o, offset, nonneg=type_.kind == "int" and not type_.signed)
        cell: Cell = (o, offset)
        found = self.look(cell)
        kind = kind_of(type_)
        if self.kinds.get((o, offset), {kind}) != {kind}:
            # through a union or a cast pointer: bytes of another value
            return self.symbols.of("op", ("bytes of", o, offset, kind, self.version(o)), self.scope)
        if found is not None:
            return found
        self.kinds.setdefault((o, offset), set()).add(kind)
        value = self.load_symbol(self.address(o) + number(offset), frozenset({o}), type_)
        self.sizes[o, offset] = max(self.sizes.get((o, offset), 0), type_.size or WIDEST)
        self.out.put(cell, value)
        self.offsets.setdefault(o, set()).add(offset)
        return value

    def others(self, node: Node, *place: object, nonneg: bool = False) -> Poly:
        """What memory holds that is not the program's: no table says when that changes."""
        return self.opaque(node, ("outside", *place), nonneg)

    def load_symbol(self, address: Poly, targets: frozenset[int], type_: Type) -> Poly:
        state = self.state(targets, type_)
        scope = self.symbols.scope(address) | self.symbols.scope(state)
        nonneg = type_.kind == "int" and not type_.signed
        return self.symbols.of("load", (address, (state,), *kind_of(type_)), scope, nonneg)

    def loaded(self, node: Node, address: Poly, targets: frozenset[int], type_: Type) -> Poly:
        """What is read at a place that is not a number: of an array that is derived from others, what that is there."""
        value, work = ZERO, [(address, targets, 1)]
        while work:
            at, objects, factor = work.pop()
            o, offset = self.symbols.base(at), self.symbols.offset(at)
            found = self.derived.get(o) if o is not None and objects == {o} else None
            if found is None or not found.holds(node.block, self.idom) or not found.is_element(offset, type_):
                value = value + self.load_symbol(at, objects, type_).scaled(factor)
                continue
            value = value + number(found.constant * factor)
            work += [(self.address(a) + offset, frozenset({a}), times * factor) for a, times in found.terms]
        return value

    def member(self, base: int | None, address: Poly) -> Poly | None:
        """The buffer that a cell of an array of pointers owns."""
        if base is None or base not in self.families:
            return None
        offset = self.symbols.resolve(self.symbols.offset(address))
        if any(c % 8 for _, c in offset.terms):
            return None
        index = Poly(tuple((m, c // 8) for m, c in offset.terms))
        family = self.families[base]
        return self.address(family) + self.symbols.of("row", (family, index), self.symbols.scope(index))

    def operation(self, node: Node, frame: int, op: ins.Op, values: list[Poly]) -> Poly:
        name = op.op
        if op.type.kind == "float":
            if name != "cast":
                return self.opaque(node, ("float", id(op)))
            return self.floating(frame, op, self.widths.typed(frame, op.args[0], values[0]))
        values = self.widths.operands(frame, op, values)
        exact = exactly(name, values)
        if exact is not None:
            if name == "ptrdiff" or (name == "-" and any(self.symbols.base(v) is not None for v in values)):
                return self.widths.apart(exact)
            constant = exact.constant
            if constant is not None:
                return number(wrapped(constant, op.type))
            if not op.unsigned or not (self.near_end(exact) or any(self.near_end(v) for v in values)):
                return exact  # one that is made to wrap (a hash, a random number) is no polynomial
        if name == "cast":
            return self.cast(node, frame, op, values[0])
        if name in CUT_OFF:
            values = [self.widths.typed(frame, a, v) for a, v in zip(op.args, values, strict=True)]
        constants = [v.constant for v in values]
        if all(c is not None for c in constants):
            known = [c for c in constants if c is not None]
            if op.unsigned and name not in NEGATED and name not in ("<<", ">>", "not"):
                known = [wrapped(c, op.type) for c in known]
            if not (op.unsigned and any(c < 0 for c in known)):
                result = folded(name, known)
                if result is not None:
                    return number(wrapped(result, op.type))
        if name == "<<" and constants[1] is not None and 0 <= constants[1] < 62:
            shifted = values[0].scaled(1 << constants[1])
            if not op.unsigned or not self.near_end(shifted):
                return shifted
        if name in ("/", ">>") and constants[1] is not None and constants[1] > 0:
            divisor = constants[1] if name == "/" else 1 << min(constants[1], 62)
            divides = all(c % divisor == 0 for _, c in values[0].terms)
            # what was multiplied may have wrapped
            tag = name == ">>" and divisor >= TAG
            wraps = op.unsigned and ((op.type.size or 0) < 8 or tag or self.computed(values[0]))
            if divides and not wraps and not (op.unsigned and any(c < 0 for _, c in values[0].terms)):
                return Poly(tuple((m, c // divisor) for m, c in values[0].terms))
        scope: frozenset[int] = frozenset()
        for v in values:
            scope |= self.symbols.scope(v)
            base = self.symbols.base(v)
            if base is not None and name not in NEGATED and name != "not":  # of which only 0 or 1 is left
                self.values.escape(base, node.number, "its address is used as a number")
        nonneg = op.unsigned or name in ("<", ">", "<=", ">=", "==", "!=", "not")
        if name in ("/", "%", ">>") and all(self.symbols.is_nonneg(v) for v in values):
            nonneg = True
        if name == "&" and any(c is not None and c >= 0 for c in constants):
            nonneg = True
        key = (name, op.unsigned, tuple(values), *self.widths.modulus(frame, op, values))
        return self.symbols.of("op", key, scope, nonneg)

    def floating(self, frame: int, op: ins.Op, value: Poly) -> Poly:
        """A number that becomes a floating one: as the same number always does."""
        if op.unsigned and not self.symbols.is_nonneg(value):
            value = self.widened(frame, op, value)
        return self.symbols.of("op", (CONVERTED, *kind_of(op.type), value), self.symbols.scope(value))

    def widened(self, frame: int, op: ins.Op, value: Poly) -> Poly:
        """An unsigned number of so many bits that may stand for a negative one, made wider."""
        of = self.widths.of(frame, op.args[0])
        return self.symbols.of("op", (WIDENED, of and of.size, value), self.symbols.scope(value), True)

    @property
    def rounding_may_change(self) -> bool:
        """Who knows the whole program says whether it may not."""
        return True

    def cast(self, node: Node, frame: int, op: ins.Op, value: Poly) -> Poly:
        """Conversions between integers of 32 and 64 bits keep the value (see docs/soundness.md); others are opaque.

        An unsigned number that is made wider is what it is modulo 2**32: where it may stand for a negative one, and so
        for another, it is opaque as well.
        """
        to = op.type
        if to.kind == "int" and not to.boolean and has_whole_part(self.symbols, value, (to.size or 0) >= 8):
            value = self.symbols.of("op", ("whole part", value), self.symbols.scope(value))
        if to.kind != "pointer":
            value = self.as_number(node, value)
        constant = value.constant
        if to.kind == "pointer":
            return self.widths.address(frame, op.args[0], value)
        if constant is not None and to.kind == "int":
            return number(wrapped(constant, to))
        if self.widths.too_wide(self.widths.of(frame, op.args[0]), to):
            return self.narrow(to, value)
        if op.unsigned and (to.size or 0) > 4 and not self.symbols.is_nonneg(value):
            return self.widened(frame, op, value)
        if to.kind == "int" and (to.size or 0) >= 4 and not ((to.size or 0) < 8 and self.near_end(value)):
            given = self.widths.of(frame, op.args[0])
            self.widths.note(given, to, value)
            value = self.widths.signed_anew(given, to, value)
            return value if self.widths.is_floating(frame, op.args[0]) else self.kept(to, value, cast=True)
        return self.narrow(to, self.widths.stored(self.widths.of(frame, op.args[0]), to, value))

    def kept(self, to: Type, value: Poly, cast: bool) -> Poly:
        """The value, noted where it may be one of more bits than the integer type has.  What is no load is so only in
        a cast, which is there for something.  A floating number is the same whole one in every type that holds it.
        """
        if (to.size or 0) < 8:
            for s in value.symbols():
                of = self.symbols.table[s]
                made = cast and of.kind in ("opaque", "op", "phi", "exit") and not is_unknown_floating(of)
                if made or (of.kind == "load" and of.key[3] == 8):
                    self.values.narrowed.add(s)
        return value

    def as_number(self, node: Node, value: Poly) -> Poly:
        """The value, where it may be an address that becomes a number."""
        base = self.symbols.base(value)
        if base is not None:
            self.values.escape(base, node.number, "its address is used as a number")
        return value

    def near_end(self, value: Poly) -> bool:
        """It is made of numbers so large that it may well be beyond 32 bits: two numbers in one, a hash, ``-1u``."""
        value = self.symbols.resolve(value)
        if value.constant is not None:
            return False
        if any(abs(c) >= WRAPS for _, c in value.terms):
            return True
        arms = (c for s in value.symbols() for c in self.values.joins.get(s, ()))
        return any(c.constant is not None and abs(c.constant) >= WRAPS for c in arms)

    def computed(self, value: Poly) -> bool:
        """There is a number in it that arithmetic modulo 2**width has made, and so may be any."""
        infos = (self.symbols.table[s] for s in value.symbols())
        return any(info.kind == "op" and info.key[1] is True for info in infos)

    def narrow(self, to: Type, value: Poly) -> Poly:
        """The value in an integer type that may not hold it."""
        return self.widths.made(to, (CUT, *kind_of(to), value), value)

    def converted(self, node: Node, to: Type, value: Poly, given: Type | None) -> Poly:
        """What a variable of type ``to`` holds when it is given the value, which has the type ``given``."""
        if to.kind == "float":
            return self.opaque(node, "float")
        if to.kind != "int":
            return value
        constant = value.constant
        if constant is not None:
            return number(wrapped(constant, to))
        if self.widths.too_wide(given, to):
            return self.narrow(to, value)
        if (to.size or 0) >= 4 and not ((to.size or 0) < 8 and self.near_end(value)):
            self.widths.note(given, to, value)
            return self.kept(to, self.widths.stored(given, to, value), cast=False)
        if to.boolean:
            value = self.widths.stored(given, to, value)
        s = value.single
        if s is not None:
            info = self.symbols.table[s]
            if info.kind == "load" and info.key[2:] == kind_of(to):
                return value
            if info.kind == "op" and info.key[:4] == ("cast", *kind_of(to)):
                return value
            if info.kind == "op" and (info.key[0] in NEGATED or info.key[0] == "not"):
                return value
        return self.narrow(to, value)

    def returned(self, node: Node, callee: int, operand: ins.Operand | None, to: Type | None) -> Poly:
        """What a copy of a function returns, in the type that it returns."""
        if operand is None:
            return self.opaque(node, "returned")
        value = self.value(node, callee, operand)
        if to is None or to.kind != "int":
            return value
        return self.widths.stored(self.widths.of(callee, operand), to, value)

    def comparison(self, node: Node, frame: int, cond: ins.Operand) -> Comparison | None:
        negated = False
        while isinstance(cond, ins.Op) and cond.op == "not":
            cond = cond.args[0]
            negated = not negated
        if isinstance(cond, ins.Op) and cond.op in NEGATED:
            left, right = (self.value(node, frame, a) for a in cond.args)
            if any((isinstance(a, ins.Op) and a.type.kind == "float") or isinstance(a, ins.Nondet) for a in cond.args):
                return None
            self.values.operands[node.number] = (left, right)
            bases = [base for v in (left, right) if (base := self.symbols.base(v)) is not None]
            if len(bases) == 2 and all(len(self.objects.table[o].nodes) > 1 for o in bases):
                return None  # one of them may be of memory that was freed
            op = NEGATED[cond.op] if negated else cond.op
            flag = self.flagged(left, op == "==") if op in ("==", "!=") and right == ZERO else None
            return flag or Comparison(op, left, right, cond.unsigned)
        value = self.value(node, frame, cond)
        self.values.operands[node.number] = (value,)
        if isinstance(cond, ins.Nondet):
            return None
        return self.flagged(value, negated) or Comparison("==" if negated else "!=", value, ZERO)

    def flagged(self, value: Poly, negated: bool) -> Comparison | None:
        """The comparison that a flag was set to."""
        s = value.single
        info = None if s is None else self.symbols.table[s]
        if info is None or info.kind != "op" or info.key[0] not in NEGATED:
            return None
        op, unsigned, of = info.key[:3]
        assert isinstance(op, str)
        assert isinstance(of, tuple)
        left, right = of
        if self.symbols.base(left) is not None or self.symbols.base(right) is not None:
            return None
        return Comparison(NEGATED[op] if negated else op, left, right, unsigned is True)

    def set_cell(self, o: int, offset: int, value: Poly, node: Node, type_: Type | None = None) -> None:
        """``type_``: of a value that is stored through an address, which need not be that of the place."""
        if type_ is None:
            whole = self.objects.table[o].type
            type_ = whole if whole is not None and whole.is_scalar else None
        width = None if type_ is None else type_.size
        self.sizes[o, offset] = max(self.sizes.get((o, offset), 0), width or WIDEST)
        if type_ is not None:
            self.kinds.setdefault((o, offset), set()).add(kind_of(type_))
        if o not in self.objects.foreign:
            self.out.put((o, offset), value)
        self.offsets.setdefault(o, set()).add(offset)
        self.out.put(("v", o), self.changed_at(node))

    def copied(self, node: Node, source: Poly, to: Poly, size: int | None) -> None:
        """Numbers in a struct are the same in its copy.  What the copy's bytes held before is forgotten already."""
        base, lo = self.symbols.base(source), self.symbols.offset(source).constant
        o, at = self.symbols.base(to), self.symbols.offset(to).constant
        if base is None or lo is None or o is None or at is None or size is None or base == o:
            return
        if base in self.objects.foreign or o in self.objects.foreign:
            return
        for offset, type_ in sorted(self.numbers.get(o, {}).items()):  # which nobody may have looked at
            if at <= offset and offset + (type_.size or 0) <= at + size and not (type_.volatile or type_.atomic):
                self.read_cell(node, base, lo + offset - at, type_)
        for offset in sorted(self.offsets.get(base, ())):
            kinds, width = self.kinds.get((base, offset), set()), self.sizes.get((base, offset), WIDEST)
            value = self.look((base, offset)) if lo <= offset and offset + width <= lo + size else None
            if value is None or len(kinds) != 1 or next(iter(kinds))[0] != "int":
                continue
            cell = (o, offset - lo + at)
            self.sizes[cell] = max(self.sizes.get(cell, 0), width)
            self.kinds.setdefault(cell, set()).update(kinds)
            self.out.put(cell, value)
            self.offsets.setdefault(o, set()).add(cell[1])
