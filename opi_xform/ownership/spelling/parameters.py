"""Buffers that reach their message through parameters of the program's own functions.

``static void put(double *b, int n) { MPI_Send(b, n, …); }`` names a buffer by a copy of the carrier, which a message
could not change.  Where all callers pass carriers that convert, the parameter becomes the
carrier's address: ``double **b``, ``(*b)`` wherever it is mentioned, and ``put(&sbuf, n)``.  It is called *lifted*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.ast import Units
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ir.walk import children, expressions, uncast
from opi_xform.ownership.model.buffers import Buffer, Carrier, Place, Program, Refusal
from opi_xform.ownership.model.lvalues import address_of, settable
from opi_xform.ownership.model.plan import ReplaceText, StopOthers
from opi_xform.ownership.spelling.configurations import naming
from opi_xform.ownership.spelling.mentioned import Index, mentions_of
from opi_xform.ownership.spelling.mentions import Texts, plain
from opi_xform.ownership.spelling.scopes import means_variable
from opi_xform.record import dataclass

_TOKEN = re.compile(rb"\s+|[A-Za-z_]\w*|\*|\[[^\[\]]*\]|.", re.DOTALL)
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n\\]*(?=\n)", re.DOTALL)
_SPACE = re.compile(rb"(?:\s+|" + _COMMENT.pattern + rb")*", re.DOTALL)
_NUMBER = re.compile(rb"\b(?:char|short|int|long|unsigned|float|double)\Z")
_QUALIFIERS = frozenset({b"const", b"restrict", b"__restrict", b"__restrict__"})


@dataclass(frozen=True, slots=True)
class Argument:
    """What a call passes: ``variable`` itself, or (``indexed``) one element of it; written as ``lvalue``.

    first: the element is an array, and the first one, so it begins where all of them do.
    """

    variable: str
    indexed: bool
    lvalue: ast.Expr
    first: bool = False


def argument(e: ast.Expr) -> Argument | None:
    """An argument that names the start of a variable's buffer: ``b``, ``&b[0]``, ``b + 0``, ``b[d]``, ``&b[d][0]``."""
    e = plain(e)
    if isinstance(e, ast.VarRef):
        return Argument(e.var, False, e)
    outer = e
    first = True
    while isinstance(outer, ast.Index) and first:
        first = outer.type.is_array and isinstance(outer.index, ast.IntLit) and outer.index.value == 0
        base = uncast(outer.base)
        if isinstance(base, ast.VarRef) and (outer is e or first):
            return Argument(base.var, True, e, first)
        outer = base
    return None


def _whole_array(e: ast.Expr) -> Argument | None:
    """``&b`` of an array is where its first element is; of a pointer it is the address of another variable."""
    match plain(e):
        case ast.AddrOf(operand=ast.VarRef(var=variable, type=type_) as named) if type_.is_array:
            return Argument(variable, False, named)
        case _:
            return None


class Called:
    """Whose the parameters are, the calls of each function, and where it is named in another way."""

    def __init__(self, program: Program) -> None:
        self.functions = program.functions
        self.owner = {key: (f, i) for f in program.functions.values() for i, key in enumerate(f.params)}
        self.calls: dict[str, list[tuple[str, ast.Call]]] = {}
        self.taken: dict[str, Span] = {}
        for f in program.functions.values():
            roots = [*expressions(f.body), *(v.init for v in f.variables.values() if v.init is not None)]
            for root in roots:
                self.walk(root, f.key)
        for v in program.variables.values():
            if v.is_global and v.init is not None:
                self.walk(v.init, "")

    def walk(self, root: ast.Expr, function: str) -> None:
        stack: list[ast.Expr] = [root]
        while stack:
            e = stack.pop()
            if isinstance(e, ast.Call) and isinstance(e.callee, ast.FuncRef):
                self.calls.setdefault(e.callee.name, []).append((function, e))
                stack.extend(e.args)
                continue
            if isinstance(e, ast.FuncRef):
                self.taken.setdefault(e.name, e.span)
            stack.extend(children(e))


