"""How many bytes OPI_Alloc asks for, as text: the declared size, or what malloc was given."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from opi_xform.graph.graph import Node
from opi_xform.graph.statements import Flow, Level
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_name
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ownership.allocation.allocating import asked
from opi_xform.ownership.allocation.allocations import Allocation
from opi_xform.ownership.model.buffers import Buffer, Program
from opi_xform.ownership.model.names import leaves, operands
from opi_xform.ownership.model.plan import Edit, InsertStatement
from opi_xform.ownership.spelling.mentions import Definitions, Texts, children, plain, walk
from opi_xform.ownership.spelling.scopes import PASTED, declared_by_macros, expanded, words, written_as_int
from opi_xform.ownership.spelling.scopes import hidden as hidden_names
from opi_xform.text.lex import on_one_line

_SIMPLE = re.compile(r"\w+(?:(?:\.|->)\w+|\[\w+\])*")  # needs no parentheses
_COMMENT = re.compile(r"(?<=\n)(?:(?://[^\n]*\n)+|/\*(?:(?!\*/).)*\*/[ \t]*\n)\Z", re.DOTALL)
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_EVERYWHERE = frozenset(  # opi.h brings size_t along
    {"sizeof", "char", "short", "int", "long", "signed", "unsigned", "float", "double", "const", "size_t"}
)
_PARTS = (ast.VarRef, ast.IntLit, ast.SizeOf, ast.Binary, ast.Cast, ast.MacroConst, ast.Unary)


def dimensions(
    program: Program, variable: ast.Variable, texts: Texts, file: str, hidden: Collection[str] = ()
) -> list[str] | None:
    """The array bounds of a variable, as its declaration spells them, for use in ``file``; None when it has none.

    Macros of another source file are not known there, those that change on the way say something else, and so may
    names that are ``hidden``: then the bounds are numbers.
    """
    order = sorted(variable.declarators, key=lambda d: (d.span.file != file, d.span.file.endswith(".c")))
    for declarator in order:
        if declarator.suffix is None or not declarator.suffix.editable:
            continue
        suffix = re.sub(r"/\*.*?\*/", " ", on_one_line(texts.of(declarator.suffix)), flags=re.DOTALL)
        if '"' in suffix or "'" in suffix:
            continue  # there may be brackets in them
        found = [d.strip() for d in _brackets(" ".join(suffix.split()))]
        if found and found[0] == "" and variable.type.count is not None and declarator.init_span is not None:
            found[0] = str(variable.type.count)
        foreign = declarator.span.file != file and declarator.span.file.endswith(".c")
        if foreign and any(re.search(r"[A-Za-z_]", d) for d in found):
            counts = _counted(variable.type)
            known = len(counts) == len(found) and all(
                _constants(program, file, d) == {int(c)} for d, c in zip(found, counts, strict=True) if c and c != d
            )
            found = found if known else counts
        if any(not words(d).isdisjoint(hidden) or words(d) & program.unsteady for d in found):
            found = _counted(variable.type)
        if found and all(found):
            return found
    return None


def _constants(program: Program, file: str, name: str) -> set[int]:
    """The values that a name stands for in the functions of a file."""
    out: set[int] = set()
    for lowered in program.graph.lowered.values():
        if lowered.function.span.file == file:
            for block in lowered.blocks:
                for instr in block:
                    for _, operand in operands(Node(0, 0, 0, instr)):
                        out.update(x.value for x in leaves(operand) if isinstance(x, ins.Const) and x.name == name)
    return out


def _counted(type_: Type | None) -> list[str]:
    out = []
    while type_ is not None and type_.is_array:
        out.append("" if type_.count is None else str(type_.count))
        type_ = type_.elem
    return out


def array_size(program: Program, buffer: Buffer, texts: Texts, file: str, hidden: Collection[str] = ()) -> str | None:
    """``sizeof(double[N])`` as the declaration spells it, for use in ``file``; None when it cannot be written.

    hidden: names that mean something else there than for the declaration.
    """
    variable = program.variables[buffer.carrier.variable]
    found = dimensions(program, variable, texts, file, hidden)
    if found is None or len(found) <= buffer.carrier.rows:
        return None
    element: Type | None = variable.type
    for _ in found:
        element = element.elem if element is not None else None
    found += _counted(element)  # of a type that is an array, by a name of its own
    while element is not None and element.is_array:
        element = element.elem
    if element is None or "(" in element.spelling or not all(found):
        return None
    spelling = re.sub(r"\b(const|volatile|restrict)\b\s*", "", element.spelling).strip()
    if not words(spelling).isdisjoint(hidden) or words(spelling) & program.unsteady:
        return None
    gap = " " if spelling.endswith("*") else ""
    return f"sizeof({spelling}{gap}{''.join(f'[{d}]' for d in found[buffer.carrier.rows :])})"


def _brackets(suffix: str) -> Iterator[str]:
    depth, start = 0, 0
    for i, c in enumerate(suffix):
        if c == "[":
            if depth == 0:
                start = i + 1
            depth += 1
        elif c == "]":
            depth -= 1
            if depth == 0:
                yield suffix[start:i]


# --- malloc --------------------------------------------------------------------------------------------------------


def requested(program: Program, flow: Flow, allocation: Allocation, texts: Texts) -> str | None:
    """The size that malloc or calloc was asked for, as text for the place of the allocation; None: not understood."""
    found = factors(program, flow, allocation, texts)
    if found is None:
        return None
    parts = [text for text, _ in found]
    if len(parts) > 1 and not any(e is not None and _wide(e) for _, e in found):
        first = found[0][1]
        bare = _SIMPLE.fullmatch(parts[0]) or (first is not None and _loose(first))
        parts[0] = f"(size_t){parts[0]}" if bare else f"(size_t)({parts[0]})"  # as calloc multiplies
    return " * ".join(parts) if parts and all(parts) else None


def factors(
    program: Program, flow: Flow, allocation: Allocation, texts: Texts
) -> list[tuple[str, ast.Expr | None]] | None:
    """The numbers whose product is the size, as text (with the argument that each is); None: not understood."""
    if allocation.wrapper >= 0 and not _means_the_same(program, flow, allocation, texts):
        return None
    call = allocation.call
    effect = program.effects.get(called_name(call))
    spec = effect.allocates if effect is not None else None
    if spec is None or spec.size is None or (spec.into is not None and allocation.wrapper < 0):
        return None
    replaced = {**dict(allocation.passed), **dict(allocation.arguments)}
    inner = sized_by(program, allocation)
    elsewhere = any(e.span.file != allocation.value.span.file for e in (call, *inner))
    if elsewhere and not _known_elsewhere(program, inner, replaced, texts):
        return None
    out: list[tuple[str, ast.Expr | None]] = []
    for factor in spec.size:
        if factor.kind == "const":
            if factor.value != 1:
                out.append((str(factor.value), None))
        elif factor.kind == "arg" and factor.value < len(call.args):
            argument = call.args[factor.value]
            others = [call.args[f.value] for f in spec.size if f.kind == "arg" and f.value < len(call.args)]
            whole = len(spec.size) == 1 or any(isinstance(o, ast.SizeOf) for o in others if o is not argument)
            given = replaced if allocation.wrapper >= 0 else None
            text = _text(program, argument, given, texts, whole)
            if text is None:
                return None
            loose = _loose(argument) or (_SIMPLE.fullmatch(text) is not None and not _stands_alone(argument, text))
            listed = isinstance(plain(argument), ast.Comma)  # `(log(n), n)`: the parentheses are the call's
            out.append((f"({text})" if listed or (len(spec.size) > 1 and loose) else text, argument))
        else:
            return None
    return out


def _means_the_same(program: Program, flow: Flow, allocation: Allocation, texts: Texts) -> bool:
    """The words of a wrapper's size mean at its call what they mean in the wrapper; its parameters are left out."""
    caller = flow.lowered(flow.frames_of[allocation.function][0])
    inner = {flow.lowered(allocation.wrapper).function.key: flow.lowered(allocation.wrapper)}
    for frame in allocation.kept:
        lowered = flow.lowered(frame)
        inner[lowered.function.key] = lowered
    params = {key for lowered in inner.values() for key in lowered.function.params}
    replaced = {key for key, _ in allocation.passed} | params
    found: set[str] = set()
    for argument in sized_by(program, allocation):
        named = {x.var for x in walk(argument) if isinstance(x, ast.VarRef)}
        names = {program.variables[key].name for key in named & replaced}
        for part in evaluated_parts(argument):
            if _of_variable_length(part):
                return False
            if isinstance(part, ast.SizeOf):  # it may be written by its type
                found |= words(part.operand_type.spelling)
            elif isinstance(part, ast.VarRef):
                found |= words(part.type.spelling)
        found |= words(texts.of(argument.span)) - names
    found = expanded(program, found)
    own = set(hidden_names(caller, allocation.stmt, texts))
    for lowered in inner.values():
        own |= set(hidden_names(lowered, 0, texts))
    for lowered in (caller, *inner.values()):
        own |= declared_by_macros(program, lowered.function.span)
    return PASTED not in found and found.isdisjoint(program.unsteady) and found.isdisjoint(own)


