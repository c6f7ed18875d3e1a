"""Receives that fail and return (named assumption A5): nothing arrives then, and the old contents are there.

By default an error of a message ends the program.  Where the program sets another error handler, a receive may return
without a message.  One whose result is used, or that has a status, is written for that: it stays, and brings nothing
for certain; a nonblocking one also where this is so of some completion, where one tells which request is complete, or
where anything but a completion reads its request: what failed has none.  A handler of the program's own may itself
look: then all stay.  Of the others A5 says that they do not fail, also where functions that nobody knows may set one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from opi_xform.graph.graph import Bind, Lost, Node, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_name, calls_of
from opi_xform.ir.span import Span
from opi_xform.ir.walk import expressions, statements, uncast, within
from opi_xform.memory.accesses import Access
from opi_xform.memory.objects import UNKNOWN
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.endings import NO_END
from opi_xform.ownership.model.lines import line_of

FAILURES = "A5"
_FREES = ("MPI_Errhandler_free", "PMPI_Errhandler_free")
_FATAL = ("MPI_ERRORS_ARE_FATAL", "MPI_ERRORS_ABORT")


class Failures:
    """Whether receives of a program may return without a message.

    set: by a handler that the program sets; handled: by one that perhaps others set.
    where: a call that sets one.  returns: a call of MPI that fails may return, and a send may leave its buffer held.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.own = False  # a handler of the program's own
        self.where: Span | None = None
        self.read: dict[int, list[Access]] = {}  # ``reads``
        self.set = self.set_in_text()
        self.handled = self.set or any(self.unknown(node) for node in program.graph.nodes)
        self.returns = self.handled or self.let()
        self.used, self.variables = _used(program) if self.set else (frozenset(), frozenset())
        self.completed = self.completion() if self.set else None  # a call that tells how a request ends

    def looked_at(self, use: Use) -> bool:
        """The program may look whether a receive failed, or its completion."""
        return bool(self.how_looked_at(use))

    def how_looked_at(self, use: Use) -> str:
        """How it may, in words for a reason; empty where it does not."""
        if not self.set:
            return ""
        if self.own:
            return "a handler of the program's own may do more than end it"
        if self.result_used(use.node):
            return "the program looks at what the call returns"
        if self.status_given(use.node, use.op.status):
            name = self.unread_status(use)
            unread = f"the call has a status, `{name}`, which nothing reads: MPI_STATUS_IGNORE would show that"
            return unread if name else "the program may look at the status"
        if use.op.blocking:
            return ""
        if self.completed is not None:
            return f"`{called_name(self.completed)}` at {line_of(self.completed.span)} may tell how a request ended"
        return "it could not be shown that only completions read its request" if self.request_read(use) else ""

    def let(self) -> bool:
        """Some function that the program calls, or whose address it takes, lets errors return."""
        program = self.program
        calls = [c.callee for f in program.functions.values() for c in calls_of(f)]
        names = {c.name for c in calls if isinstance(c, ast.FuncRef)} | program.taken
        found = (program.effects.get(name) for name in names if name not in program.functions)
        return any(effect is not None and effect.lets_errors_return for effect in found)

    def set_in_text(self) -> bool:
        """The program sets an error handler that returns, or makes one."""
        program = self.program
        found = False
        for key in program.taken:
            effect = program.effects.get(key)
            found = found or (effect is not None and effect.errors == "sets" and key not in program.functions)
        calls: list[tuple[ast.Call, str]] = []
        for function in program.functions.values():
            for call in calls_of(function):
                effect = program.effects.get(called_name(call))
                if effect is not None and effect.name not in program.functions:
                    calls.append((call, "frees" if effect.name in _FREES else effect.errors))
        made = [call for call, errors in calls if errors == "makes"]
        self.own = not all(any(self.fatal(a) for a in call.args) for call in made)
        ending = self.only_made(made, [call for call, errors in calls if errors in ("sets", "frees")])
        for call in (call for call, errors in calls if errors == "sets"):
            if not any(_written(a) in _FATAL or _variable(a) in ending for a in call.args):
                found, self.where = True, self.where or call.span
        return found or self.own

    def only_made(self, made: list[ast.Call], others: list[ast.Call]) -> frozenset[str]:
        """Variables that hold nothing but handlers that the program makes of functions that never return."""
        if self.own or not made:
            return frozenset()
        program = self.program
        keys = {_variable(a) for call in made for a in call.args if isinstance(a, ast.AddrOf)}
        keys = {k for k in keys if k in program.variables and program.variables[k].init is None}
        mine = Counter(_variable(a) for call in (*made, *others) for a in call.args)
        inits = [v.init for v in program.variables.values() if v.init is not None]
        bodies = [e for f in program.functions.values() for e in expressions(f.body)]
        there = Counter(x.var for e in (*bodies, *inits) for x in within(e) if isinstance(x, ast.VarRef))
        return frozenset(k for k in keys if k and there[k] == mine[k])

    def fatal(self, handler: ast.Expr) -> bool:
        """A function of the program that ends in MPI_Abort, and calls nothing that goes on elsewhere or ends otherwise.

        It is not followed; variables that it uses count as others' (``calls/foreign.py``).
        """
        while isinstance(handler, (ast.Cast, ast.AddrOf)):
            handler = handler.operand
        function = self.program.functions.get(handler.name) if isinstance(handler, ast.FuncRef) else None
        if function is None or not isinstance(function.body, ast.Block) or not function.body.body:
            return False
        last = function.body.body[-1]
        if (
            not isinstance(last, ast.ExprStmt)
            or not isinstance(last.expr, ast.Call)
            or called_name(last.expr) != "MPI_Abort"
        ):
            return False
        names = [called_name(call) for call in calls_of(function)]
        known = all(n in self.program.effects and n not in self.program.functions for n in names)
        return known and not any(n in NO_END for n in names) and all(map(_goes_on, function.body.body))

    def unknown(self, node: Node) -> bool:
        """A call of code outside the program, which may set a handler."""
        program, action = self.program, node.action
        if isinstance(action, Lost):
            return not all(key in program.functions for key in action.functions)
        if not isinstance(action, ins.CallInstr) or node.number in program.graph.followed:
            return False
        return not isinstance(action.callee, ins.AddrFunc) or (
            action.callee.key not in program.functions and action.callee.key not in program.effects
        )

    def completion(self) -> ast.Call | None:
        """A completion that tells something of its requests: the first one in the program graph, else by the text."""
        for node in self.program.graph.nodes:
            if isinstance(node.action, ins.CallInstr) and self.completion_looked_at(node):
                return node.action.call
        return self.looked_at_elsewhere()

    def completion_looked_at(self, node: Node) -> bool:
        call = node.action
        if not isinstance(call, ins.CallInstr) or not isinstance(call.callee, ins.AddrFunc):
            return False
        effect = self.program.effects.get(call.callee.key)
        done = effect.mpi.completes if effect is not None and effect.mpi is not None else None
        if done is None:
            return False
        tells = done.index is not None or done.outcount is not None or done.flag is not None  # which, and whether
        return tells or self.result_used(node.number) or self.status_given(node.number, done.status)

    def looked_at_elsewhere(self) -> ast.Call | None:
        """The same of functions that are not in the graph, where only some are: by their text."""
        program = self.program
        names = program.functions.keys() - program.alone if program.alone else ()
        for name in sorted(names):
            function = program.functions[name]
            plain = {id(s.expr) for s, _ in statements(function.body) if isinstance(s, ast.ExprStmt)}
            for call in calls_of(function):
                effect = program.effects.get(called_name(call)) if called_name(call) not in program.functions else None
                done = effect.mpi.completes if effect is not None and effect.mpi is not None else None
                if done is None:
                    continue
                tells = done.index is not None or done.outcount is not None or done.flag is not None
                status = done.status is not None and (
                    done.status >= len(call.args) or not _written(call.args[done.status]).endswith("_IGNORE")
                )
                if tells or status or id(call) not in plain:
                    return call
        return None

    def unread_status(self, use: Use) -> str:
        """The variable of its status, where the program names that as the status of calls alone; '' of others."""
        call, at = use.call, use.op.status
        key = _variable(call.args[at]) if at is not None and at < len(call.args) else ""
        variable = self.program.variables.get(key)
        if variable is None or (variable.is_global and not self.program.complete):
            return ""
        asked = 0
        for function in self.program.functions.values():
            for e in (part for whole in expressions(function.body) for part in within(whole)):
                if isinstance(e, ast.VarRef):
                    asked += e.var == key
                elif isinstance(e, ast.Call):
                    asked -= sum(_variable(e.args[i]) == key for i in self.statuses(e) if i < len(e.args))
        return variable.name if asked == 0 else ""

    def statuses(self, call: ast.Call) -> list[int]:
        """The arguments of a call that are told how its operations end, and nothing else."""
        name, own = called_name(call), self.program.functions
        effect = self.program.effects.get(name) if name not in own else None
        op = None if effect is None else effect.mpi
        found = () if op is None else (op.status, op.completes.status if op.completes is not None else None)
        return [i for i in dict.fromkeys(found) if i is not None]

    def request_read(self, use: Use) -> bool:
        """Something else than a completion reads the request: it is compared, copied, or made a number."""
        values = self.program.values
        args = values.args.get(use.node, ())
        if use.op.request is None or use.op.request >= len(args):
            return True
        symbols = values.symbols
        address = symbols.not_null(args[use.op.request])
        o = symbols.base(address)
        if o is None or o == UNKNOWN or o in values.escaped or values.objects.table[o].variable in self.variables:
            return True
        lo = symbols.resolve(symbols.offset(address)).constant
        return any(self.may_meet(read, lo) for read in self.reads(o))

    def may_meet(self, read: Access, lo: int | None) -> bool:
        """Bytes that are read may be of the request at byte ``lo``; one in an array may be anywhere in it."""
        symbols = self.program.values.symbols
        first = symbols.resolve(read.lo).constant if read.lo is not None else None
        length = symbols.resolve(read.length).constant if read.length is not None else None
        if lo is None or first is None or length is None:
            return True
        return first < lo + self.program.request_size and lo < first + length

    def reads(self, o: int) -> list[Access]:
        """What is read of an object, other than by completions."""
        found = self.read.get(o)
        if found is None:
            found = self.read[o] = []
            for n, accesses in self.program.values.accesses.of(o).items():
                action = self.program.graph.nodes[n].action
                callee = action.callee if isinstance(action, ins.CallInstr) else None
                effect = self.program.effects.get(callee.key) if isinstance(callee, ins.AddrFunc) else None
                if effect is None or effect.mpi is None or effect.mpi.completes is None:
                    found.extend(a for a in accesses if a.kind == "R")
        return found

    def result_used(self, n: int) -> bool:
        node = self.program.graph.nodes[n]
        target = node.action.target if isinstance(node.action, ins.CallInstr) else None
        return target is not None and (node.frame, target.number) in self.used

    def status_given(self, n: int, argument: int | None) -> bool:
        """There is a status, which may tell an error, or by what it does not tell that nothing came."""
        action = self.program.graph.nodes[n].action
        if argument is None or not isinstance(action, ins.CallInstr) or argument >= len(action.args):
            return False
        return not isinstance(action.args[argument], ins.Const)  # MPI_STATUS_IGNORE