class Parameters:
    """The functions of a program as their callers and their text show them."""

    def __init__(self, program: Program, index: Index, called: Called) -> None:
        self.program = program
        self.index = index
        self.texts = index.texts
        self.owner, self.calls, self.taken = called.owner, called.calls, called.taken
        self.refused: dict[str, Refusal | None] = {}
        self.stopped: dict[str, tuple[StopOthers, ...] | None] = {}
        self.never = sorted({span for unit in index.units for span in unit.never}, key=lambda s: (s.file, s.begin))
        self.files = sorted({path for unit in index.units for path in unit.files})
        self.spelt = _spelt(program)

    def argument(self, e: ast.Expr) -> Argument | None:
        """What is passed; memory that counts as a variable is one: a member, a pointer whose address is passed on."""
        return self.member(e) or argument(e) or _whole_array(e)

    def member(self, e: ast.Expr) -> Argument | None:
        e = plain(e)
        found = self.spelt.get((e.span.file, e.span.begin, e.span.end))
        if found is None or settable(e, "", self.program.members[found].cast) is None:
            return None
        return Argument(found, self.program.members[found].rows, e)

    # --- which parameters can be lifted --------------------------------------------------------------------------

    def refusal(self, key: str) -> Refusal | None:
        """Why a parameter cannot become the address of its caller's pointer; None when it can."""
        if key not in self.refused:
            self.refused[key] = self.inspect(key)
        return self.refused[key]

    def inspect(self, key: str) -> Refusal | None:
        variable = self.program.variables[key]
        function, i = self.owner[key]

        def no(why: str, span: Span) -> Refusal:
            message = f"`{variable.name}` is a parameter, a copy of the caller's pointer, and {why}"
            return Refusal(Reason.CARRIER, message, ((span, "here"),))

        if function.refused or self.program.alone or (not function.static and not self.program.complete):
            return no("other files may call its function", variable.span)
        if function.key in self.taken:
            return no("its function is called through a pointer", self.taken[function.key])
        type_ = variable.type
        elem = type_.elem
        while elem is not None and elem.is_array:
            elem = elem.elem
        if not type_.is_pointer or elem is None or elem.kind not in ("int", "float", "record", "void"):
            return no("is of a type that cannot be changed", variable.span)
        for mention in self.index.by_key.get(key, ()):
            if not mention.ref.span.editable:
                return no("is named by a macro", mention.ref.span)
            if isinstance(mention.parent, (ast.AddrOf, ast.IncDec)) or (
                isinstance(mention.parent, ast.Assign) and mention.parent.target is mention.ref
            ):
                taken = isinstance(mention.parent, ast.AddrOf)
                return no("its own address is taken" if taken else "is changed", mention.ref.span)
        # text that is left out has an #error (``naming``), or nobody compiles it
        if not means_variable(self.program, function, variable, Texts(), self.program.left_out):
            return no("is named in the length of an array, or where another thing has its name", variable.span)
        for _, call in self.calls.get(function.key, ()):
            told = self.argument(call.args[i]) if i < len(call.args) else None
            if told is None or not call.args[i].span.editable:
                return no("a call passes something else than a buffer's name", call.span)
            passed = self.passed(told)
            if passed is None or type_.elem is None or not same_pointed(passed, type_.elem, True):
                return no("a call passes a pointer of another type", call.span)
        if not self.declarations(function, i):
            return no("a declaration of its function cannot be rewritten", function.span)
        return None

    def passed(self, told: Argument) -> Type | None:
        """The type of the elements that an argument points to."""
        out = self.program.variables[told.variable].type.elem
        return out.elem if told.indexed and out is not None else out

    def declarations(
        self, function: ast.Function, i: int, rewritten: Callable[[bytes], bytes | None] | None = None
    ) -> list[ReplaceText] | None:
        """Parameter ``i`` rewritten in the definition and in every prototype; None when one is not understood."""
        rewritten = rewritten or _lifted
        called = {(c.callee_span.file, c.callee_span.begin) for _, c in self.calls.get(function.key, ())}
        files = self.files if not function.static else self.of_unit(function)
        stopped = [*self.never, *(stop.span for stop in self.left_out(function) or ())]
        out: list[ReplaceText] = []
        defined = False
        for file in files:
            data = self.texts.read(file)
            for at, unevaluated, _ in self.texts.occurrences(file, function.name):
                if (file, at) in called or any(s.file == file and s.begin <= at < s.end for s in stopped):
                    continue
                line = data.rfind(b"\n", 0, at) + 1
                if unevaluated or data[line:at].lstrip().startswith(b"#"):
                    return None
                found = list_item(data, at + len(function.name.encode()), i)
                if function.static and file != function.span.file:
                    if found is None and _other(data, at, at + len(function.name.encode())):
                        continue
                    if file in self.program.shared:
                        return None  # of another function of that name, too
                new = None if found is None else rewritten(data[found[0] : found[1]])
                if found is None or new is None:
                    return None
                inside = function.span.file == file and function.span.begin <= at < function.span.end
                defined = defined or inside
                begin, end = found
                row = data.count(b"\n", 0, begin) + 1
                span = Span(file, begin, end, row, begin - data.rfind(b"\n", 0, begin), editable=True)
                out.append(ReplaceText(span, new.decode("utf-8", "surrogateescape")))
        return out if defined else None

    def of_unit(self, function: ast.Function) -> list[str]:
        """The files in which a static function may be declared: its own first, then those that are read with it."""
        own = function.span.file
        units = [unit for unit in self.index.units if own == unit.path or own in unit.files]
        return [own, *sorted({file for unit in units for file in unit.files} - {own})]

    def left_out(self, function: ast.Function) -> tuple[StopOthers, ...] | None:
        """Text that the preprocessor leaves out and that names a function: it is not rewritten."""
        if function.key not in self.stopped:
            self.stopped[function.key] = naming(self.index, function.name)
        return self.stopped[function.key]

    def others(self, lifted: Collection[str]) -> tuple[StopOthers, ...]:
        """What keeps other configurations from calling functions as they were."""
        return tuple(stop for key in sorted(lifted) for stop in self.left_out(self.owner[key][0]) or ())

    # --- agreement of the callers --------------------------------------------------------------------------------

    def strangers(self, key: str, carriers: Mapping[str, Carrier], lifted: Collection[str]) -> Iterator[ast.Call]:
        """Calls that pass something else than a carrier in ``carriers``, or a parameter that is lifted too."""
        function, i = self.owner[key]
        for _, call in self.calls.get(function.key, ()):
            told = self.argument(call.args[i])
            assert told is not None
            carrier = carriers.get(told.variable)
            if carrier is not None and bool(carrier.rows) == told.indexed:
                continue
            if told.variable in lifted and not told.indexed:
                continue
            if self.whole(key, told) and (told.variable in lifted or (carrier is not None and not carrier.rows)):
                continue
            yield call

    def whole(self, key: str, told: Argument) -> bool:
        """``b[0]``, of an array of arrays, is as good as ``b`` for a parameter that is a ``void *``."""
        elem = self.program.variables[key].type.elem
        return told.first and elem is not None and elem.kind == "void"

    def exposed(self, key: str, lifted: Collection[str], converted: Collection[Place]) -> Span | None:
        """A mention of a ``void *`` that would have to be followed, which C does not do; None when there is none."""
        elem = self.program.variables[key].type.elem
        if elem is None or elem.kind != "void":
            return None
        covered = self.covered(lifted, converted)
        for mention in self.index.by_key.get(key, ()):
            span = mention.ref.span
            if not any(s.file == span.file and s.begin <= span.begin < s.end for s in covered):
                return span
        return None

    # --- edits ---------------------------------------------------------------------------------------------------

    def edits(self, lifted: Collection[str], converted: Collection[Place]) -> tuple[ReplaceText, ...]:
        """The parameters' declarations, mentions and arguments."""
        out: list[ReplaceText] = []
        for key in sorted(lifted):
            function, i = self.owner[key]
            found = self.declarations(function, i)
            assert found is not None
            out.extend(found)
            covered = self.covered(lifted, converted)
            name = self.program.variables[key].name
            for mention in self.index.by_key.get(key, ()):
                span = mention.ref.span
                if not any(s.file == span.file and s.begin <= span.begin < s.end for s in covered):
                    out.append(ReplaceText(span, f"(*{name})"))
            for _, call in self.calls.get(function.key, ()):
                told = self.argument(call.args[i])
                assert told is not None
                out.append(ReplaceText(call.args[i].span, self.address(told, lifted, self.whole(key, told))))
        return tuple(dict.fromkeys(edit for edit in out if self.changes(edit)))

    def changes(self, edit: ReplaceText) -> bool:
        data = self.texts.read(edit.span.file)[edit.span.begin : edit.span.end]
        return data != edit.text.encode("utf-8", "surrogateescape")

    def covered(self, lifted: Collection[str], converted: Collection[Place]) -> list[Span]:
        """Arguments that are rewritten as a whole: of converted calls, and of calls to functions that are lifted."""
        out: list[Span] = []
        places = {(file, begin, i) for file, begin, _, i in converted}
        positions = {(self.owner[key][0].key, self.owner[key][1]) for key in lifted}
        for callee, calls in self.calls.items():
            for _, call in calls:
                for i, e in enumerate(call.args):
                    if (call.span.file, call.span.begin, i) in places or (callee, i) in positions:
                        out.append(e.span)
        return out

    def address(self, told: Argument, lifted: Collection[str], whole: bool) -> str:
        """What is passed for an argument.  whole: the first row begins where the buffer does, or is a pointer in the
        first place of a table.
        """
        name = self.program.variables[told.variable].name
        if told.variable in lifted:
            return name
        if (not told.indexed or whole) and told.variable not in self.program.members:
            return f"&{name}"
        span = told.lvalue.span
        text = self.texts.read(span.file)[span.begin : span.end].decode("utf-8", "surrogateescape")
        member = self.program.members.get(told.variable)
        return address_of(settable(told.lvalue, text, member.cast if member is not None else "") or text)


