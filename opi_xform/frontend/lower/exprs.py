"""Lowers expression nodes, children before parents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from opi_xform.frontend.clang.libclang import Kind, TranslationUnit, evaluate, library, text
from opi_xform.frontend.clang.names import Names, Target
from opi_xform.frontend.clang.tree import Places, Tree
from opi_xform.frontend.clang.typemap import TypeMap
from opi_xform.frontend.lower import fold
from opi_xform.frontend.lower.array_sizes import after, is_computed, read_first
from opi_xform.frontend.lower.atomics import atomic, is_atomic
from opi_xform.frontend.lower.inits import Braces, Designated, flatten
from opi_xform.frontend.lower.punned import is_punned
from opi_xform.frontend.lower.refusals import Refusal, refusal
from opi_xform.frontend.lower.same_meaning import compared, deref
from opi_xform.frontend.macros.expansions import Expansion, Macros, call_arguments
from opi_xform.ir.ast import (
    PROC_NULL,
    AddrOf,
    Assign,
    Binary,
    Call,
    Cast,
    Comma,
    CompoundLit,
    Conditional,
    Deref,
    Expr,
    FloatLit,
    FuncRef,
    IncDec,
    Index,
    IntLit,
    Logical,
    MacroConst,
    Member,
    Opaque,
    SizeOf,
    StringLit,
    Unary,
    VarRef,
)
from opi_xform.ir.span import Span
from opi_xform.ir.types import SIZE_T, UNKNOWN, Type

BINARY = {
    3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 8: "<<", 9: ">>",
    11: "<", 12: ">", 13: "<=", 14: ">=", 15: "==", 16: "!=", 17: "&", 18: "^", 19: "|", 20: "&&", 21: "||",
    22: "", 23: "*", 24: "/", 25: "%", 26: "+", 27: "-", 28: "<<", 29: ">>", 30: "&", 31: "^", 32: "|", 33: ",",
}  # fmt: skip
_ASSIGN, _COMMA = 22, 33
_UNEXPOSED, _PAREN, _LAST_EXPR = int(Kind.UNEXPOSED_EXPR), int(Kind.PAREN_EXPR), int(Kind.LAST_EXPR)
_JUMPS = {"setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp", "longjmp", "_longjmp", "siglongjmp"}
_PLAIN_INT = re.compile(rb"(?:0|[1-9][0-9]*)[uUlL]*\Z")

_PLAIN_FLOAT = re.compile(rb"(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFlL]?\Z|[0-9]+[eE][+-]?[0-9]+[fFlL]?\Z")


class Expressions:
    """Lowers the expression nodes of one tree.  ``out[i]`` is node i's expression, a ``Braces``, or None."""

    def __init__(
        self, unit: TranslationUnit, tree: Tree, places: Places, names: Names, types: TypeMap, macros: Macros
    ) -> None:
        self._lib = unit.lib
        self._tree = tree
        self._places = places
        self._names = names
        self._types = types
        self._macros = macros
        self._kind, self._kids = tree.kind, tree.kids
        self.out: list[Expr | Braces | Designated | None] = [None] * len(tree)
        self.refusals: list[Refusal] = []
        self.blocks: dict[int, int] = {}  # id of a statement expression -> its node
        self.variables: dict[str, Target] = {}  # those that are named
        self.taken: Counter[str] = Counter()  # how often each function is named other than to call it
        self._handlers: dict[int, Callable[[int, Type, Span, list[int]], Expr | Braces | Designated]] = {
            Kind.UNEXPOSED_EXPR: self._unexposed,
            Kind.DECL_REF_EXPR: self._reference,
            Kind.MEMBER_REF_EXPR: self._member,
            Kind.CALL_EXPR: self._call,
            Kind.INTEGER_LITERAL: self._integer,
            Kind.CHARACTER_LITERAL: self._integer,
            Kind.FLOATING_LITERAL: self._floating,
            Kind.IMAGINARY_LITERAL: lambda i, t, s, k: FloatLit(t, s),
            Kind.STRING_LITERAL: self._string,
            Kind.UNARY_OPERATOR: self._unary,
            Kind.ARRAY_SUBSCRIPT_EXPR: self._subscript,
            Kind.BINARY_OPERATOR: self._binary,
            Kind.COMPOUND_ASSIGN_OPERATOR: self._compound_assign,
            Kind.CONDITIONAL_OPERATOR: self._conditional,
            Kind.CSTYLE_CAST_EXPR: self._cast,
            Kind.COMPOUND_LITERAL_EXPR: self._compound_literal,
            Kind.INIT_LIST_EXPR: self._braces,
            Kind.ADDR_LABEL_EXPR: lambda i, t, s, k: self._refuse(i, t, s, k, "computed goto"),
            Kind.GENERIC_SELECTION_EXPR: lambda i, t, s, k: self._refuse(i, t, s, k, "_Generic"),
            Kind.UNARY_EXPR: self._sizeof,
        }

    def lower(self, i: int) -> None:
        """Lowers node ``i``, whose children are lowered already."""
        tree, kind, kids = self._tree, self._kind[i], self._kids[i]
        if kind == _PAREN and len(kids) == 1:
            result = self.out[kids[0]] or self.expr(kids[0])
        elif len(kids) == 1 and (kind == _UNEXPOSED or tree.is_number_of_case(i)) and tree.is_around(i, kids[0]):
            # An implicit conversion; most vanish (decay, reading, pointers).  Or a label's number, which comes twice.
            result = self.out[kids[0]] or self.expr(kids[0])
            if isinstance(result, Expr):
                type_ = self._types.of(self._tree.cursor[i])
                if result.type is not type_ and type_.kind in ("int", "float"):
                    result = self._converted(result, type_, i)
        else:
            kids = [k for k in kids if _UNEXPOSED <= self._kind[k] <= _LAST_EXPR]
            type_ = self._types.of(self._tree.cursor[i])
            span = self._places.span(i)
            handler = self._handlers.get(kind)
            result = (
                handler(i, type_, span, kids) if handler else self._refuse(i, type_, span, kids, "unknown expression")
            )
        made = self._places.made_by[i]
        if made is not None and isinstance(result, Expr):
            whole = self._places.whole(i) if made.object_like else None
            if whole is not None:
                result = self._named(result, *self._macros.resolved(whole), self._places.span(i))
            elif isinstance(result, Call):
                result = self._call_in_body(result, made)
        self.out[i] = result

    # --- helpers ----------------------------------------------------------------------------------

    def expr(self, k: int) -> Expr:
        """Child ``k`` as an expression."""
        found = self.out[k]
        if isinstance(found, Expr):
            return found
        type_ = self._types.of(self._tree.cursor[k])
        span = self._places.span(k)
        if isinstance(found, Braces):
            return flatten(found, type_, self._types.records)
        return Opaque(type_, span, "not an expression")

    def exprs(self, kids: list[int]) -> tuple[Expr, ...]:
        return tuple(self.expr(k) for k in kids)

    def _refuse(self, i: int, type_: Type, span: Span, kids: list[int], reason: str) -> Expr:
        self.refusals.append(refusal(self._places, i, reason))
        return Opaque(type_, span, reason, self.exprs(kids))

    def _call_in_body(self, call: Call, made: Expansion) -> Call:
        """A call that a macro's body makes, its arguments named that the body writes as one constant (``MPI_INT``)."""
        if made.definition is None or not isinstance(call.callee, FuncRef):
            return call
        written = call_arguments(made.definition.body, call.callee.name.rpartition(":")[2])
        if len(written) != len(call.args):
            return call
        args = []
        for arg, tokens in zip(call.args, written, strict=True):
            found = self._macros.constant(tokens[0]) if len(tokens) == 1 else None
            args.append(self._named(arg, *found, arg.span) if found is not None else arg)
        return replace(call, args=tuple(args))

    def _named(self, found: Expr, name: str, system: bool, span: Span) -> Expr:
        """An expression that is written as one object-like macro."""
        if isinstance(found, IntLit):
            return replace(found, span=span, name=name)
        if system and not isinstance(found, (MacroConst, FloatLit, StringLit)):
            return MacroConst(found.type, span, name, found)
        return replace(found, span=span)

    # --- leaves -----------------------------------------------------------------------------------

    def _string(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        spelled = text(library().clang_getCursorSpelling(self._tree.cursor[i]))
        plain = len(spelled) > 1 and spelled[0] == spelled[-1] == '"'  # the parts of the literal as one; not L"..."
        return StringLit(type_, span, type_.size or 1, spelled[1:-1].partition("\\000")[0] if plain else None)

    def _integer(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        file = self._places.file[i]
        if file is not None and self._places.made_by[i] is None:
            written = file.data[self._places.begin[i] : self._places.end[i]]
            if _PLAIN_INT.match(written):
                return IntLit(type_, span, int(written.rstrip(b"uUlL")))
        value = evaluate(self._tree.cursor[i])
        return Opaque(type_, span, "integer literal") if value is None else IntLit(type_, span, fold.wrap(value, type_))

    def _floating(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        file = self._places.file[i]
        if file is None or self._places.made_by[i] is not None:
            return FloatLit(type_, span)
        written = file.data[self._places.begin[i] : self._places.end[i]]
        return FloatLit(type_, span, float(written.rstrip(b"fFlL")) if _PLAIN_FLOAT.match(written) else None)

    def _reference(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        target = self._names.referenced(self._tree.cursor[i])
        if target.what == "var":
            self.variables.setdefault(target.key, target)
            return VarRef(target.type if target.kind == "param" else type_, span, target.key)
        if target.what == "func":
            self.taken[target.key] += 1
            return FuncRef(type_, span, target.key)
        if target.what == "enum":
            return IntLit(type_, span, target.value, target.name)
        return self._refuse(i, type_, span, kids, f"reference to {target.name or 'an unknown declaration'}")

    # --- operators --------------------------------------------------------------------------------

    def _unexposed(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr | Braces | Designated:
        """What libclang has no kind for, conversions apart: offsetof, va_arg, ``a ?: b``, designated initialisers …"""
        tree = self._tree
        members = [k for k in tree.kids[i] if tree.kind[k] == Kind.MEMBER_REF]
        if tree.kids[i] and kids and type_.kind == "void" and self._is_designated(i):
            return self._designated(i, members, kids)
        value = evaluate(tree.cursor[i])
        if value is not None and type_.kind == "int":
            return IntLit(type_, span, fold.wrap(value, type_))
        if len(kids) == 4 and len({(tree.raw_begin[k], tree.raw_end[k]) for k in kids[:3]}) == 1:
            return Opaque(type_, span, "conditional without middle operand", (self.expr(kids[0]), self.expr(kids[3])))
        if not kids:
            return self._refuse(i, type_, span, kids, "unknown expression")
        file, made = self._places.file[i], self._places.made_by[i]
        written = file.data[self._places.begin[i] : self._places.begin[i] + 40] if file else b""
        name = self._macros.only(made, is_atomic) if made is not None else written.partition(b"(")[0].decode("latin1")
        if is_atomic(name.strip()):
            done = atomic(name.strip(), type_, span, self.exprs(kids))
            if done is not None:
                return done
        reason = "va_arg" if b"va_arg" in written or self._made_by_va_arg(i) else "unknown expression"
        return self._refuse(i, type_, span, kids, reason)

    def _made_by_va_arg(self, i: int) -> bool:
        made = self._places.made_by[i]
        return made is not None and made.definition is not None and "__builtin_va_arg" in made.definition.body

    def _is_designated(self, i: int) -> bool:
        parent = self._tree.parent[i]
        return parent >= 0 and self._tree.kind[parent] == Kind.INIT_LIST_EXPR

    def _converted(self, found: Expr, type_: Type, i: int) -> Expr:
        """An implicit conversion to an arithmetic type: kept only when it changes what arithmetic sees."""
        before = found.type
        if before.kind not in ("int", "float", "pointer") or (before.kind == "pointer" and type_.kind == "float"):
            return found
        same = before.kind == type_.kind and before.size == type_.size and before.signed == type_.signed
        if same and before.boolean == type_.boolean:
            return found
        if isinstance(found, IntLit) and type_.kind == "int":
            return replace(found, type=type_, value=fold.wrap(found.value, type_))
        return Cast(type_, self._places.span(i), found, False)

    def _cast(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        # The operand is the last child; expressions in the type's array bounds come before it.
        if not kids:
            return self._refuse(i, type_, span, kids, "unknown expression")
        operand = self.expr(kids[-1])
        if (sizes := read_first(type_, map(self.expr, kids[:-1]))) is None:
            return self._refuse(i, type_, span, kids, "an array size in a cast")
        if isinstance(operand, IntLit) and not sizes and type_.kind in ("int", "pointer") and operand.name != PROC_NULL:
            return IntLit(type_, span, fold.wrap(operand.value, type_))
        return after(sizes, Cast(type_, span, operand))

    def _unary(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        if len(kids) != 1:
            return self._refuse(i, type_, span, kids, "unknown expression")
        op = self._lib.clang_getCursorUnaryOperatorKind(self._tree.cursor[i])
        operand = self.expr(kids[0])
        if op in (1, 2, 3, 4):
            return IncDec(type_, span, "++" if op in (1, 3) else "--", op >= 3, operand)
        if op == 5:
            if isinstance(operand, FuncRef):
                return replace(operand, span=span)
            return AddrOf(type_, span, operand)
        if op == 6:
            return replace(operand.operand, span=span) if isinstance(operand, AddrOf) else deref(type_, span, operand)
        if op in (7, 8, 9, 10):
            sign = {7: "+", 8: "-", 9: "~", 10: "!"}[op]
            if isinstance(operand, IntLit) and type_.kind == "int" and operand.name != PROC_NULL:
                value = fold.unary(sign, operand.value, type_)
                if value is not None:
                    return IntLit(type_, span, value, PROC_NULL if sign == "-" and self._from_proc_null(i) else "")
            return Unary(type_, span, sign, operand)
        if op == 13:  # __extension__
            return operand
        if op in (11, 12) and operand.type.kind == "float":  # __real__, __imag__: made of it; as a target, it escapes
            return Cast(type_, span, operand)
        return self._refuse(i, type_, span, kids, "unknown expression")

    def _from_proc_null(self, i: int) -> bool:
        """A number with a sign that a macro's body makes: perhaps what MPI_PROC_NULL stands for there."""
        made = self._places.made_by[i]
        return made is not None and self._macros.leads_to(made, PROC_NULL)

    def _subscript(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        if len(kids) != 2:
            return self._refuse(i, type_, span, kids, "unknown expression")
        base, index = self.exprs(kids)
        if index.type.kind in ("pointer", "array"):
            base, index = index, base
        return Index(type_, span, base, index)

    def _binary(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        code = self._lib.clang_getCursorBinaryOperatorKind(self._tree.cursor[i])
        op = BINARY.get(code)
        if len(kids) != 2 or op is None:
            return self._refuse(i, type_, span, kids, "unknown operator")
        left, right = self.exprs(kids)
        if code == _ASSIGN:
            return Assign(type_, span, "", left, right)
        if code == _COMMA:
            return Comma(type_, span, left, right)
        known = isinstance(left, IntLit) and isinstance(right, IntLit) and PROC_NULL not in (left.name, right.name)
        if known and isinstance(left, IntLit) and isinstance(right, IntLit) and type_.kind == "int":
            value = fold.binary(op, left.value, right.value, type_)
            if value is not None:
                return IntLit(type_, span, value)
        if op in ("&&", "||"):
            return Logical(type_, span, op, left, right)
        return compared(op, left, right, span) or Binary(type_, span, op, left, right)

    def _compound_assign(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        op = BINARY.get(self._lib.clang_getCursorBinaryOperatorKind(self._tree.cursor[i]))
        if len(kids) != 2 or not op:
            return self._refuse(i, type_, span, kids, "unknown operator")
        target, value = self.exprs(kids)
        return Assign(type_, span, op, target, value)

    def _conditional(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        if len(kids) != 3:
            return Opaque(type_, span, "conditional without middle operand", self.exprs(kids))
        cond, then, other = self.exprs(kids)
        plain = all(isinstance(e, IntLit) and e.name != PROC_NULL for e in (cond, then, other))
        if plain and type_.kind == "int":
            chosen = then if isinstance(cond, IntLit) and cond.value else other
            assert isinstance(chosen, IntLit)
            return IntLit(type_, span, fold.wrap(chosen.value, type_))
        return Conditional(type_, span, cond, then, other)

    def _member(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        if len(kids) != 1:
            return self._refuse(i, type_, span, kids, "unknown expression")
        base = self.expr(kids[0])
        cursor = self._tree.cursor[i]
        name = text(self._lib.clang_getCursorSpelling(cursor))
        if base.type.kind in ("pointer", "array"):
            if isinstance(base, AddrOf):
                base = base.operand
            else:
                base = Deref(base.type.elem or UNKNOWN, base.span, base)
        record = self._types.records.get(base.type.record)
        field = record.field(name) if record is not None else None
        if record is None or field is None:
            return self._refuse(i, type_, span, kids, "unknown member")
        if field.bitfield:
            type_ = replace(type_, size=None)  # a store to it writes no whole bytes
        punned = is_punned(base, record, field, self._types.records)
        return Member(type_, span, base, name, field.offset, record.padding(field), record.last(field), punned)

    def _call(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        if not kids:
            return self._refuse(i, type_, span, kids, "unknown call")
        callee, args = self.expr(kids[0]), self.exprs(kids[1:])
        written = self._places.span(kids[0])
        while isinstance(callee, Deref) and callee.type.kind == "function":
            callee = callee.operand
        if isinstance(callee, FuncRef):
            self.taken[callee.name] -= 1
            done = atomic(callee.name, type_, span, args) if is_atomic(callee.name) else None
            if done is not None:
                return done
            made = self._places.made_by[kids[0]]
            if made is not None and made.object_like and not self._macros.renames(made, callee.name.rpartition(":")[2]):
                written = replace(written, editable=False)  # the macro does more than to call it by another name
            if callee.name.rpartition(":")[2] in _JUMPS:
                self.refusals.append(refusal(self._places, i, "setjmp or longjmp"))
        elif not (isinstance(callee, AddrOf) and isinstance(callee.operand, FuncRef)):
            written = replace(written, editable=False)  # what else the expression does would be lost
        return Call(type_, span, callee, args, written)

    def _sizeof(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        tree = self._tree
        value = evaluate(tree.cursor[i])
        operand_kid = next((k for k in kids if tree.raw_end[k] == tree.raw_end[i]), None)
        if operand_kid is not None:
            operand = self.expr(operand_kid)
            return SizeOf(type_, span, value, operand, operand.type)
        if value is None and any(is_computed(self.expr(k)) for k in kids):
            return self._refuse(i, type_, span, kids, "an array size in sizeof")
        return SizeOf(type_, span, value, None, self._named_type(i, value))

    def _named_type(self, i: int, value: int | None) -> Type:
        """The type that ``sizeof (type)`` names, as far as its text and references tell."""
        file = self._places.file[i]
        written = ""
        if file is not None and self._places.made_by[i] is None:
            whole = file.data[self._places.begin[i] : self._places.end[i]].decode("utf-8", "replace")
            written = whole[whole.find("(") + 1 : whole.rfind(")")].strip()
        reference = next((k for k in self._tree.kids[i] if self._tree.kind[k] == Kind.TYPE_REF), None)
        base: Type | None = None
        if reference is not None:
            base = self._types.of(self._tree.cursor[reference])
        words = " ".join(
            w for w in re.split(r"[\s*\[\]]+", re.sub(r"\[.*", "", written)) if w not in ("const", "volatile")
        )
        base = base or _BUILTIN.get(words.strip())
        if base is None:
            return Type("unknown", written or "?", value)
        for _ in range(written.count("*")):
            base = Type("pointer", base.spelling + " *", 8, signed=False, elem=base)
        if "[" in written and base.size and value is not None:
            base = Type("array", written, value, elem=base, count=value // base.size)
        return base if value is None or base.size == value else Type("unknown", written or "?", value)

    # --- initialisers -----------------------------------------------------------------------------

    def _compound_literal(self, i: int, type_: Type, span: Span, kids: list[int]) -> Expr:
        found = self.out[kids[-1]] if kids else None
        if isinstance(found, Braces):
            return CompoundLit(type_, span, flatten(found, type_, self._types.records))
        return self._refuse(i, type_, span, kids, "unknown expression")

    def _braces(self, i: int, type_: Type, span: Span, kids: list[int]) -> Braces:
        items = []
        for k in kids:
            found = self.out[k]
            items.append(found if found is not None else self.expr(k))
        return Braces(span, tuple(items))

    def _designated(self, i: int, members: list[int], kids: list[int]) -> Designated:
        tree = self._tree
        value = self.out[kids[-1]]
        path: list[str | int | tuple[int, int]] = []
        before: int | None = None
        for k in tree.kids[i]:
            if k == kids[-1]:
                break
            if tree.kind[k] == Kind.MEMBER_REF:
                name = text(self._lib.clang_getCursorSpelling(tree.cursor[k]))
                if name:
                    path.append(name)
                before = None
            elif k in kids:
                index = self.out[k]
                number = index.value if isinstance(index, IntLit) else 0
                if before is not None and self._dots_between(before, k):
                    first = path.pop()
                    path.append((first if isinstance(first, int) else 0, number))
                else:
                    path.append(number)
                before = k
        return Designated(tuple(path), value if isinstance(value, (Expr, Braces)) else self.expr(kids[-1]))

    def _dots_between(self, a: int, b: int) -> bool:
        """``[a ... b]`` rather than ``[a][b]``."""
        file = self._places.file[a]
        return file is not None and b"..." in file.data[self._places.end[a] : self._places.begin[b]]

    # --- for statements ---------------------------------------------------------------------------

    def refuse_statement_expression(self, i: int, found: tuple[Expr, ...]) -> None:
        """``({ … })``: opaque, with the expressions found in its statements."""
        self.refusals.append(
            refusal(self._places, i, "statement expression with more than scalars, values and branches", i)
        )
        opaque = Opaque(self._types.of(self._tree.cursor[i]), self._places.span(i), "statement expression", found)
        self.blocks[id(opaque)] = i
        self.out[i] = opaque


_BUILTIN = {
    "char": Type("int", "char", 1),
    "signed char": Type("int", "signed char", 1),
    "unsigned char": Type("int", "unsigned char", 1, signed=False),
    "short": Type("int", "short", 2),
    "unsigned short": Type("int", "unsigned short", 2, signed=False),
    "int": Type("int", "int", 4),
    "unsigned": Type("int", "unsigned int", 4, signed=False),
    "unsigned int": Type("int", "unsigned int", 4, signed=False),
    "long": Type("int", "long", 8),
    "long long": Type("int", "long long", 8),
    "long int": Type("int", "long", 8),
    "unsigned long": SIZE_T,
    "unsigned long long": Type("int", "unsigned long long", 8, signed=False),
    "float": Type("float", "float", 4),
    "double": Type("float", "double", 8),
    "long double": Type("float", "long double", 16),
    "void": Type("void", "void", 1),
}