@once
def failures_of(program: Program) -> Failures:
    """The analysis of a program, found once."""
    return Failures(program)


def _goes_on(statement: ast.Stmt) -> bool:
    """What comes after a statement is reached, where the program has not ended: no ``return``, no jump."""
    match statement:
        case ast.Block(body=body):
            return all(map(_goes_on, body))
        case ast.If(then=then, other=other):
            return _goes_on(then) and (other is None or _goes_on(other))
        case ast.ExprStmt() | ast.DeclStmt() | ast.Null():
            return True
        case _:
            return False


def _variable(e: ast.Expr) -> str:
    """The variable that an argument is, or is the address of."""
    while isinstance(e, (ast.Cast, ast.AddrOf)):
        e = e.operand
    return e.var if isinstance(e, ast.VarRef) else ""


def _written(e: ast.Expr) -> str:
    e = uncast(e)
    return e.name if isinstance(e, (ast.IntLit, ast.MacroConst)) else ""


def _used(program: Program) -> tuple[frozenset[tuple[int, int]], frozenset[str]]:
    """Temporaries whose value something takes, by frame, and variables."""
    temps: set[tuple[int, int]] = set()
    variables: set[str] = set()
    for node in program.graph.nodes:
        for frame, operand in _operands(node):
            work = [operand]
            while work:
                match work.pop():
                    case ins.Temp(number=t):
                        temps.add((frame, t))
                    case ins.Var(key=key):
                        variables.add(key)
                    case ins.Op(args=args):
                        work.extend(args)
                    case ins.PtrAdd(base=base, index=index):
                        work += [base, index]
                    case _:
                        pass
    return frozenset(temps), frozenset(variables)


def _operands(node: Node) -> Iterator[tuple[int, ins.Operand]]:
    frame, action = node.frame, node.action
    found: tuple[ins.Operand | None, ...] = ()
    match action:
        case ins.Define(value=value):
            found = (value,)
        case ins.Load(address=address):
            found = (address,)
        case ins.Store(address=address, value=value):
            found = (address, value)
        case ins.CopyBytes(target=target, source=source):
            found = (target, source)
        case ins.Branch(cond=value) | ins.SwitchOn(value=value) | ins.ReturnInstr(value=value):
            found = (value,)
        case ins.CallInstr(callee=callee, args=args):
            found = (callee, *args)
        case ins.Escape(values=values):
            found = values
        case Lost(call=call):
            found = (call.callee, *call.args)
        case Bind(caller=caller, args=args):
            frame, found = caller, args
        case Unbind(callee=number, value=value):
            frame, found = number, (value,)
        case _:
            pass
    yield from ((frame, operand) for operand in found if operand is not None)
