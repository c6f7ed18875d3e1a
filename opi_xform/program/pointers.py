"""Which functions a call through a pointer may reach.

A pointer to a function holds the address of some function whose address is taken (C 6.3.2.1, 6.3.2.3).  In a whole
program that calls nothing unknown, and where neither a call nor a variable of a file that is not given hands out
pointers to functions, those are functions of its own; of these, the ones whose type is compatible with that of the call
(6.5.2.2p9).  Programs that are careless about it cast: where a cast makes a function of another type of one, or a
pointer to functions of what is none, it is enough that the arguments are of the same kinds.  Few programs have many, so
no points-to analysis is needed.

Large programs have hooks that nobody sets in this configuration: no function of the kind that is called there has its
address taken.  Such a call is none that the program makes (``never``), if the program is not careless anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from opi_xform.effects.model import FunctionEffect
from opi_xform.effects.outside import LIBRARY_VARIABLES, foreign
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Record, Type
from opi_xform.ir.walk import expressions, statements, within

HANDS_OUT = frozenset({"dlsym", "dlvsym", "dlfunc"})
"""Library functions whose results may be pointers to functions of other code."""

_COMPILERS = ("_mm_", "_mm256_", "_mm512_", "__builtin_ia32_")
"""Vector functions of the compiler's headers: unknown in what they move, but they bring in no functions."""

_HANDLERS = frozenset({"signal", "bsd_signal", "sysv_signal", "sigset", "sigaction"})
_AS_HANDLER = (["int"], ["int", "pointer", "pointer"])
"""What hands out handlers of signals that other code set, and what handlers take (POSIX, sigaction)."""


class PointerCalls:
    """taken: functions whose address is taken.  called: those that are called by name.

    complete: main is among the files, so nothing outside them brings pointers in.
    """

    def __init__(
        self,
        functions: Mapping[str, ast.Function],
        effects: Mapping[str, FunctionEffect],
        taken: Collection[str],
        called: Collection[str],
        complete: bool,
        variables: Mapping[str, ast.Variable],
        records: Mapping[str, Record],
    ) -> None:
        self.functions = functions
        self.taken = tuple(sorted(taken))
        self.known = (
            complete
            and all(name in functions for name in taken)
            and not any(function.refused for function in functions.values())  # what is in there is not known
            and not any(_brings(key, variables[key].type, records) for key in foreign(variables, complete))
            and not any(unfollowed(name, functions, effects) for name in called)
        )
        self.handlers = not _HANDLERS.isdisjoint(called)
        self.casts = _Casts(functions, variables, records) if self.known else None

    def targets(self, instr: ins.CallInstr) -> tuple[str, ...]:
        """All functions that the call may reach; none when that is not known."""
        if not self.known or (self.handlers and _handles(instr)):
            return ()
        return tuple(name for name in self.taken if self.takes(name, instr))

    def takes(self, name: str, instr: ins.CallInstr) -> bool:
        type_ = _function(instr.call.callee.type)
        if not self.fits(name, instr):
            return False
        return (
            self.casts is None
            or len(self.taken) == 1
            or type_ is None
            or self.casts.may_call(type_, name, self.functions[name].type)
        )

    def fits(self, name: str, instr: ins.CallInstr) -> bool:
        """The arguments of a call are of the kinds that a function takes, once they are what the pointer's type says.

        A ``0`` is a null pointer where a parameter is a pointer (C 6.3.2.3p3).
        """
        function = self.functions[name]
        type_ = _function(instr.call.callee.type)
        params = (type_.params if type_ is not None else None) or ()
        given = [_kind(t) for t in (*params, *(a.type for a in instr.call.args[len(params) :]))]
        wanted = [_kind(function.variables[key].type) for key in function.params]
        return given[: len(wanted)] == wanted and (len(given) == len(wanted) or function.type.variadic)

    def never(self, instr: ins.CallInstr) -> bool:
        """The program never makes this call: it has no function that the pointer could lead to.

        No function whose address is taken has even the kinds of arguments of the call, so a call that is made would be
        one of a function with another type than the pointer's, which is undefined (C 6.5.2.2p9).  A pointer gets such a
        function by a cast, or where the language looks at no type: both are looked for in the whole program, and where
        one is found, nothing is said of any call.
        """
        type_ = _function(instr.call.callee.type)
        if isinstance(instr.callee, ins.AddrFunc) or type_ is None or type_.params is None or type_.variadic:
            return False
        if self.casts is None or self.casts.careless or (self.handlers and _handles(instr)):
            return False
        return not any(self.fits(name, instr) for name in self.taken)