def _names_variables(part: ast.SizeOf) -> bool:
    return part.operand is not None and any(isinstance(x, ast.VarRef) for x in walk(part.operand))


def _known_elsewhere(
    program: Program, inner: Sequence[ast.Expr], replaced: Mapping[str, ast.Expr], texts: Texts
) -> bool:
    """What a wrapper asks for is written in words that mean the same in every file: its parameters, and C's own."""
    named = {x.var for e in inner for x in walk(e) if isinstance(x, ast.VarRef)}
    names = {program.variables[key].name for key in named & replaced.keys()}
    types = " ".join(program.variables[key].type.spelling for key in named & replaced.keys())
    written = ""
    for e in inner:
        sizes = [x for x in evaluated_parts(e) if isinstance(x, ast.SizeOf) and _names_variables(x)]
        types += "".join(f" {x.operand_type.spelling}" for x in sizes)  # as ``_text`` writes them
        at = e.span.begin
        for begin, end in sorted((x.span.begin, x.span.end) for x in sizes):
            written += texts.of(replace(e.span, begin=at, end=begin)) + " "
            at = end
        written += texts.of(replace(e.span, begin=at)) + " "
    return set(_WORD.findall(written)) <= names | _EVERYWHERE and set(_WORD.findall(types)) <= _EVERYWHERE