def _spelt(program: Program) -> dict[tuple[str, int, int], str]:
    """By place: the member of a struct that counts as a variable."""
    out: dict[tuple[str, int, int], str] = {}
    for key, member in program.members.items():
        for written in member.spans:
            out.setdefault(written, key)
    return out


def parameters_of(program: Program, units: Sequence[ast.Unit]) -> Parameters:
    """Those of a program, which all its buffers share."""
    found = program.findings.get(Parameters)
    if not isinstance(found, Parameters):
        found = program.findings[Parameters] = Parameters(program, mentions_of(units), _called(program, units))
    return found


def _called(program: Program, units: Sequence[ast.Unit]) -> Called:
    """How its functions are called; programs that are made of the same units share it, each of some functions."""
    if not isinstance(units, Units):
        return Called(program)
    found = units.findings.get(Called)
    if not isinstance(found, Called) or found.functions is not program.functions:
        found = units.findings[Called] = Called(program)
    return found


def reassigned(program: Program, buffer: Buffer, lifted: Collection[str]) -> int | None:
    """The first node at which the carrier itself gets another value while a lifted parameter stands for it."""
    if buffer.carrier.kind != "pointer":
        return None
    graph = program.graph
    inside: set[int] = set()
    for frame in graph.frames:  # a frame comes after the one that called it
        function = program.functions.get(frame.function)
        if frame.parent in inside or (function is not None and any(key in lifted for key in function.params)):
            inside.add(frame.number)
    named = [o for o in program.values.objects.table if o.variable == buffer.carrier.variable]
    carriers = {o.number for o in named if o.kind == "variable"} - set(buffer.objects)  # not what it points to
    member = program.members.get(buffer.carrier.variable)
    swapped = {n for swap in buffer.swaps for n in swap.nodes}
    for node in graph.nodes:
        if node.frame not in inside:
            continue
        if node.number in swapped or (member is not None and node.number in member.ends):
            return node.number
        action = node.action
        target = action.target if isinstance(action, ins.Define) else None
        if isinstance(target, ins.Var) and target.key == buffer.carrier.variable:
            return node.number
        if program.values.accesses.touches(node.number, carriers, "W"):
            return node.number
    return None


