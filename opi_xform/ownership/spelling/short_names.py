"""Local pointers that are a short name for something: ``double *b = h->out[d];``, written out where they are used.
The declaration may stand ahead (``double *b; b = h->out[d];``).  All uses follow the assignment in its block then, or
the words name nothing that a block declares: what is read before the assignment has no value in C.

A message changes the pointer that it is given.  Where that is a local copy, the program is tried with the words that it
was set from in its place (``attempts/short_names.py``).  The two have to be one program, so what the words say must not
change between the setting and a use.  That is so in two cases.

- The words are made of addresses and of variables that never change (``rbuf[d]``, a parameter that nobody sets), or
  not in the block that has the setting and all uses (``mentioned.py``).
- All uses stand in the arguments of one call, which is the next thing that happens, but for what cannot change the
  words: the clock is read, a number printed, a local number set (``t = MPI_Wtime();``).  Arguments are evaluated before
  the call.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ir.walk import expressions, statements, within
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import ReplaceText
from opi_xform.ownership.spelling.mentioned import Mention, is_of, mentions_of, steady_in
from opi_xform.ownership.spelling.mentions import Texts, plain
from opi_xform.ownership.spelling.scopes import PASTED, declared_by_macros, expanded, hidden, means_variable, words
from opi_xform.record import dataclass

_PURE = (
    ast.VarRef,
    ast.IntLit,
    ast.MacroConst,
    ast.Member,
    ast.Index,
    ast.Deref,
    ast.AddrOf,
    ast.Cast,
    ast.Unary,
    ast.Binary,
    ast.Logical,
    ast.Conditional,
    ast.FloatLit,
    ast.StringLit,
    ast.FuncRef,
    ast.SizeOf,
)
_POSTFIX = (ast.VarRef, ast.Index, ast.Member)
_STEPS = (ast.Block, ast.ExprStmt, ast.DeclStmt, ast.If, ast.For, ast.While, ast.DoWhile, ast.Return, ast.Null)
_LISTED = frozenset(("__builtin_va_start", "__builtin_va_end", "vprintf", "vfprintf"))
"""What a function that prints as printf does may do with its list."""
_DECLARING = frozenset({"enum", "typedef"})
_JUMPS = (ast.Goto, ast.Label, ast.OpaqueStmt)


@dataclass(frozen=True, slots=True)
class ShortName:
    """A variable that goes, and what is written for it.  edits: its declaration and its mentions.

    said: what it becomes, where nothing is written for it.
    """

    key: str
    name: str
    text: str
    edits: tuple[ReplaceText, ...]
    said: str = ""


def short_names(program: Program, units: Sequence[ast.Unit], keys: Collection[str]) -> tuple[ShortName, ...]:
    """Of these variables, those that can be written out; no edits of one touch those of another."""
    out: list[ShortName] = []
    for unit in units:
        for function in unit.functions.values():
            for key, variable in function.variables.items():
                if key in keys and is_of(unit, function, units):
                    found = Writing(program, units, unit, function, variable).run()
                    if found is not None and not any(touch(found, other) for other in out):
                        out.append(found)
    return tuple(out)


def settings(function: ast.Function) -> dict[str, tuple[ast.Stmt, ast.Stmt | None, ast.Expr]]:
    """By local pointer: the statement that sets it first, the one around that, and the value.

    It is the declaration, or an assignment.
    """
    out: dict[str, tuple[ast.Stmt, ast.Stmt | None, ast.Expr]] = {}
    for s, around in statements(function.body):
        key, value = "", None
        if isinstance(s, ast.DeclStmt) and len(s.variables) == 1 and not s.sizes:
            key, value = s.variables[0], function.variables[s.variables[0]].init
        elif isinstance(s, ast.ExprStmt) and isinstance(s.expr, ast.Assign) and not s.expr.op:
            key, value = s.expr.target.var if isinstance(s.expr.target, ast.VarRef) else "", s.expr.value
        v = function.variables.get(key)
        if v is not None and value is not None and v.kind == "local" and v.type.is_pointer:
            out.setdefault(key, (s, around, value))
    return out


def touch(a: ShortName, b: ShortName) -> bool:
    return any(
        one.span.file == other.span.file and one.span.begin < other.span.end and other.span.begin < one.span.end
        for one in a.edits
        for other in b.edits
    )


class Writing:
    """One variable of one function: ``run``."""

    def __init__(
        self,
        program: Program,
        units: Sequence[ast.Unit],
        unit: ast.Unit,
        function: ast.Function,
        variable: ast.Variable,
    ) -> None:
        self.program = program
        self.unit = unit
        self.function = function
        self.variable = variable
        self.units = units
        self.index = mentions_of(units)
        self.texts = Texts()
        self.whole = self.texts.of(function.span)

    def run(self) -> ShortName | None:
        variable = self.variable
        found = settings(self.function).get(variable.key)
        if found is None or not self.is_plain() or not self.is_pure(found[2]):
            return None
        setting, around, value = found
        mentions = self.index.by_key.get(variable.key, [])
        if variable.init is None:
            mentions = [m for m in mentions if not (isinstance(m.parent, ast.Assign) and m.parent.value is value)]
        if not all(map(reads, mentions)):
            return None
        if not isinstance(around, ast.Block) or not setting.span.editable or "{" in self.texts.of(setting.span):
            return None
        core = plain(value)
        text = self.text(core) if isinstance(core, _POSTFIX) else ""
        fixed = bool(text) and self.is_fixed(core, around) and self.in_order() and self.means_the_same(core)
        if fixed and variable.init is None:
            fixed = self.is_of_function(core) or all(_follows(m.ref.span, setting.span, around.span) for m in mentions)
        if not text or not (fixed or self.is_next(around, setting, mentions, core)):
            return None
        edits = (*self.gone(setting), *(ReplaceText(m.ref.span, text) for m in mentions))
        return ShortName(variable.key, variable.name, text, edits)

    def gone(self, setting: ast.Stmt) -> list[ReplaceText]:
        """The statement goes, and so does a declaration of nothing but the variable."""
        out = [setting]
        if self.variable.init is None:
            out += [s for s, p in statements(self.function.body) if self.declares(s) and isinstance(p, ast.Block)]
        return [ReplaceText(s.span, "") for s in out if s.span.editable]

    def is_plain(self) -> bool:
        """A local pointer of which all mentions are seen."""
        v, function = self.variable, self.function
        if v.kind != "local" or not v.type.is_pointer or v.type.volatile or v.type.atomic or v.attributes:
            return False
        if function.refused or function.threads or self.index.texts.looks_at_types(self.whole):
            return False
        if any(v.name in s.identifiers and s.span.file == function.span.file for s in self.unit.skipped):
            return False
        return self.index.texts.in_directive(function.span.file, v.name, True) is None

    def declares(self, s: ast.Stmt) -> bool:
        """The statement declares the variable, and nothing else."""
        return isinstance(s, ast.DeclStmt) and s.variables == (self.variable.key,) and not s.sizes

    # --- what the words say ------------------------------------------------------------------------------------------

    def is_pure(self, e: ast.Expr) -> bool:
        """Nothing happens where it is evaluated, and no two readings differ by themselves."""
        known = (isinstance(x, _PURE) and not x.type.volatile and not x.type.atomic for x in within(e))
        return all(known) and not any(isinstance(x, ast.SizeOf) and x.value is None for x in within(e))

    def is_fixed(self, e: ast.Expr, block: ast.Block | None = None) -> bool:
        """The value is the same wherever the names are known: nothing is read but variables that never change, or not
        in the block.
        """
        work: list[tuple[ast.Expr, bool]] = [(e, False)]  # with whether only its address counts
        while work:
            item, address = work.pop()
            address = address or item.type.is_array
            match item:
                case ast.IntLit() | ast.MacroConst(operand=None):
                    continue
                case ast.VarRef(var=key):
                    if item.type.vla or not (address or self.never_changes(key) or self.steady(key, block)):
                        return False
                case ast.AddrOf(operand=inner):
                    work.append((inner, True))
                case ast.Cast(operand=inner) | ast.Unary(operand=inner) | ast.MacroConst(operand=ast.Expr() as inner):
                    work.append((inner, False))
                case ast.Binary(left=left, right=right):
                    work.extend(((left, False), (right, False)))
                case ast.Index(base=base, index=index) if address:
                    work.extend(((base, False), (index, False)))
                case ast.Member(base=base) if address:
                    work.append((base, True))
                case ast.Deref(operand=inner) if address:
                    work.append((inner, False))
                case _:
                    return False
        return True

    def never_changes(self, key: str) -> bool:
        """A parameter, or a local variable with an initialiser, that nothing else sets; or one that a statement of the
        function's own block sets, which runs once.
        """
        v = self.function.variables.get(key)
        if v is None or v.kind not in ("param", "local") or not v.type.is_scalar or v.type.volatile or v.type.atomic:
            return False
        if self.index.texts.in_directive(self.function.span.file, v.name) is not None:
            return False
        mentions = self.index.by_key.get(key, ())
        if any(isinstance(m.parent, (ast.AddrOf, ast.IncDec, ast.Opaque)) for m in mentions):
            return False
        sets = [m.parent for m in mentions if isinstance(m.parent, ast.Assign) and m.parent.target is m.ref]
        if v.kind == "param" or v.init is not None:
            return not sets
        body = self.function.body.body if isinstance(self.function.body, ast.Block) else ()
        once = [s.expr for s in body if isinstance(s, ast.ExprStmt)]
        return len(sets) == 1 and not sets[0].op and any(e is sets[0] for e in once)

    def steady(self, key: str, block: ast.Block | None) -> bool:
        return block is not None and steady_in(self.program, self.unit, self.units, block, key)

    def is_of_function(self, core: ast.Expr) -> bool:
        """The words name nothing that a block declares: what they say is the same in all of the function."""
        keys = [e.var for e in within(core) if isinstance(e, ast.VarRef)]
        own = (self.function.variables.get(key) for key in keys)
        return all(v is None or v.kind == "param" for v in own)

    def in_order(self) -> bool:
        """A declaration comes before what it declares: nothing jumps back over it."""
        return not any(isinstance(s, _JUMPS) for s, _ in statements(self.function.body))

    # --- one call ----------------------------------------------------------------------------------------------------

    def is_next(self, block: ast.Block, setting: ast.Stmt, mentions: Sequence[Mention], core: ast.Expr) -> bool:
        """All uses are arguments of one call, and nothing happens between the setting and that."""
        start = at = next(i for i, s in enumerate(block.body) if s is setting) + 1
        said = {e.var for e in within(core) if isinstance(e, ast.VarRef)}
        if any(e.type.kind == "float" for e in within(core)):
            return False  # a subscript that is made of a floating number, perhaps by a pointer to it
        while at < len(block.body) and self.passes(block.body[at], said):
            at += 1
        e = self.first(block.body[at], said) if at < len(block.body) else None
        if e is None or not self.means_the_same_near(core, block.body[start : at + 1]):
            return False
        calls = [x for x in within(e) if isinstance(x, ast.Call) and not self.only_tells(x)]
        if len(calls) != 1 or not isinstance(calls[0].callee, ast.FuncRef):
            return False
        call = calls[0]
        inside = {id(x) for a in call.args for x in within(a)}
        outside = [x for x in within(e) if id(x) not in inside and x is not call and x is not call.callee]
        assigns = isinstance(e, ast.Assign) and not e.op
        others = [x for x in outside if not (assigns and x is e)]
        quiet = all(isinstance(x, _PURE) for x in others)
        return quiet and all(self.is_quiet(a, core) for a in call.args) and all(id(m.ref) in inside for m in mentions)

    def is_quiet(self, argument: ast.Expr, core: ast.Expr) -> bool:
        """Nothing happens where an argument is evaluated but that local numbers count which the words do not read.

        No pointer leads to these: nobody takes their addresses.  So it is all one what is evaluated first.
        """
        said = {e.var for e in within(core) if isinstance(e, ast.VarRef)}
        counts = [e for e in within(argument) if isinstance(e, ast.IncDec)]
        if not all(isinstance(e.operand, ast.VarRef) and self.is_own(e.operand.var, said) for e in counts):
            return False
        known = (
            (isinstance(x, (*_PURE, ast.IncDec)) or self.only_tells(x)) and not x.type.volatile and not x.type.atomic
            for x in within(argument)
        )
        return all(known) and not any(isinstance(x, ast.SizeOf) and x.value is None for x in within(argument))

    def only_tells(self, e: ast.Expr) -> bool:
        """A call of a function of the program's that returns a number, and does nothing else: ``left(rank)``."""
        if not isinstance(e, ast.Call) or not isinstance(e.callee, ast.FuncRef):
            return False
        called = self.program.functions.get(e.callee.name)
        body = called.body.body if called is not None and isinstance(called.body, ast.Block) else ()
        if called is None or called.refused or called.type.variadic or len(body) != 1:
            return False
        told = body[0].value if isinstance(body[0], ast.Return) else None
        numbers = told is not None and told.type.kind == "int" and all(a.type.kind == "int" for a in e.args)
        return numbers and told is not None and self.is_pure(told)

    def is_own(self, key: str, said: Collection[str], function: ast.Function | None = None) -> bool:
        """A number of this function alone, or of one that it calls, and none of those that are said."""
        function = function or self.function
        v = function.variables.get(key)
        if v is None or v.kind not in ("param", "local", "local-static") or v.type.kind != "int" or key in said:
            return False
        seen = self.index.texts.in_directive(function.span.file, v.name) is None
        return seen and not any(isinstance(m.parent, (ast.AddrOf, ast.Opaque)) for m in self.index.by_key.get(key, ()))

    def passes(self, s: ast.Stmt, said: Collection[str]) -> bool:
        """A statement that goes on to the next one, and cannot change what words say that read these variables."""
        work = [s]
        while work:
            match work.pop():
                case ast.Null():
                    pass
                case ast.Block(body=body):
                    work.extend(body)
                case ast.If(cond=e, then=then, other=other) if self.keeps(e, said):
                    work.extend(x for x in (then, other) if x is not None)
                case ast.ExprStmt(expr=e) if self.keeps(e, said):
                    pass
                case ast.DeclStmt(variables=keys, sizes=()):
                    inits = (self.function.variables[key].init for key in keys)
                    if not all(init is None or self.keeps(init, said) for init in inits):
                        return False
                case _:
                    return False
        return True

    def keeps(self, e: ast.Expr, said: Collection[str], inside: tuple[ast.Function, ...] = ()) -> bool:
        """An expression sets local numbers, to which no pointer leads, or floating numbers in variables, which no words
        read, and calls functions of the library that write nothing of the program's, or such of its own.

        inside: the functions that are called around it.
        """
        function = inside[-1] if inside else self.function
        for x in within(e):
            match x:
                case ast.Assign(target=target) | ast.IncDec(operand=target):
                    own = isinstance(target, ast.VarRef) and self.is_own(target.var, said, function)
                    if not own and not _is_float(target, said):
                        return False
                case ast.Call(callee=ast.FuncRef(name=name), args=given) if (
                    inside and name in _LISTED - self.program.functions.keys()
                ):
                    if not all(isinstance(a, (ast.VarRef, ast.MacroConst, ast.StringLit)) for a in map(plain, given)):
                        return False
                case ast.Call(callee=ast.FuncRef(name=name), args=given):
                    effect, own_function = self.program.effects.get(name), self.program.functions.get(name)
                    if own_function is not None:
                        if not self.tells(own_function, said, inside):
                            return False
                    elif effect is None or not _only_reads(effect):
                        return False
                    if any(a.type.holds_address and not _prints(a) for a in map(plain, given)):
                        return False
                case _:
                    if not isinstance(x, _PURE) or x.type.volatile or x.type.atomic:
                        return False
        return True

    def tells(self, function: ast.Function, said: Collection[str], inside: tuple[ast.Function, ...]) -> bool:
        """A function of the program's does nothing else: it prints, or keeps the time."""
        if function in inside or len(inside) > 3 or function.refused or function.threads:
            return False
        for s, _ in statements(function.body):
            if not isinstance(s, _STEPS) or (isinstance(s, ast.DeclStmt) and s.sizes):
                return False
        declared = [key for s, _ in statements(function.body) if isinstance(s, ast.DeclStmt) for key in s.variables]
        inits = [e for key in declared if (e := function.variables[key].init) is not None]
        return all(self.keeps(e, said, (*inside, function)) for e in (*inits, *expressions(function.body)))

    def first(self, s: ast.Stmt, said: Collection[str]) -> ast.Expr | None:
        """The expression that is evaluated first, and once, where a statement runs; but for what passes."""
        while True:
            match s:
                case ast.Block(body=body):
                    inner = next((x for x in body if not self.passes(x, said)), None)
                    if inner is None:
                        return None
                    s = inner
                case ast.DoWhile(body=inner, cond=ast.IntLit(value=0)):
                    s = inner
                case ast.ExprStmt(expr=e) | ast.If(cond=e):
                    return e
                case ast.Return(value=e):
                    return e
                case ast.DeclStmt(variables=(key,), sizes=()):
                    return self.function.variables[key].init
                case _:
                    return None

    # --- text --------------------------------------------------------------------------------------------------------

    def text(self, core: ast.Expr) -> str:
        """The words as an operand of anything, with the variable's type; '' where that cannot be written."""
        wanted, given = self.variable.type.elem, core.type.elem if core.type.is_array or core.type.is_pointer else None
        if not core.span.editable or wanted is None or given is None:
            return ""
        written = self.texts.of(core.span)
        if "/*" in written or "//" in written or "\n" in written:
            return ""
        if _spelt(wanted) == _spelt(given):
            return written
        type_ = self.variable.type.spelling
        return f"(({type_}){written})" if re.fullmatch(r"(?:const )?(?:struct )?\w+(?: \w+)* \*", type_) else ""

    def means_the_same_near(self, core: ast.Expr, following: Sequence[ast.Stmt]) -> bool:
        """The words mean in the statements after the declaration what they mean in it: these declare none of them."""
        said = expanded(self.program, self.said(core))
        inner = (s for outer in following for s, _ in statements(outer) if isinstance(s, ast.DeclStmt))
        new = {self.function.variables[key].name for s in inner for key in s.variables}
        made = expanded(self.program, {word for s in following for word in words(self.texts.of(s.span))})
        if not made.isdisjoint(_DECLARING) or any(word.startswith("struct ") for word in made):
            return False
        return said.isdisjoint(new | self.index.unsteady | {PASTED}) and not any(w.startswith("__") for w in said)

    def said(self, core: ast.Expr) -> set[str]:
        return words(self.texts.of(core.span)) | words(self.variable.type.spelling)

    def means_the_same(self, core: ast.Expr) -> bool:
        """The words mean wherever they are put what they mean in the initialiser."""
        texts, program, function = self.texts, self.program, self.function
        lowered = program.graph.lowered.get(function.key)
        if lowered is None:
            return False
        names = set()
        for e in within(core):
            if isinstance(e, ast.VarRef):
                variable = function.variables.get(e.var) or program.variables.get(e.var)
                if variable is None or not means_variable(program, function, variable, texts):
                    return False
                names.add(variable.name)
        others = expanded(program, self.said(core) - names)
        own = {*hidden(lowered, len(lowered.stmts) - 1, texts), *(v.name for v in function.variables.values())}
        own |= declared_by_macros(program, function.span) | self.index.unsteady | {PASTED}
        return own.isdisjoint(others) and not any(word.startswith("__") for word in others)