def _text(
    program: Program, e: ast.Expr, replaced: Mapping[str, ast.Expr] | None, texts: Texts, whole_size: bool
) -> str | None:
    """The text of an expression; in the body of a wrapper its parameters give way to the arguments.

    whole_size: it is all of a number of 8 bytes, to which it is converted anyway.
    """
    if not e.span.editable:
        return None
    whole = texts.of(e.span)
    if replaced is None:
        return on_one_line(whole)
    changes: list[tuple[int, int, str]] = []
    for part in evaluated_parts(e):
        if isinstance(part, ast.SizeOf):
            if _names_variables(part):
                if not part.span.editable or "(" in part.operand_type.spelling:
                    return None
                changes.append((part.span.begin, part.span.end, f"sizeof({part.operand_type.spelling})"))
        elif isinstance(part, ast.VarRef):
            argument = replaced.get(part.var)
            if argument is None or not part.span.editable or not argument.span.editable:
                return None
            if part.type.kind != "int" or (part.type.size or 0) < 4:
                return None  # passing it loses bits
            whole_part = whole_size and part is plain(e) and (part.type.size or 0) >= 8
            of_wrapper = any(isinstance(x, ast.VarRef) and x.var in replaced for x in evaluated_parts(argument))
            inner = _text(program, argument, replaced, texts, whole_part) if of_wrapper else texts.of(argument.span)
            if inner is None:
                return None
            text = on_one_line(inner)
            if not _stands_alone(argument, text):
                text = f"({text})"
            alike = whole_part and _as_written(argument).type.kind == "int"
            if not alike and _converts(program, part.type, argument, text):
                text = f"({part.type.spelling}){text}"  # passing it converts it, and the rest reckons in that type
            changes.append((part.span.begin, part.span.end, text))
    base = e.span.begin
    data = whole.encode("utf-8", "surrogateescape")
    for begin, end, text in sorted(changes, reverse=True):
        data = data[: begin - base] + text.encode("utf-8", "surrogateescape") + data[end - base :]
    return on_one_line(data.decode("utf-8", "surrogateescape"))


