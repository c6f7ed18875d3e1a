"""Why the buffer of a call is not one that is known: the access, or the assignment, that is in the way."""

from __future__ import annotations

import re

from opi_xform.codes import Reason
from opi_xform.graph.graph import RECURSION, Bind, Lost, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import zero_constant
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast
from opi_xform.memory.objects import UNKNOWN, Object
from opi_xform.once import once
from opi_xform.ownership.allocation.also_run import also_run
from opi_xform.ownership.buffers.members import Finder
from opi_xform.ownership.explain.called import called_pointer, comes_there, node_span, returned_through
from opi_xform.ownership.explain.other_memory import elsewhere_of
from opi_xform.ownership.explain.other_pointers import (
    FREED,
    changes_places,
    given_away,
    given_there,
    not_fresh,
    of_a_call,
    sets_null,
)
from opi_xform.ownership.explain.pointers.changed import changed, may_change, moves
from opi_xform.ownership.explain.pointers.in_turn import set_in_force, several
from opi_xform.ownership.explain.pointers.outside import ONE_AT_A_TIME, one_of_several_tables, set_in_one_line
from opi_xform.ownership.explain.pointers.overwritten import freed_by_another, of_a_table, overwritten, written_over
from opi_xform.ownership.explain.pointers.returned import returned_unseen, returns_own
from opi_xform.ownership.explain.pointers.same_words import NOWHERE, Place, Words, named_by_words, of_several_tables
from opi_xform.ownership.explain.pointers.second_names import others_into
from opi_xform.ownership.explain.pointers.settings import (
    apart,
    never_set,
    one_of_several_freed,
    set_by_calls,
    set_by_unknown,
    set_elsewhere,
    set_once,
    settings,
)
from opi_xform.ownership.explain.pointers.touched import WHICH, may_be_touched, of_other_members
from opi_xform.ownership.explain.pointers.unknown_roots import one_of_a_table, pointer_of, without_a_value
from opi_xform.ownership.explain.reaching.copied import copied_into, copy_of
from opi_xform.ownership.explain.reaching.in_force import of_the_site
from opi_xform.ownership.explain.reaching.trades import row_of_either
from opi_xform.ownership.model.addresses import COMPUTED_PLACE
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.object_index import stores_into
from opi_xform.ownership.model.roots import base_of, read_from_memory
from opi_xform.record import dataclass

STEPS = 8  # names that are followed from the call to where its pointer comes from
SHOWN = 3  # notes
NOT_FOLLOWED = "could not be followed"
GENERAL = "the pointer may stand for several buffers here, or for none that is known"
Notes = tuple[tuple[Span, str], ...]


@dataclass(frozen=True, slots=True)
class _Cause:
    message: str
    notes: Notes