def same_pointed(a: Type, b: Type, varying: bool = False) -> bool:
    """Pointers to the two are the same type, but for ``const``; what is passed as ``void *`` may be anything.

    varying: lengths that are not constant may be the same.
    """
    if b.kind == "void":
        return True
    if a.is_array and b.is_array and a.elem is not None and b.elem is not None:
        if a.elem.kind == "void" or not same_pointed(a.elem, b.elem, varying):
            return False
        if varying and any(t.vla and t.count is None for t in (a, b)):
            return True
        return a.count is not None and a.count == b.count
    if (a.kind, a.size, a.signed, a.record) != (b.kind, b.size, b.signed, b.record) or a.volatile or a.atomic:
        return False
    words = {t.spelling.removeprefix("const ") for t in (a, b)}
    return a.kind != "int" or len(words) == 1


def list_item(data: bytes, behind: int, wanted: int) -> tuple[int, int] | None:
    """The bytes of one parameter or argument in the list that begins after a function's name."""
    space = _SPACE.match(data, behind)
    at = behind if space is None else space.end()
    if data[at : at + 1] != b"(":
        return None
    depth, index, begin = 0, 0, at + 1
    commented = at
    for i in range(at, len(data)):
        if i < commented:
            continue
        c = data[i : i + 1]
        if c == b"/" and (comment := _COMMENT.match(data, i)) is not None:
            commented = comment.end()
            continue
        if c in (b'"', b"'", b"#", b"{", b";") or data[i : i + 2] in (b"/*", b"//"):
            return None
        if c in (b"(", b"["):
            depth += 1
        elif c in (b")", b"]"):
            depth -= 1
        if (depth == 0) or (depth == 1 and c == b","):
            if index == wanted:
                return begin, i
            if depth == 0:
                return None
            index, begin = index + 1, i + 1
    return None


