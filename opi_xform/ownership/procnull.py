"""Whether a rank value can be MPI_PROC_NULL (named assumption A2 of DESIGN.md section 4).

A value is suspect when MPI_PROC_NULL, the result of a topology query or of an unknown call flows into it, through any
variable, however conditionally.  Where the program never says MPI_PROC_NULL, a number that happens to be equal to it
(a step of -1, with MPICH) is suspect as it is, but not what is computed with it.  Of floating numbers nothing is known:
where a suspect value becomes one anywhere, or one is written that is equal to it, each number made of one is suspect.
What is read as volatile is suspect, and so is what nobody understands.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly
from opi_xform.ownership.model import Program
from opi_xform.ownership.walk import children, expressions
from opi_xform.program.graph import Bind

ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "neg", "~"})

_NO_RANK = ("", "sizeof a variable length array")
"""Values that nothing is known of and that are not MPI_PROC_NULL: what others call a function with, sizes."""


class ProcNull:
    """What may be MPI_PROC_NULL in a program, found once."""

    def __init__(self, program: Program) -> None:
        if program.names_proc_null:
            self.flows = [Flow(program, numbers=True, arithmetic=True)]
        else:
            self.flows = [Flow(program, numbers=False, arithmetic=True), Flow(program, numbers=True, arithmetic=False)]

    def possible(self, value: Poly) -> bool:
        """Whether the value may be MPI_PROC_NULL."""
        return any(flow.possible(value) for flow in self.flows)


@lru_cache(maxsize=1)
def proc_null(program: Program) -> ProcNull:
    """The analysis of a program, found once."""
    return ProcNull(program)


class Flow:
    """Suspect objects of a program; flow-insensitive.

    numbers: constants equal to MPI_PROC_NULL are suspect; arithmetic: what is computed with a suspect value is suspect.
    """

    def __init__(self, program: Program, numbers: bool, arithmetic: bool) -> None:
        self.program = program
        self.symbols = program.values.symbols
        self.known = "MPI_PROC_NULL" in program.constants
        self.null = program.constants.get("MPI_PROC_NULL") if numbers else None
        self.arithmetic = arithmetic
        self.suspect: set[int] = set()
        self.memo: dict[int, bool] = {}
        self.floating: bool | None = None  # whether a floating number may be suspect; None: not looked yet
        self.spread()

    def spread(self) -> None:
        """Objects into which a suspect value is stored, to a fixpoint."""
        stores: list[tuple[int, Poly]] = []
        values, objects = self.program.values, self.program.values.objects
        for o, info in enumerate(objects.table):
            if info.variable is not None and info.frame < 0 and self.initially(self.program.variables[info.variable]):
                self.suspect.add(o)
        for node in self.program.graph.nodes:
            n, action = node.number, node.action
            found = values.operands.get(n)
            if isinstance(action, (ins.Define, ins.Store)) and action.type.kind != "int":
                continue  # ranks are integers
            if isinstance(action, ins.Define) and isinstance(action.target, ins.Var) and found:
                stores.append((objects.variable(node.frame, action.target.key), found[0]))
            elif isinstance(action, ins.Store) and found:
                for a in values.accesses.get(n, ()):
                    if a.kind == "W":
                        stores.append((a.object, found[1]))
            elif isinstance(action, ins.CopyBytes) and found:
                for a in values.accesses.get(n, ()):
                    if a.kind == "W":
                        source = self.symbols.base(found[1])
                        if source is None:
                            self.suspect.add(a.object)
                        else:
                            stores.append((a.object, self.symbols.of("load", (found[1], (), "any", 0), frozenset())))
            elif isinstance(action, Bind) and found:
                for key, value in zip(action.params, found, strict=True):
                    stores.append((objects.variable(node.frame, key), value))
            elif isinstance(action, ins.CallInstr):
                self.called(n, action)
        changed = True
        while changed:
            changed = False
            self.memo.clear()
            self.floating = None
            for o, value in stores:
                if o not in self.suspect and self.possible(value):
                    self.suspect.add(o)
                    changed = True
        self.memo.clear()
        self.floating = None

    def initially(self, variable: ast.Variable) -> bool:
        """A static object whose initialiser may hold MPI_PROC_NULL."""
        stack = [] if variable.init is None else [variable.init]
        while stack:
            item = stack.pop()
            if isinstance(item, ast.InitList):
                stack.extend(item.items)
            elif isinstance(item, ast.IntLit):
                if item.value == self.null:
                    return True
            elif item.type.kind in ("int", "unknown"):
                return True
        return False

    def called(self, n: int, call: ins.CallInstr) -> None:
        if not isinstance(call.callee, ins.AddrFunc) or n in self.program.graph.followed:
            return
        effect = self.program.effects.get(call.callee.key)
        for a in self.program.values.accesses.get(n, ()):
            if a.kind != "W":
                continue
            if effect is None or (effect.mpi is None and effect.flows):
                self.suspect.add(a.object)
        if effect is not None:
            for i in effect.may_yield_proc_null:
                values = self.program.values.args.get(n, ())
                if i < len(values):
                    base = self.symbols.base(values[i])
                    if base is not None:
                        self.suspect.add(base)

    def possible(self, value: Poly) -> bool:
        """Whether the value may be MPI_PROC_NULL."""
        if not self.known:
            return True
        constant = value.constant
        if constant is not None:
            return constant == self.null
        return any(self.of_symbol(s) for s in self.through(value))

    def through(self, value: Poly) -> set[int]:
        """The symbols that a value may be equal to, or that it is made of."""
        return set(value.symbols()) if self.arithmetic or value.single is not None else set()

    def of_symbol(self, start: int) -> bool:
        if start in self.memo:
            return self.memo[start]
        seen: set[int] = set()
        stack = [start]
        while stack:
            s = stack.pop()
            if s in seen:
                continue
            seen.add(s)
            info = self.symbols.table[s]
            following: list[Poly] = []
            if info.kind == "load":
                address = info.key[0]
                assert isinstance(address, Poly)
                base = self.symbols.base(address)
                if base is None or base in self.suspect or ("float" in info.key and self.of_floating()):
                    self.memo[start] = True
                    return True
            elif info.kind == "phi":
                joined = self.program.values.joins.get(s)
                if joined is None:  # a loop's variable that something unknown changes
                    self.memo[start] = True
                    return True
                following = list(joined)
            elif info.kind == "exit":
                inside = info.key[1]
                assert isinstance(inside, int)
                stack.append(inside)
            elif info.kind == "op":
                if (info.key[0] == "output" and self.may_yield(info.key[1], info.key[2])) or (
                    info.key[0] == "bytes of" and info.key[1] in self.suspect
                ):
                    self.memo[start] = True
                    return True
                if info.key[0] in ARITHMETIC and not self.arithmetic:
                    continue
                # arithmetic on a suspect value may meet a guard that was meant for it: stay suspicious
                following = [p for part in info.key if isinstance(part, tuple) for p in part if isinstance(p, Poly)]
                following += [p for p in info.key if isinstance(p, Poly)]
            elif info.kind == "opaque" and self.suspect_call(info.key):
                self.memo[start] = True
                return True
            for p in following:
                constant = p.constant
                if constant is not None:
                    if constant == self.null and info.kind == "phi":
                        self.memo[start] = True
                        return True
                else:
                    stack.extend(self.through(p))
        self.memo[start] = False
        return False

    def may_yield(self, name: object, argument: object) -> bool:
        """Whether a repeatable query may write MPI_PROC_NULL through an argument."""
        return argument in self.program.effects[str(name)].may_yield_proc_null

    def suspect_call(self, key: tuple[object, ...]) -> bool:
        """An output or result of a topology query, or of a call that nothing is known about."""
        if len(key) != 2 or not isinstance(key[0], int):
            return False
        what = key[1]
        if what == "float" or (isinstance(what, tuple) and what[0] == "float"):
            return self.of_floating()
        if what == "volatile" or (isinstance(what, tuple) and what[0] == "outside"):
            return True
        if isinstance(what, tuple) and what[0] == "nondet":
            reason = what[2]
            assert isinstance(reason, str)
            return self.of_floating() if reason.startswith("floating") else reason not in _NO_RANK
        node = self.program.graph.nodes[key[0]] if key[0] < len(self.program.graph.nodes) else None
        if node is None or not isinstance(node.action, ins.CallInstr):
            return node is not None and not isinstance(node.action, (ins.Birth, ins.Load, ins.Define, ins.Branch))
        callee = node.action.callee
        effect = self.program.effects.get(callee.key) if isinstance(callee, ins.AddrFunc) else None
        if effect is None:
            return True
        if isinstance(what, tuple) and what and what[0] == "output":
            return what[1] in effect.may_yield_proc_null
        return node.action.call.type.kind == "float" and self.of_floating()

    def of_floating(self) -> bool:
        """Whether a floating number may stand for MPI_PROC_NULL: of none it is known where it comes from."""
        if self.floating is None:
            variables = {self.program.values.objects.table[o].variable for o in self.suspect}
            self.floating = any(self.becomes_floating(one, variables) for one in floating_sources(self.program))
        return self.floating

    def becomes_floating(self, source: ast.Expr, variables: set[str | None]) -> bool:
        """Whether a whole number that is made a floating one, or a constant written with a sign, is suspect."""
        if isinstance(source, ast.FloatLit):
            return self.null is not None and (source.value is None or -source.value == self.null)
        for item in within(source):
            if isinstance(item, ast.IntLit):
                found = item.value == self.null
            elif isinstance(item, ast.VarRef):
                found = item.var in variables
            else:  # elements, members, results: whatever is suspect may be among them
                loads = (ast.Index, ast.Member, ast.Deref, ast.Call, ast.Opaque)
                found = isinstance(item, loads) and bool(self.suspect or self.program.names_proc_null)
            if found:
                return True
        return False


def within(root: ast.Expr) -> Iterator[ast.Expr]:
    """An expression and all in it."""
    stack = [root]
    while stack:
        item = stack.pop()
        yield item
        stack.extend(children(item))


@lru_cache(maxsize=1)
def floating_sources(program: Program) -> tuple[ast.Expr, ...]:
    """What is made a floating number anywhere in a program, and the floating constants written with a minus sign."""
    out: list[ast.Expr] = []
    inits = [v.init for v in program.variables.values() if v.init is not None]
    bodies = [e for f in program.functions.values() for e in expressions(f.body)]
    for whole in (*bodies, *inits):
        for item in within(whole):
            made = isinstance(item, ast.Cast) and item.type.kind == "float" and item.operand.type.kind != "float"
            negative = isinstance(item, ast.Unary) and item.op == "-" and isinstance(item.operand, ast.FloatLit)
            if made or negative:
                assert isinstance(item, (ast.Cast, ast.Unary))
                out.append(item.operand)
    return tuple(out)
