"""Where the number of a source comes from that may be MPI_PROC_NULL, in words.

Values are followed back through variables, parameters, memory and arithmetic, without regard to order: what is found is
one of the places for which ``procnull`` takes the source for MPI_PROC_NULL.  What may be written to other memory
comes last, and is told as such.  Decisions do not depend on it.
"""

from __future__ import annotations

from opi_xform.graph.graph import Bind, Lost, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.memory.accesses import Access
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, Expressions, spelling
from opi_xform.ownership.model.names import Name, leaves, names_of
from opi_xform.ownership.procnull.kinds import stands_for

MOST = 2000  # values that are followed

Value = tuple[int, int, ins.Operand, bool]
"""The node that evaluates it, the frame, what it is, and whether it is only a part of a sum or a product."""


class _Search:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = names_of(program)
        self.graph = program.graph
        self.null = program.constants.get("MPI_PROC_NULL")
        self.named: list[tuple[str, Span]] = []  # it is set to MPI_PROC_NULL
        self.other: list[tuple[str, Span]] = []  # it may be any number, and so that one, too
        self.work: list[Value] = []
        self.perhaps: list[tuple[int, int]] = []  # nodes that write to what is read, an object, or other memory
        self.read: list[tuple[str, Span]] = []  # it is read from one of several objects
        self.late: list[tuple[str, Span]] = []  # ``other``, where it is not known that this is what is read
        self.made: list[tuple[str, Span]] = []  # it is computed from what would be MPI_PROC_NULL
        self.part = False  # what is looked at is a part of what the source is computed from
        self.sure = True
        self.seen: set[Name | int] = set()  # names, and nodes that read memory

    def run(self, n: int, operand: ins.Operand) -> tuple[str, Span, bool] | None:
        self.follow(n, self.graph.nodes[n].frame, operand)
        for at in range(MOST):
            if at == len(self.work) and not (self.named or self.other):
                self.sure = False
                while self.perhaps and at == len(self.work):
                    self.put(*self.perhaps.pop(0))
            if at == len(self.work) or self.named:
                break
            n, frame, operand, part = self.work[at]
            self.part = part or _computes(operand)
            for leaf in leaves(operand):
                if isinstance(leaf, ins.Nondet):
                    self.follow(n, frame, *leaf.args)
                else:
                    self.leaf(n, frame, leaf)
            self.part = False
        sure, unsure = (self.named, ()) if self.sure else ((), self.named)
        found = next(iter((*sure, *self.made, *self.other, *self.read, *unsure, *self.late)), None)
        return None if found is None else (*found, bool(sure))

    def follow(self, n: int, frame: int, *operands: ins.Operand) -> None:
        self.work.extend((n, frame, operand, self.part) for operand in operands)

    def leaf(self, n: int, frame: int, leaf: ins.Operand) -> None:
        if isinstance(leaf, ins.Const) and (leaf.name == ast.PROC_NULL or stands_for(leaf.value, self.null)):
            span = self.names.span(n)
            if self.part and leaf.name != ast.PROC_NULL:
                self.made.append((f"it is computed from the {leaf.value} of {line_of(span)}", span))
                return
            also = "that is" if leaf.value == self.null else "that may be"
            text = "so" if leaf.name == ast.PROC_NULL else f"to {leaf.value}, which {also}"
            told = f"{line_of(span)} sets it {text}"
            if not self.sure:
                written = ast.PROC_NULL if leaf.name == ast.PROC_NULL else f"{leaf.value}, which {also}"
                told = f"{line_of(span)} writes {written}, and could not be shown to write elsewhere"
            self.named.append((told, span))
        name = self.names.name(frame, leaf)
        if name is None or name in self.seen:
            return
        self.seen.add(name)
        for d in self.names.defs.get(name, ()):
            self.definition(d, leaf)
        if name[0] == "v":
            for access in self.names.writes(name[1]):
                self.put(access.node, name[1])

    def definition(self, d: int, leaf: ins.Operand) -> None:
        node = self.graph.nodes[d]
        match node.action:
            case ins.Define(value=value):
                self.follow(d, node.frame, value)
            case Bind(caller=caller, params=params, args=args):
                given = (
                    a for key, a in zip(params, args, strict=False) if isinstance(leaf, ins.Var) and key == leaf.key
                )
                self.follow(d, caller, *given)
            case Unbind(callee=callee, value=value) if value is not None:
                self.follow(d, callee, value)
            case ins.Load() if d not in self.seen:
                self.seen.add(d)
                accesses = self.program.values.accesses
                objects = dict.fromkeys(accesses.objects(d, "R"))
                e = Expressions(self.program).of(self.graph.frames[node.frame].function, node.action)
                if len(objects) > 1 and e is not None and spelling(e) != UNSPELLED:
                    span = self.names.span(d)
                    self.read.append((f"{line_of(span)} reads it from `{spelling(e)}`", span))
                read = accesses.placed(d)
                for access in (access for o in objects for access in self.names.writes(o)):
                    if len(objects) == 1 == len(read) and _apart(read[0], access):
                        continue
                    known = len(read) != 1 or read[0].length is None or access.length is not None
                    if len(objects) == 1 == len(set(accesses.objects(access.node, "W"))) and known:
                        self.put(access.node, access.object)
                    else:
                        self.perhaps.append((access.node, access.object))
            case ins.CallInstr() | Lost():
                self.put(d)
            case _:
                pass

    def put(self, n: int, o: int | None = None) -> None:
        """What a node that writes memory, or the call of a library function, gives.  o: the object that it writes."""
        node = self.graph.nodes[n]
        given = self.sure if o is None else self.given(n, o)
        match node.action:
            case ins.Store(value=value):
                self.follow(n, node.frame, value)
            case ins.CallInstr(callee=ins.AddrFunc(key=key), args=args) as call if not self.names.entered(node):
                effect = self.program.effects.get(key)
                key = call.call.callee.name if isinstance(call.call.callee, ast.FuncRef) else key
                span = self.names.span(n)
                if effect is not None and effect.may_yield_proc_null:
                    self.named.append((f"`{key}` at {line_of(span)} may say so", span))
                elif effect is not None and effect.fills is not None and o is not None:  # one byte everywhere
                    filled = effect.fills
                    self.follow(n, node.frame, *(args[filled.value :][:1] if filled.kind == "arg" else ()))
                elif effect is not None and effect.allocates is not None:
                    pass  # an address is no rank
                elif effect is not None and effect.pure:
                    self.follow(n, node.frame, *args)
                elif effect is None or not (effect.nonnegative or effect.source.startswith("mpi")):
                    found = self.other if given or self.sure else self.late
                    found.append((f"it depends on what `{key}` gives at {line_of(span)}", span))
                elif not effect.nonnegative:
                    found = self.other if given or self.sure else self.late
                    found.append((f"it depends on what comes with `{key}` at {line_of(span)}", span))
            case _:
                pass

    def given(self, n: int, o: int) -> bool:
        """A call has an argument that is known to be the address of an object."""
        node = self.graph.nodes[n]
        if not isinstance(node.action, ins.CallInstr):
            return False
        pairs = zip(node.action.args, node.action.call.args, strict=False)
        found = [self.program.points_to.operand(node.frame, a) for a, e in pairs if e.type.is_pointer]
        return any(o in objects and UNKNOWN not in objects for objects in found)


def _computes(operand: ins.Operand) -> bool:
    """An operand is a sum, a product or the like of others."""
    while isinstance(operand, ins.Op) and operand.op == "cast":
        operand = operand.args[0]
    return isinstance(operand, ins.Op)


def _apart(one: Access, other: Access) -> bool:
    """Two accesses to one object touch no byte in common, whatever else is known of them."""
    if one.lo is None or one.length is None or other.lo is None or other.length is None:
        return False
    places = (one.lo.constant, one.length.constant, other.lo.constant, other.length.constant)
    a, many, b, more = places
    return None not in places and not (a < b + more and b < a + many)  # type: ignore[operator]


def origin(program: Program, use: Use) -> tuple[str, Span, bool] | None:
    """Why the source of a receive may be MPI_PROC_NULL, with the place, and whether the program names that there.

    Else it is any number (of the command line, a file, a message).  None: it is not known in a few words.
    """
    action = program.graph.nodes[use.node].action
    if use.buffer.peer is None or not isinstance(action, ins.CallInstr) or use.buffer.peer >= len(action.args):
        return None
    return _Search(program).run(use.node, action.args[use.buffer.peer])
