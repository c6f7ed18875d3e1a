"""Numbers that lose bits where they become an integer of fewer bits, or of the other sign.

Places and lengths are believed not to (docs/soundness.md): a number of 64 bits stays what it is as an ``int``.  A flag
word, a hash or a time is no length.  So a number that may have lost bits is a number of its own, as C has it in its
type: where it is compared, outside of the test of a loop by what changes in it; where it is divided, shifted or masked;
where it is kept in a wider place; and where it is taken from the number that it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.graph import Bind, Node, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.memory.poly import Poly, symbol
from opi_xform.memory.symbols import IN_TYPE, Symbols

CUT_OFF = frozenset(("/", "%", ">>", "&", "|", "^", "~", "<", "<=", ">", ">=", "==", "!=", "not"))
"""Operations by which it shows that an operand has lost bits."""


class Widths:
    """The types of operands, and what loses bits."""

    def __init__(self, variables: Mapping[str, ast.Variable], symbols: Symbols) -> None:
        self.variables = variables
        self.symbols = symbols
        self.temps: dict[tuple[int, int], Type] = {}  # by frame and number
        self.cut_temps: set[tuple[int, int]] = set()  # those that are set to what loses bits
        self.named: set[tuple[int, str]] = set()  # variables that the loop which is being entered sets so
        self.stores: dict[int, tuple[int, ins.Operand]] = {}  # nodes of it that store so, with frame and place
        self.lost = symbols.lost

    def of(self, frame: int, operand: ins.Operand) -> Type | None:
        """The integer type of the fewest bits that an operand passes through last; None: it is none, or not known."""
        match operand:
            case ins.Op(op="cast", args=(inner,), type=type_):
                before = self.of(frame, inner)
                narrower = before is not None and (before.size or 0) < (type_.size or 0)
                return before if narrower else _integer(type_)
            case ins.Op(type=type_):
                return _integer(type_)
            case ins.Var(key=key):
                return _integer(self.variables[key].type)
            case ins.Temp(number=n):
                return _integer(self.temps.get((frame, n)))
            case _:
                return None

    def is_floating(self, frame: int, operand: ins.Operand) -> bool:
        """A temporary of a floating type: the whole number in it is the same in each integer type that holds it."""
        type_ = self.temps.get((frame, operand.number)) if isinstance(operand, ins.Temp) else None
        return type_ is not None and type_.kind == "float"

    def note(self, source: Type | None, to: Type, value: Poly) -> None:
        """A value of one type becomes one of another."""
        if source is None or to.kind != "int" or not _fewer(to, source) or value.constant is not None:
            return
        self.lost.update(s for s in value.symbols() if self.symbols.table[s].kind not in ("count", "object"))

    def may_have_lost(self, value: Poly) -> bool:
        """Some number in it has lost bits somewhere, also seen from after a loop, or as what a loop adds up."""
        work = list(value.symbols())
        seen = set(work)
        while work:
            s = work.pop()
            if s in self.lost:
                return True
            info, known = self.symbols.table[s], self.symbols.definition(s)
            more = set(known.symbols()) if known is not None else set[int]()
            inside = info.key[1] if info.kind == "exit" else None
            if isinstance(inside, int):
                more.add(inside)
            work += more - seen
            seen |= more
        return False

    def like_one(self, s: int, values: Sequence[Poly]) -> None:
        """A symbol stands for one of several numbers: what may be said of one of them may be of it."""
        if self.lost and any(map(self.may_have_lost, values)):
            self.lost.add(s)
        if any(map(self.symbols.is_large, values)):
            self.symbols.large.add(s)
        if any(map(self.symbols.is_minus, values)):
            self.symbols.minus.add(s)

    def too_narrow(
        self, nodes: Sequence[Node], returned: Callable[[int], Type | None]
    ) -> list[tuple[int, ins.Operand]]:
        """The variables that nodes set to what loses bits are ``named`` then; where they store such, with the frame.

        They have not been looked at yet.  What is made of such a number is one, too.
        """
        self.named, self.stores = set(), {}
        before = (-1, 0, 0)
        while before != (before := (len(self.named), len(self.cut_temps), len(self.stores))):
            for node in nodes:
                self.look_at(node, returned)
        return list(self.stores.values())

    def look_at(self, node: Node, returned: Callable[[int], Type | None]) -> None:
        """Notes what a node sets to what loses bits."""
        frame = node.frame
        match node.action:
            case ins.Define(target=ins.Temp() as target, value=value, type=type_):
                self.temps[frame, target.number] = type_
                self.define(frame, target.number, value, type_)
            case ins.Define(target=ins.Var() as target, value=value, type=type_):
                if self.loses(frame, value, type_):
                    self.named.add(self.owner(frame, target.key))
            case ins.Load(target=target, type=type_):
                self.temps[frame, target.number] = type_
                if self.stores and type_.kind == "int":
                    self.cut_temps.add((frame, target.number))
            case ins.CallInstr(target=ins.Temp() as target, call=ast.Call(type=type_)):
                self.temps[frame, target.number] = type_
            case Unbind(callee=callee, target=ins.Temp() as target, value=value):
                to = returned(callee)
                if to is not None and value is not None:
                    self.temps[frame, target.number] = to
                    if self.loses(callee, value, to):
                        self.cut_temps.add((frame, target.number))
            case Bind(caller=caller, params=params, args=args):
                for key, argument in zip(params, args, strict=True):
                    if self.loses(caller, argument, self.variables[key].type):
                        self.named.add(self.owner(frame, key))
            case ins.Store(address=place, value=value, type=type_):
                if self.loses(frame, value, type_):
                    self.stores[node.number] = (frame, place)
            case _:
                pass

    def owner(self, frame: int, key: str) -> tuple[int, str]:
        """A variable with its frame; static ones and globals have none."""
        return (-1 if self.variables[key].is_global else frame), key

    def define(self, frame: int, temp: int, operand: ins.Operand, to: Type) -> None:
        """A temporary is set to an operand."""
        if self.loses(frame, operand, to):
            self.cut_temps.add((frame, temp))

    def loses(self, frame: int, operand: ins.Operand, to: Type) -> bool:
        """What is stored as this type, or a number in it, becomes one of fewer bits or of the other sign."""
        work: list[tuple[ins.Operand, Type]] = [(operand, to)]
        while work:
            item, type_ = work.pop()
            before = self.of(frame, item)
            if before is not None and type_.kind == "int" and _fewer(type_, before):
                return True
            if isinstance(item, ins.Temp) and (frame, item.number) in self.cut_temps:
                return True
            if isinstance(item, ins.Var) and self.named and self.owner(frame, item.key) in self.named:
                return True
            if isinstance(item, ins.Op):
                work += [(a, item.type if item.op == "cast" else self.of(frame, a) or item.type) for a in item.args]
        return False

    @staticmethod
    def too_wide(given: Type | None, to: Type) -> bool:
        """A number of more than 64 bits becomes one of fewer."""
        return given is not None and (given.size or 0) > 8 >= (to.size or 0)

    def typed(self, frame: int, operand: ins.Operand, value: Poly) -> Poly:
        """What an operand is in its type, where its number may have lost bits."""
        if not self.lost or not self.may_have_lost(value):
            return value
        type_ = self.of(frame, operand)
        if type_ is None:
            return value
        if (type_.size or 0) >= 8:  # a cast of as many bits that changes the sign
            before = self.of(frame, operand.args[0]) if isinstance(operand, ins.Op) and operand.op == "cast" else None
            if before is None or not type_.signed or before.signed or before.size != type_.size:
                return value
        return self.in_type(type_, value)

    def each(self, frame: int, operands: Sequence[ins.Operand], values: Sequence[Poly]) -> tuple[Poly, ...]:
        """What operands are in their types: of a function that makes the same of the same."""
        return tuple(self.typed(frame, o, v) for o, v in zip(operands, values, strict=True))

    def in_type(self, type_: Type, value: Poly) -> Poly:
        """A number that may have lost bits, as one of a type."""
        if not self.may_have_lost(value):
            return value
        kind = (type_.kind, type_.size, type_.signed)
        s = value.single
        if s is not None:
            info = self.symbols.table[s]
            if (info.kind == "load" and info.key[2:] == kind) or (
                info.kind == "op" and info.key[:4] == (IN_TYPE, *kind)
            ):
                return value
        return self.made(type_, (IN_TYPE, *kind, value), value)

    def made(self, type_: Type, key: tuple[object, ...], value: Poly) -> Poly:
        """What an integer type makes of a value: of a large one, or an unsigned one of -1, it may be a large one."""
        s = self.symbols.get("op", key, self.symbols.scope(value), not type_.signed)
        if self.symbols.is_large(value) or (not type_.signed and self.symbols.is_minus(value)):
            self.symbols.large.add(s)
        return symbol(s)

    def stored(self, given: Type | None, to: Type, value: Poly) -> Poly:
        """What a place of 64 bits, or a ``_Bool``, holds of a number of fewer bits or of the other sign."""
        if given is None or not ((given.size or 0) < 8 if to.boolean else (to.size or 0) >= 8 and _fewer(given, to)):
            return value
        return self.in_type(given, value)

    def cut(self, to: Type, value: Poly) -> Poly:
        """What a place of 32 bits holds of a number that has lost bits, there or before: it may be negative."""
        return self.in_type(to, value) if to.kind == "int" and to.size == 4 else value

    def signed_anew(self, given: Type | None, to: Type, value: Poly) -> Poly:
        """An unsigned number of 64 bits as a signed one: from 2^63 on it is another one."""
        changes = given is not None and not given.signed and to.signed and given.size == to.size == 8
        return self.in_type(to, value) if changes else value

    def operands(self, frame: int, op: ins.Op, values: list[Poly]) -> list[Poly]:
        """The operands of sums, differences and products, with those that are narrower than it as what they are.

        ``key - (unsigned)low`` is what is left of a key, and ``2L * low`` is no double key.
        """
        if not self.lost or op.op not in ("+", "-", "*", "<<", "neg"):
            return values
        types = [self.of(frame, a) for a in op.args]
        return [
            v if t is None or (t.size or 0) >= min(op.type.size or 0, 8) else self.in_type(t, v)
            for t, v in zip(types, values, strict=True)
        ]

    def modulus(self, frame: int, op: ins.Op, values: Sequence[Poly]) -> tuple[int, ...]:
        """The bytes of an unsigned operation, where it may make another number of the same in another width."""
        if not op.unsigned:
            return ()
        plain = (v.constant is not None or v.single is not None for v in values)
        if op.op not in ("~", "<<") and all(plain):
            return ()
        types = (self.of(frame, a) for a in op.args)
        return (max((op.type.size or 0, *(t.size or 0 for t in types if t is not None))),)

    def believed(self, value: Poly) -> Poly:
        """A place or a length, for which every number in it is taken for the one that it was."""
        if not self.lost:
            return value
        before = None
        while value is not before:
            before, value = value, value.substitute(self._was)
        return value

    def given(
        self, frame: int, call: ins.CallInstr, effect: FunctionEffect | None, values: tuple[Poly, ...]
    ) -> tuple[Poly, ...]:
        """What a function is given that is not followed: places and lengths, but for ranks and tags."""
        if not self.lost:
            return values
        numbers = effect.mpi.numbers if effect is not None and effect.mpi is not None else frozenset[int]()
        found = enumerate(zip(call.args, values, strict=True))
        return tuple(self.typed(frame, a, v) if i in numbers else self.believed(v) for i, (a, v) in found)

    def _was(self, s: int) -> Poly | None:
        info = self.symbols.table[s]
        if info.kind != "op" or info.key[0] != IN_TYPE:
            return None
        was = info.key[-1]
        assert isinstance(was, Poly)
        return was

    def address(self, frame: int, operand: ins.Operand, value: Poly) -> Poly:
        """A number that becomes an address, which may become a number again."""
        type_ = self.of(frame, operand)
        return value if type_ is None or (type_.size or 0) >= 8 else self.in_type(type_, value)

    def apart(self, value: Poly) -> Poly:
        """How far two addresses are apart: made by subscripts, which are believed, but a number again."""
        return value.substitute(self._as_place) if self.lost else value

    def _as_place(self, s: int) -> Poly | None:
        if not self.may_have_lost(symbol(s)):
            return None
        return self.symbols.of("op", (IN_TYPE, "place", s, symbol(s)), self.symbols.table[s].scope)


def _integer(type_: Type | None) -> Type | None:
    return type_ if type_ is not None and type_.kind == "int" and not type_.boolean and type_.size else None


def _fewer(type_: Type, than: Type) -> bool:
    """The type does not hold all that the other one does, which is as wide at least."""
    size, other = type_.size or 0, than.size or 0
    return size < other or (size == other and type_.signed != than.signed)