def bare(item: bytes) -> tuple[bytes, bytes, bytes]:
    """A parameter between the space and the comments around it."""
    lead = _SPACE.match(item)
    begin = 0 if lead is None else lead.end()
    end = begin
    for token in re.finditer(_COMMENT.pattern + rb"|\s+|.", item[begin:], re.DOTALL):
        if not token.group().isspace() and not token.group().startswith((b"/*", b"//")):
            end = begin + token.end()
    return item[:begin], item[begin:end], item[end:]


def _other(data: bytes, begin: int, end: int) -> bool:
    """A name without parameters after it is a member, a number (``int put;``), or a pointer to functions
    (``(*put)(…)``).  Any other may be that of a function, which a macro or a type declares.
    """
    before, behind = data[:begin].rstrip(), data[end:].lstrip()
    pointer = before.endswith(b"*") and before[:-1].rstrip().endswith(b"(") and behind.startswith(b")")
    number = _NUMBER.search(before) is not None and behind[:1] in (b",", b";", b"=", b"[")
    return pointer or number or before.endswith((b".", b"->"))


def _lifted(text: bytes) -> bytes | None:
    """``double *b`` as ``double **b``, ``const double b[]`` too, ``double b[][M]`` and ``double (*b)[M]`` as
    ``double (**b)[M]``; ``void *b`` stays; None for anything else.
    """
    lead, text, tail = bare(text)
    tokens = [t for t in _TOKEN.findall(text) if not t.isspace()]
    words: list[bytes] = []
    while tokens and _word(tokens[0]):
        words.append(tokens.pop(0))
    name = b""
    around = tokens[:1] == [b"("]
    if around:
        tokens.pop(0)
    if tokens[:1] == [b"*"]:
        tokens.pop(0)
        while tokens and tokens[0] in _QUALIFIERS:
            tokens.pop(0)
        if tokens and _word(tokens[0]):
            name = tokens.pop(0)
        if around and tokens[:1] != [b")"]:
            return None
        tokens = tokens[1:] if around else tokens
        if not around and tokens:
            return None  # an array of pointers
    elif not around and len(words) > 1 and tokens and tokens[0][:1] == b"[":
        name = words.pop()
        tokens.pop(0)
    else:
        return None
    base = [w for w in words if w not in _QUALIFIERS]
    if not all(t[:1] == b"[" for t in tokens) or not base or b"register" in base or b"volatile" in base:
        return None
    stars = b"*" if base == [b"void"] else b"**"
    declarator = b"(" + stars + name + b")" + b"".join(tokens) if tokens else stars + name
    return lead + b" ".join(base) + b" " + declarator + tail


def _word(token: bytes) -> bool:
    return token[:1].isalpha() or token[:1] == b"_"