class _Casts:
    """What the casts of a program tell: which functions may be called as if they had another type.

    left: types of functions that are cast to something else.  made: those that are made of something else.  named:
    functions that have another type where they are named than where they are defined.  untyped: a pointer to a function
    goes where its type is not looked at: to ``...``, to a function without a prototype, into a union.
    """

    def __init__(
        self,
        functions: Mapping[str, ast.Function],
        variables: Mapping[str, ast.Variable],
        records: Mapping[str, Record],
    ) -> None:
        self.records = records
        self.left: list[Type] = []
        self.made: list[Type] = []
        self.named: set[str] = set()
        self.untyped = any(r.union and any(_leads(f.type, records) for f in r.fields) for r in records.values())
        roots = [e for f in functions.values() for e in expressions(f.body)]
        every = (*variables.values(), *(v for f in functions.values() for v in f.variables.values()))
        for v in every:
            if v.init is not None:
                roots.append(v.init)
                self.cast(v.init, v.type)
        for f in functions.values():
            for statement, _ in statements(f.body):
                if isinstance(statement, ast.Return) and statement.value is not None and f.type.elem is not None:
                    self.cast(statement.value, f.type.elem)
        for e in (inner for root in roots for inner in within(root)):
            match e:
                case ast.FuncRef(name=name) if name in functions and not agree(e.type, functions[name].type):
                    self.named.add(name)
                case ast.Cast(operand=operand):
                    self.cast(operand, e.type)
                case ast.Assign(target=target, value=value):
                    self.cast(value, target.type)
                case ast.Conditional(then=then, other=other):
                    self.cast(then, e.type)
                    self.cast(other, e.type)
                case ast.Call(callee=callee, args=args) if (type_ := _function(callee.type)) is not None:
                    for arg, param in zip(args, type_.params or (), strict=False):
                        self.cast(arg, param)
                    self.untyped |= any(_leads(arg.type, records) for arg in args[len(type_.params or ()) :])
                case ast.InitList(items=items, offsets=offsets):
                    for item, offset in zip(items, offsets, strict=True):
                        if _function(item.type) is not None:
                            for member in scalars(e.type, offset, records):
                                self.cast(item, member)
                case _:
                    pass

    def cast(self, value: ast.Expr, type_: Type) -> None:
        """A value gets a type, by a cast or without one."""
        if isinstance(value, (ast.IntLit, ast.InitList)):
            return
        origin, to = _function(value.type), _function(type_)
        if origin is not None and (to is None or not agree(origin, to)):
            self.left.append(origin)
        elif to is not None and origin is None:
            self.made.append(to)

    @property
    def careless(self) -> bool:
        """Somewhere a function may get another type than its own."""
        return bool(self.untyped or self.left or self.made or self.named)

    def may_call(self, call: Type, name: str, function: Type) -> bool:
        return (
            agree(call, function)
            or name in self.named
            or any(agree(function, one) for one in self.left)
            or any(agree(call, one) for one in self.made)
        )


def unfollowed(name: str, functions: Collection[str], effects: Mapping[str, FunctionEffect]) -> bool:
    """A function that is called by its name is none of the program's, and may hand out any pointer."""
    known = name in functions or (name in effects and name not in HANDS_OUT)
    return not known and not name.rpartition(":")[2].startswith(_COMPILERS)


def agree(one: Type, other: Type) -> bool:
    """Whether two types are compatible, or nearly: qualifiers, signs and what is in structs are not looked at."""
    work = [(one, other)]
    while work:
        a, b = work.pop()
        if _kind(a) != _kind(b):
            return False
        if a.kind in ("int", "float") and a.size != b.size:
            return False
        if a.elem is not None and b.elem is not None:
            work.append((a.elem, b.elem))
        if a.params is not None and b.params is not None:
            if len(a.params) != len(b.params) or a.variadic != b.variadic:
                return False
            work += zip(a.params, b.params, strict=True)
    return True


def scalars(type_: Type, offset: int, records: Mapping[str, Record]) -> Iterator[Type]:
    """What an initialiser of something of this type may initialise at an offset: of a union, any member."""
    work = [(type_, offset)]
    while work:
        at, inside = work.pop()
        record = records.get(at.record) if at.kind == "record" else None
        if record is not None:
            ends = ((f, f.offset + (f.type.size or inside + 1)) for f in record.fields)
            work += [(f.type, inside - f.offset) for f, end in ends if f.offset <= inside < end]
        elif at.is_array and at.elem is not None:
            work.append((at.elem, inside % (at.elem.size or 1)))
        else:
            yield at


def _function(type_: Type) -> Type | None:
    """The type of the functions that an expression of this type is, or leads to."""
    found = type_.elem if type_.kind == "pointer" else type_
    return found if found is not None and found.kind == "function" else None


def _brings(key: str, type_: Type, records: Mapping[str, Record]) -> bool:
    """A variable that a file which is not given defines, or a library, may hold a pointer to a function."""
    return _leads(
        type_, records, ("function", "unknown") if key in LIBRARY_VARIABLES else ("function", "unknown", "void")
    )


def _leads(type_: Type, records: Mapping[str, Record], kinds: Collection[str] = ("function", "unknown")) -> bool:
    """Something of this type holds a pointer to a function, or leads to one by pointers, arrays and members."""
    seen: set[str] = set()
    work = [type_]
    while work:
        at = work.pop()
        if at.kind in kinds:
            return True
        if at.elem is not None:
            work.append(at.elem)
        record = records.get(at.record) if at.kind == "record" and at.record not in seen else None
        if record is not None:
            seen.add(at.record)
            work += (f.type for f in record.fields)
    return False


def _handles(instr: ins.CallInstr) -> bool:
    """The call has the arguments of a handler of signals."""
    return [_kind(a.type) for a in instr.call.args] in _AS_HANDLER


def _kind(type_: Type) -> str:
    """What must agree between an argument and a parameter; lengths of integers are not compared."""
    return "pointer" if type_.kind in ("array", "function") else type_.kind