_QUIET = frozenset(
    (
        *("printf", "fprintf", "puts", "fputs", "putchar", "fputc", "putc", "fflush"),
        *("time", "clock", "rand", "getenv", "MPI_Wtime", "MPI_Wtick"),
    )
)
"""Beside functions that only compute.  Others may run handlers (`raise`, `sleep`) or change what a library lent."""


def _only_reads(effect: FunctionEffect) -> bool:
    """A function of the library comes back, and changes nothing of the program's."""
    if not (effect.pure or effect.computes or effect.name in _QUIET):
        return False
    changes = (*effect.all_writes, *effect.flows, *effect.retains, *effect.retains_stored, *effect.calls)
    return not (changes or effect.allocates or effect.frees or effect.mpi or effect.noreturn)


def _is_float(target: ast.Expr, said: Collection[str]) -> bool:
    """A floating number in a declared variable, array or struct: neither a pointer nor a subscript is read there."""
    if target.type.kind != "float" or target.type.volatile or target.type.atomic:
        return False
    while True:
        match target:
            case ast.VarRef(var=key):
                return key not in said
            case ast.Member(base=base, punned=False):
                target = base
            case ast.Index(base=base) if base.type.is_array:
                target = base
            case _:
                return False


def _prints(e: ast.Expr) -> bool:
    """A text, or a file (``stderr`` is a macro, too)."""
    named, elem = isinstance(e, (ast.VarRef, ast.MacroConst)), e.type.elem
    return isinstance(e, ast.StringLit) or (named and elem is not None and elem.kind == "record")


def _follows(span: Span, setting: Span, block: Span) -> bool:
    """A place after the statement that sets a name, in the block around that: as if the name were declared there."""
    return span.file == setting.file and setting.end <= span.begin and span.end <= block.end


def reads(mention: Mention) -> bool:
    """The variable's value is read, in text that can be edited."""
    parent = mention.parent
    if mention.unevaluated or not mention.ref.span.editable or isinstance(parent, (ast.AddrOf, ast.IncDec, ast.Opaque)):
        return False
    return not (isinstance(parent, ast.Assign) and parent.target is mention.ref)


def _spelt(type_: Type) -> str:
    return type_.spelling.removeprefix("const ")