def _stands_alone(e: ast.Expr, text: str) -> bool:
    """It needs no parentheses, whatever it stands beside: a number, or the name of a variable; a macro may be a sum."""
    return re.fullmatch(r"\d\w*", text) is not None or (
        _SIMPLE.fullmatch(text) is not None and isinstance(plain(e), (ast.VarRef, ast.Member, ast.Index))
    )


def _as_written(e: ast.Expr) -> ast.Expr:
    while isinstance(e, ast.Cast) and not e.explicit:
        e = e.operand
    return e


def _converts(program: Program, type_: Type, e: ast.Expr, text: str) -> bool:
    """Passing an expression for a number of a type makes another type of it than it is written in."""
    e = _as_written(e)
    if isinstance(e, ast.IntLit):  # its type is the one that it has been converted to
        return (type_.size, type_.signed) != (4, True) or not written_as_int(program, text)
    return (type_.kind, type_.size, type_.signed) != (e.type.kind, e.type.size, e.type.signed)


def _wide(e: ast.Expr) -> bool:
    """It is written as a number of 8 bytes: what is multiplied by it is, too."""
    e = _as_written(e)
    return e.type.kind == "int" and (e.type.size or 0) >= 8 and not isinstance(e, ast.IntLit)


def _loose(e: ast.Expr) -> bool:
    e = plain(e)
    return isinstance(e, ast.Conditional) or (isinstance(e, ast.Binary) and e.op != "*")


def constant_size(allocation: Allocation) -> bool:
    """What is asked for is made of constants, so that it can be evaluated anywhere."""
    parts = (e for a in written(allocation) for e in evaluated_parts(a))
    return not any(isinstance(e, (ast.VarRef, ast.Call)) or _of_variable_length(e) for e in parts)


def _of_variable_length(e: ast.Expr) -> bool:
    """The size of a type that has variables in it."""
    return isinstance(e, ast.SizeOf) and e.value is None


def same_everywhere(
    program: Program, flow: Flow, allocation: Allocation, defs: Definitions, level: Level, texts: Texts
) -> bool:
    """The size text means the same at a statement as at the allocation: its variables are set once, and are visible."""
    reads = False
    meant = {x.var for e in written(allocation) for x in walk(e) if isinstance(x, ast.VarRef)}
    text = set[str]().union(*(words(texts.of(e.span)) for e in (*sized_by(program, allocation), *written(allocation))))
    text = expanded(program, text)
    around = hidden_names(flow.lowered(level[0]), level[1], texts, meant, allocation.value.span)
    function = flow.lowered(level[0]).function
    if PASTED in text or text & program.unsteady or not text.isdisjoint(around):
        return False
    if not text.isdisjoint(declared_by_macros(program, function.span)):
        return False
    for argument in written(allocation):
        for e in evaluated_parts(argument):
            if not isinstance(e, _PARTS) or _of_variable_length(e):
                return False
            if isinstance(e, ast.SizeOf) and e.operand is not None:
                named = [v.var for v in walk(e.operand) if isinstance(v, ast.VarRef)]
                if not all(_visible(flow, program.variables[key], level) for key in named):
                    return False
            if isinstance(e, ast.VarRef):
                reads = True
                if not _steady(program, flow, allocation, defs, level, e.var):
                    return False
    if reads and not _of_this_call(program, flow, allocation, level):
        return False
    # the text may hold macros and types of its file
    return flow.info(level).stmt.span.file == allocation.value.span.file


def _of_this_call(program: Program, flow: Flow, allocation: Allocation, level: Level) -> bool:
    """The same call of the function has allocated before the statement: the memory is not that of an earlier one, whose
    variables had other values.
    """
    count = len(program.graph.nodes)
    mine = [n for n in allocation.stores if program.graph.nodes[n].frame == level[0]]
    return all(
        v < count and any(program.dominates(n, v) for n in mine)
        for _, v in flow.boundary(level, flow.succs, flow.preds)[0]
    )