class Strays:
    """One use per program: ``refusal``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = names_of(program)
        self.graph = program.graph
        self.values = program.values
        self.finder: Finder | None = None
        self.named: tuple[int, ast.Expr | None] = (-1, None)  # in which frame a call names which pointer in memory
        self._words: dict[Words, dict[Place, int]] | None = None  # ``words``

    def refusal(self, use: Use) -> Refusal:
        info = self.values.objects.table[use.object] if use.object >= 0 else None
        if info is not None and info.kind == "heap" and use.lo is not None and use.lo.terms:
            made = dict.fromkeys(node_span(self.program, n) for n in info.nodes)
            name = spelling(base_of(use.call.args[use.argument]))
            inside = "inside a buffer, which it does not name" if name == UNSPELLED else f"inside `{name}`"
            text = f"the call begins {inside}; it would need a buffer of its own"
            return Refusal(Reason.CARRIER, text, tuple((span, "allocated here") for span in made)[:SHOWN])
        cause = self.cause(use) if self.program.complete else None
        if cause is not None and (cause.message.endswith(NOT_FOLLOWED) or ONE_AT_A_TIME in cause.message):
            others = others_into(self.program, use.call.args[use.argument])
            again = self.again(use) if cause.message.endswith(NOT_FOLLOWED) else None
            cause = again or (cause if others is None else _Cause(*others))
        cause = cause or self.given(use)
        if cause is None and not self.program.complete:  # what other files do is why it is not known, or this
            cause = self.cause(use)
        here = ((node_span(self.program, use.node), "the call names it here"),)
        cause = cause or _Cause(GENERAL, here)
        return Refusal(Reason.SEVERAL_BUFFERS, cause.message, cause.notes or here)

    def given(self, use: Use) -> _Cause | None:
        """The call names a parameter or a variable that sources which were not read may set."""
        e = uncast(use.call.args[use.argument])
        function = self.program.functions[(frame := self.graph.frames[self.graph.nodes[use.node].frame]).function]
        if self.program.complete or not isinstance(e, ast.VarRef):
            return None
        message, variable = f"could not show which buffer `{spelling(e)}` is", self.program.variables[e.var]
        if variable.is_global:
            return _Cause(f"{message}: other files may call what sets it", ((variable.span, "declared here"),))
        if frame.call >= 0 or e.var not in function.params:
            return None
        message += f": other files may call `{function.name}`, and give it any"
        return _Cause(message, ((function.span, "its parameter"),))

    def again(self, use: Use) -> _Cause | None:
        """The function of a call may be entered once more from there, with what is not followed."""
        here = self.graph.frames[self.graph.nodes[use.node].frame].function
        e = use.call.args[use.argument]
        for node in self.graph.nodes:
            lost = node.action
            if isinstance(lost, Lost) and lost.reason == RECURSION and here in lost.functions:
                span, itself = lost.call.span, self.graph.frames[node.frame].function == here
                called = f"`{self.program.functions[here].name}` {'calls itself' if itself else 'is called again'}"
                message = f"{called} at {line_of(span)}, and what that does with `{spelling(e)}` {NOT_FOLLOWED}"
                return _Cause(message, ((span, "called here"),))
        return None

    def cause(self, use: Use) -> _Cause | None:
        action, frame = self.graph.nodes[use.node].action, self.graph.nodes[use.node].frame
        assert isinstance(action, ins.CallInstr)
        self.named = (frame, read_from_memory(use.call.args[use.argument]))
        operand: ins.Operand = action.args[use.argument]
        inside = False  # the pointer is computed from another one
        steps: list[int] = []  # that move it
        returned, at = "", use.node  # the function that the pointer comes from; where it is read
        passed: list[int] = []  # variables on the way
        for _ in range(STEPS):
            while isinstance(operand, ins.PtrAdd) or (isinstance(operand, ins.Op) and operand.op == "cast"):
                inside = inside or (isinstance(operand, ins.PtrAdd) and not zero_constant(operand.index))
                operand = operand.base if isinstance(operand, ins.PtrAdd) else operand.args[0]
            name = self.names.name(frame, operand)
            if isinstance(operand, ins.Const):
                return _Cause(f"`{operand.name or 'NULL'}` names no buffer", ())
            if isinstance(operand, ins.AddrVar) and returned:
                return _Cause(*returns_own(self.program, returned, operand.key))
            if name is None:
                break
            passed += [name[1]] if name[0] == "v" else []
            every = [n for n in self.names.defs.get(name, ()) if not isinstance(self.graph.nodes[n].action, ins.Birth)]
            defs = [n for n in every if not moves(self.program, n, operand)]
            defs = [n for n in defs if not sets_null(self.graph.nodes[n].action)] or defs  # NULL is no other buffer
            defs = [m for n in defs for m in given_there(self.program, n, operand)] if len(defs) > 1 else defs
            unknown = set_by_unknown(self.program, operand) if not defs else None
            if unknown is not None:
                message = f"{self.text(operand)} is set by `{unknown[0]}`, of which nothing is known"
                return _Cause(f"{message}, at {line_of(unknown[1])}", ((unknown[1], "set here"),))
            if (part := set_in_force(self.program, self.text(operand), defs, at)) is not None:
                return _Cause(*part)
            if len(defs) != 1:
                near = of_the_site(self.program, defs, [at])
                told = near if len({self.names.span(n) for n in near}) > 1 else defs
                return self.several(self.text(operand), told, near, at, returned) or self.changed(passed)
            steps = steps or [n for n in every if moves(self.program, n, operand)]
            found = self.source(defs[0], operand, inside or bool(steps))
            if isinstance(found, _Cause):
                return (self.changed(passed) if found.message.endswith(NOT_FOLLOWED) else None) or found
            if found is None:
                break
            if isinstance(self.graph.nodes[defs[0]].action, Unbind):
                returned = self.program.functions[self.graph.frames[found[1]].function].name
            (operand, frame), at = found, defs[0]
        return self.moved(steps) or self.changed(passed)

    def changed(self, passed: list[int]) -> _Cause | None:
        return None if (found := changed(self.program, passed)) is None else _Cause(*found)

    def moved(self, steps: list[int]) -> _Cause | None:
        spans = dict.fromkeys(map(self.names.span, steps))
        if not spans:
            return None
        message = f"the pointer is moved at {lines_of(spans)}, so the call begins inside its buffer"
        notes = tuple((span, "here") for span in spans)[:SHOWN]
        return _Cause(f"{message}; a message needs a buffer of its own", notes)

    def text(self, operand: ins.Operand) -> str:
        return f"`{self.program.variables[operand.key].name}`" if isinstance(operand, ins.Var) else "the pointer"

    def source(self, n: int, operand: ins.Operand, inside: bool) -> tuple[ins.Operand, int] | _Cause | None:
        """What a node sets a name to: the operand with its frame, or why it is not known."""
        node = self.graph.nodes[n]
        match node.action:
            case ins.Define(value=value):
                return value, node.frame
            case Bind(caller=caller, params=params, args=args) if (
                isinstance(operand, ins.Var) and operand.key in params
            ):
                index = params.index(operand.key)
                return (args[index], caller) if index < len(args) else None
            case Unbind(callee=callee, value=value) if value is not None:
                return value, callee
            case ins.Load():
                return self.load(n)
            case Lost() if named := called_pointer(self.program, n):
                return self.by_pointer(n, named)
            case Lost(functions=(key,)) if key in self.program.functions:
                return _Cause(*returned_unseen(self.program, n, key))
            case ins.CallInstr(callee=ins.AddrFunc(key=f)) | Lost(call=ins.CallInstr(callee=ins.Const(name=str(f)))):
                return self.returned(node_span(self.program, n), f, inside)
            case _:
                return None

    def by_pointer(self, n: int, named: str) -> _Cause:
        message = f"what `{named}` points to returns the buffer, and could not show which function that is"
        return _Cause(message, ((self.names.span(n), "here"),))

    def returned(self, span: Span, key: str, inside: bool) -> _Cause:
        effect = self.program.effects.get(key)
        if effect is None or effect.allocates is None:
            message = f"the buffer is what `{key}` returned, which is not known to be fresh memory"
            return _Cause(message, ((span, "here"),))
        made = f"the memory that `{key}` returns at {line_of(span)}"
        message = f"the buffer is {made}; what else points into it by then {NOT_FOLLOWED}"
        if inside:
            message = f"{COMPUTED_PLACE} {made}; a message needs a buffer of its own"
        return _Cause(message, ((span, "allocated here"),))

    def several(self, what: str, defs: list[int], near: list[int], at: int, returned: str) -> _Cause | None:
        """A name that is set in several places: see ``in_turn.several``."""
        spans = {self.names.span(n) for n in defs}
        if len(spans) == 1:
            for n in defs:
                if named := returned_through(self.program, n):
                    return self.by_pointer(n, named)
            return self.returns(defs) or _Cause(*set_in_one_line(self.program, what, spans.pop()))
        return _Cause(*several(self.program, what, defs, near, at, returned)) if spans else None

    def returns(self, defs: list[int]) -> _Cause | None:
        """One call of a function that returns in several places, of several pointers."""
        notes: dict[Span, str] = {}
        called = ""
        for n in defs:
            action = self.graph.nodes[n].action
            if not isinstance(action, Unbind):
                return None
            value, frame = action.value, action.callee
            called = self.program.functions[self.graph.frames[frame].function].name
            name = None if value is None else self.names.name(frame, value)
            for d in self.names.defs.get(name, ())[:1] if isinstance(value, ins.Temp) and name is not None else ():
                notes[self.names.span(d)] = "one of them comes from here"
            if isinstance(value, ins.Var) and value.span.line:
                notes[value.span] = "one of them is returned here"
        if len(notes) < len(defs):
            return None
        message = f"`{called}` returns one of several pointers: that of {lines_of(notes)}"
        return _Cause(message, tuple(notes.items())[:SHOWN])

    def load(self, n: int) -> _Cause | tuple[ins.Operand, int] | None:
        """A pointer that is read from memory and does not count as a variable."""
        if self.finder is None:
            self.finder = Finder(self.program)
        finder = self.finder
        node = self.graph.nodes[n]
        action = node.action
        assert isinstance(action, ins.Load)
        function = self.graph.frames[node.frame].function
        e = finder.written.of(function, action)
        operands = self.values.operands.get(n, ())
        base = finder.symbols.base(operands[0]) if operands else None
        here = ((node_span(self.program, n), "read from memory here"),)
        if e is None and self.named[0] == node.frame:
            e = self.named[1]  # a macro writes it
        if e is None:
            return None
        name = spelling(e)
        if (copied := copy_of(self.program, e, node.frame)) is not None:
            return _Cause(*copied)
        if base is None:
            inner = pointer_of(e)
            if inner is None:
                return _Cause(f"`{name}` is a pointer in memory that is not known to be one place", here)
            root = spelling(inner)
            behind = self.behind_its_back(e, node.frame)
            unset = never_set(self.program, action.address, n, root) if behind is None else None
            if unset is not None:
                return _Cause(f"{unset[0]}, so which buffer `{name}` is could not be shown", unset[1])
            if behind is None and (row := row_of_either(self.program, e, node.frame)) is not None:
                return _Cause(*row)
            said = one_of_a_table(self.program, e, n) or without_a_value(self.program, action.address, n, root, name)
            behind = behind or (None if said is None else _Cause(*said)) or self.behind_its_back(inner, node.frame)
            message = f"which object `{root}` points to is not known, so `{name}` may be any of several buffers"
            places = settings(self.program, action.address, n, root)
            by_calls = None
            if not places:
                by_calls = written_over(self.program, n, inner) or set_by_calls(self.program, e)
                by_calls = by_calls or set_elsewhere(self.program, action.address, n, root, name)
            return behind or _Cause(*(by_calls or set_once(message, root, name, places or here)))
        info = self.values.objects.table[base]
        if info.kind == "family":
            return self.many(self.values.objects.table[info.members[0]], name)
        at = finder.symbols.resolve(finder.symbols.offset(operands[0])).constant
        if info.variable in self.program.members:
            return self.mixed(base, name, at)
        if (parts := copied_into(self.program, base, e)) is not None:
            return _Cause(*parts)
        found = self.in_the_way(finder, info, at, name)
        if found is not None and found.message.startswith(WHICH) and isinstance(e, ast.Index):  # which is why, is told
            alike = of_several_tables(self.program, self.words(finder), base, spelling(e.base), node.frame)
            found = found if alike is None else _Cause(*alike)
        if found is not None:  # of what else keeps it, that it shares its memory tells more than who may touch it
            found = self.unlike(base, name, at) or found
        found = found or self.elsewhere(finder, function, e, base, name)
        if found is None and function in also_run(self.program):
            called = self.program.functions[function].name
            found = _Cause(f"`{called}`, which names `{name}`, also runs where its calls are not followed", here)
        if found is None:
            found = self.unlike(base, name)
        if found is None and at is not None:
            found = self.alike(finder, (base, at), name)
        if found is not None:
            return found
        if isinstance(e, ast.Index):
            alike = of_several_tables(self.program, self.words(finder), base, spelling(e.base), node.frame)
            if alike is not None:
                return _Cause(*alike)
            set_at = [a for a in self.names.writes(base) if isinstance(self.graph.nodes[a.node].action, ins.Store)]
            first = tuple((self.names.span(a.node), "one of them is set here") for a in set_at[:1])
            return _Cause(f"{WHICH} `{spelling(e.base)}` the call and other lines mean", first or here)
        return _Cause(f"it could not be shown that `{name}` is one pointer, to memory of its own", here)

    def alike(self, finder: Finder, start: Place, name: str) -> _Cause | None:
        """Some text names this pointer in one call and another one in another; what is in the way of that one."""
        words = self.words(finder)
        said: dict[Place, list[Words]] = {}
        for key, places in words.items():
            for one in places:
                said.setdefault(one, []).append(key)
        known, work = {start}, [start]
        for here in work:
            for key in said.get(here, ()):
                for other in sorted(words[key].keys() - known):
                    known.add(other)
                    work.append(other)
                    found = self.also(finder, other, name)
                    if found is not None:
                        called = f"`{self.program.functions[key[0]].name}`" if here == start else "the program"
                        message = f"the same text of {called} names `{name}` and pointers of other structs"
                        message += f", which change all or none, and {found.message}"
                        return _Cause(message, found.notes)
        return None

    def also(self, finder: Finder, other: Place, name: str) -> _Cause | None:
        """What is in the way of another pointer, which goes by the same words."""
        o, at = other
        if o == NOWHERE:
            return _Cause("one of them is not known", ())
        info = self.values.objects.table[o]
        if at == NOWHERE:
            return _Cause(f"which element of `{info.name}` is meant is not known", ())
        member = re.split(r"->|\.", name)[-1]
        named = info.kind == "variable" and member != name
        return self.in_the_way(finder, info, at, f"{info.name}.{member}" if named else name)

    def words(self, finder: Finder) -> dict[Words, dict[Place, int]]:
        """See ``named_by_words``."""
        if self._words is None:
            self._words = named_by_words(self.program, finder)
        return self._words

    def unlike(self, table: int, name: str, at: int | None = None) -> _Cause | None:
        """A pointer that is set to a place inside a buffer, or to none that is known.

        at: the byte at which it lies, where only what may be set there counts, and only a place inside a buffer.
        """
        symbols, objects = self.values.symbols, self.values.objects.table
        for n, action in stores_into(self.program).get(table, ()):
            operands = self.values.operands[n]
            if not action.type.is_pointer:
                continue
            function, lies = self.graph.frames[self.graph.nodes[n].frame].function, self.named[1]
            target = None if self.finder is None else self.finder.written.of(function, action)
            if target is not None and lies is not None and of_other_members(target, lies):
                continue
            value = symbols.base(operands[1])
            fresh = value is not None and objects[value].kind == "heap" and symbols.offset(operands[1]).constant == 0
            if operands[1].constant == 0 or fresh:
                continue
            span = self.names.span(n)
            inside = value is not None and symbols.offset(operands[1]).constant != 0
            if at is not None and (not inside or symbols.offset(operands[0]).constant not in (at, None)):
                continue
            other = None if inside else changes_places(self.program, table, n, name)
            if other is not None:
                return _Cause(other[0], ((other[1], "here"),))
            what = "a place inside another buffer" if inside else not_fresh(self.program, n)
            return _Cause(f"{line_of(span)} sets `{name}` to {what}", ((span, "here"),))
        return None

    def mixed(self, table: int, name: str, at: int | None) -> _Cause:
        """A table of pointers, some of which are not set to fresh memory of their own.  at: the byte of one."""
        if at is not None and (inside := self.unlike(table, name, at)) is not None:
            return inside
        seen, symbols, others = dict[int | None, int](), self.values.symbols, list[int]()  # others: what sets one so
        for n, _ in stores_into(self.program).get(table, ()):
            operands = self.values.operands[n]
            value = symbols.base(operands[1])
            if operands[1].constant == 0:
                continue
            others += [n] if value is None or value in seen else []
            seen[value] = n
        others.sort(key=lambda n: at is not None and symbols.offset(self.values.operands[n][0]).constant != at)
        for n in others[:1]:
            other, span = changes_places(self.program, table, n, name), self.names.span(n)
            message = f"{line_of(span)} sets `{name}` to {not_fresh(self.program, n)}"
            return _Cause(*((message, ((span, "here"),)) if other is None else (other[0], ((other[1], "here"),))))
        notes = tuple((span, "one of them is set here") for span in apart(self.program, seen.values()))
        return _Cause(f"`{name}` is one of several pointers, and which one is not known", notes[:SHOWN])

    def elsewhere(self, finder: Finder, function: str, e: ast.Expr, known: int, name: str) -> _Cause | None:
        """The same words mean another struct in another call of the function, and there something is in the way."""
        for node in self.graph.nodes:
            action = node.action
            if not isinstance(action, ins.Load) or self.graph.frames[node.frame].function != function:
                continue
            operands = self.values.operands.get(node.number, ())
            if not operands or finder.written.of(function, action) is not e:
                continue
            base = finder.symbols.base(operands[0])
            if base is None or base == known:
                continue
            at = finder.symbols.resolve(finder.symbols.offset(operands[0])).constant
            found = self.in_the_way(finder, self.values.objects.table[base], at, name)
            if found is not None:
                return found
        return None

    def in_the_way(self, finder: Finder, info: Object, at: int | None, name: str) -> _Cause | None:
        """What keeps a place in an object from counting as a variable."""
        o = info.number
        escaped = self.values.escaped.get(o)
        if escaped is not None and comes_there(self.program, escaped[0], o):
            return _Cause(*may_change(self.program, name, *escaped))
        if o in self.program.points_to.reachable(frozenset({UNKNOWN})):
            return _Cause(f"code that is not known may reach `{name}`", ())
        if o in finder.spoiled:
            found = given_away(self.program, o)
            what = f"what `{name}` lies in" if info.kind == "heap" else f"`{info.name}`, in which `{name}` lies,"
            if found is not None:
                (n, how), span = found, self.names.span(found[0])
                if how == FREED and not finder.single(info) and freed_by_another(self.program, n, self.named[1]):
                    return self.many(info, name)  # which is so whatever the other pointer stands for
                freed = one_of_several_freed(self.program, n, name) if how == FREED else None
                freed = freed or (overwritten(self.program, n, name, self.named[1]) if how == FREED else None)
                if freed is not None:
                    return _Cause(*freed)
                return _Cause(f"{what} {how} at {line_of(span)}", ((span, "here"),))
            return _Cause(f"{what} is a message's buffer, is copied as a value, or moves", ())
        if not finder.single(info):
            return self.many(info, name)
        unclear = None if at is None else may_be_touched(self.program, finder, o, at, name)
        return None if unclear is None else _Cause(*unclear)

    def behind_its_back(self, e: ast.Expr, frame: int) -> _Cause | None:
        """The pointer that an lvalue goes through is a variable that something may change that is not followed."""
        base = base_of(e)
        if not isinstance(base, ast.VarRef):
            return None
        found = self.values.escaped.get(self.values.objects.variable(frame, base.var))
        return None if found is None else _Cause(*may_change(self.program, spelling(base), *found))

    def many(self, info: Object, name: str) -> _Cause:
        """The object stands for several of the run."""
        if info.kind == "heap" and info.nodes:
            span = self.names.span(info.node)
            if of_a_table(name, self.named[1]):
                return _Cause(*one_of_several_tables(self.program, info.node, name[: name.rindex("[")]))
            if not self.program.nest.chain(self.graph.nodes[info.node].block):
                return _Cause(f"the struct of `{name}` is one of several in an array of pointers", ((span, "here"),))
            message = f"the struct of `{name}` is allocated in a loop, at {line_of(span)}: there are several"
            if not self.program.complete and not elsewhere_of(self.program).loops(info.node):
                message = f"{line_of(span)} allocates the struct of `{name}`, and other files may come there again"
            return _Cause(message, ((span, "allocated here"),))
        return _Cause(*of_a_call(self.program, info, name))


@once
def _strays(program: Program) -> Strays:
    return Strays(program)


def stray_refusal(program: Program, use: Use) -> Refusal:
    """Why a use's buffer is none that is known; what is found out of a program is remembered."""
    return _strays(program).refusal(use)