def written(allocation: Allocation) -> tuple[ast.Expr, ...]:
    """What the size is made of, as it stands where the memory is allocated."""
    if allocation.wrapper < 0:
        return allocation.call.args
    return tuple(e for _, e in allocation.arguments)


def sized_by(program: Program, allocation: Allocation) -> tuple[ast.Expr, ...]:
    """What the size is made of in the functions that are called for it."""
    return (*asked(program, allocation.call), *(e for _, e in allocation.passed))


def _steady(program: Program, flow: Flow, allocation: Allocation, defs: Definitions, level: Level, key: str) -> bool:
    """A local variable of the allocation's function, set once per call."""
    variable = program.variables[key]
    function = flow.lowered(level[0]).function.key
    if variable.is_global or variable.function != function or allocation.function != function:
        return False
    nodes = [n for n in defs.nodes.get(key, ()) if program.graph.nodes[n].frame == level[0]]
    setting = [n for n in nodes if not isinstance(program.graph.nodes[n].action, ins.Birth)]
    return key not in defs.addressed and len(setting) <= 1 and _visible(flow, variable, level)


def evaluated_parts(root: ast.Expr) -> Iterator[ast.Expr]:
    """The parts of an expression that are evaluated, and the sizeofs."""
    stack = [root]
    while stack:
        item = stack.pop()
        yield item
        if not isinstance(item, ast.SizeOf):
            stack.extend(children(item))


def _visible(flow: Flow, variable: ast.Variable, level: Level) -> bool:
    lowered = flow.lowered(level[0])
    if variable.function and variable.function != lowered.function.key:
        return False
    if variable.kind in ("param", "extern", "static"):
        return True
    for i, info in enumerate(lowered.stmts):
        if isinstance(info.stmt, ast.DeclStmt) and variable.key in info.stmt.variables:
            at = level[1]
            while at >= 0 and at != info.parent:
                at = lowered.stmts[at].parent
            return at == info.parent and level[1] > i
    return False


def plain_name(program: Program, variable: ast.Variable) -> str:
    """A variable's name; for a member of a struct one that is made of its parts, and of its number among equals."""
    words = "_".join(re.findall(r"\w+", variable.name))
    if variable.key not in program.members:
        return words
    same = [k for k, m in program.members.items() if "_".join(re.findall(r"\w+", m.name)) == words]
    return words if len(same) == 1 else f"{words}{same.index(variable.key) + 1}"


def size_name(program: Program, variable: ast.Variable, away: bool) -> str:
    """What keeps a variable's size.  away: for the whole program, where others of its name may keep theirs beside
    them."""
    word = plain_name(program, variable)
    name = f"{word}_bytes"
    if not away:
        return name
    addressed = {key for member in program.members.values() for key in member.named}
    sized = (v for v in program.variables.values() if (v.type.is_pointer or v.type.vla) and v.kind != "param")
    same = {v.key for v in sized if v.name in (variable.name, word)} - addressed - program.members.keys()
    others = sorted(same - {variable.key})
    return f"{name}_{1 + sum(key < variable.key for key in others)}" if others else name


def size_of_member(program: Program, name: str, used: Sequence[tuple[str, str]], texts: Texts) -> list[Edit]:
    """A variable of the whole program, for the size of what a member of a struct points to.

    used: (file, function) where it is named.  It is declared before the first of these in each file.
    """
    first: dict[str, ast.Function] = {}
    for file, key in used:
        function = program.functions[key]
        if file not in first or function.span.begin < first[file].span.begin:
            first[file] = function
    out: list[Edit] = []
    for i, (_, function) in enumerate(sorted(first.items())):
        storage = "static " if len(first) == 1 else "extern " if i else ""
        out.append(InsertStatement(_commented(function.span, texts), "before", f"{storage}size_t {name};\n\n"))
    return out


def _commented(span: Span, texts: Texts) -> Span:
    """A function with the comment right above it."""
    ahead = texts.of(Span(span.file, 0, span.begin, 1, 1))
    found = _COMMENT.search(ahead)
    if found is None:
        return span
    begin = len(ahead[: found.start()].encode("utf-8", "surrogateescape"))
    return replace(span, begin=begin, line=span.line - found.group().count("\n"), column=1)
