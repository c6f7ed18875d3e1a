"""Collects every declaration and use of variables of static storage: one file -> ``Statics``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from opi_xform.file_names import standing
from opi_xform.frontend import flags as flags_module
from opi_xform.frontend.clang.libclang import MACRO_BIT, CXCursor, Kind, TranslationUnit, text
from opi_xform.frontend.clang.names import STORAGE, Target
from opi_xform.frontend.clang.source import File, after_semicolon, closing, skip_space, tokens
from opi_xform.frontend.clang.tree import Tree
from opi_xform.frontend.errors import FrontendError
from opi_xform.frontend.flags import Headers
from opi_xform.frontend.headers.beginning import Beginning
from opi_xform.frontend.lower.directives import WORD, lines
from opi_xform.frontend.macros.expansions import Macros
from opi_xform.frontend.macros.quoted import Quoted
from opi_xform.frontend.macros.skipped import skipped_ranges
from opi_xform.frontend.parse import clean_unit, on_big_stack
from opi_xform.frontend.static_uses import Contexts, below, holder, is_callee
from opi_xform.frontend.units import UnitBuilder
from opi_xform.ir.ast import Declarator
from opi_xform.ir.link_guard import in_guard
from opi_xform.ir.span import Span
from opi_xform.ir.statics import CallSite, Declared, Place, Routine, Static, Statics, Use
from opi_xform.ir.types import Type

_PRAGMA = re.compile(rb"^[ \t]*#[ \t]*pragma\b((?:\\\r?\n|[^\n])*)|_Pragma[ \t]*\(([^\n]*)", re.MULTILINE)
_CLAUSES = re.compile(rb"\s*#[ \t]*pragma[ \t]+omp[ \t]+(?!threadprivate|declare)")
_STRINGS = re.compile(rb"\b(?:__asm__|__asm|asm|__attribute__|__attribute)\b")
_STRING = re.compile(rb'"((?:[^"\\\n]|\\.)*)"')
_WORD = re.compile(rb"[A-Za-z_]\w*")
_CONSTRUCTOR = re.compile(rb"__attribute(?:__)?\s*\(\([^;{]*\b(?:__)?(?:constructor|destructor)(?:__)?\b")
_EXPANSION, _DEFINITION, _UNIT = int(Kind.MACRO_EXPANSION), int(Kind.MACRO_DEFINITION), int(Kind.TRANSLATION_UNIT)
_STATIC = ("extern", "static", "local-static")
_STATEMENTS = frozenset(("{", "(", "case", "default", "do", "for", "goto", "if", "return", "switch", "while"))
_NAMED = {
    Kind.STRUCT_DECL, Kind.UNION_DECL, Kind.ENUM_DECL, Kind.FIELD_DECL, Kind.ENUM_CONSTANT_DECL, Kind.FUNCTION_DECL,
    Kind.VAR_DECL, Kind.PARM_DECL, Kind.TYPEDEF_DECL, Kind.TYPE_REF, Kind.MEMBER_REF, Kind.LABEL_REF,
    Kind.DECL_REF_EXPR, Kind.MEMBER_REF_EXPR, Kind.LABEL_STMT, Kind.ADDR_LABEL_EXPR,
}  # fmt: skip


def collect(path: str, flags: Sequence[str] = (), beginning: Beginning | None = None) -> Statics:
    """The statics of one C file; ``beginning``: what is precompiled of it.  Raises FrontendError as ``parse_unit``."""
    found = flags_module.headers(flags)
    real = standing(path)

    def work(begun: Beginning | None) -> Statics:
        more = ["-include-pch", begun.precompiled.file] if begun is not None else []
        with clean_unit(path, real, list(flags), found, more, 1) as (unit, used):
            return _Collector(unit, real, used, found, begun).collect()

    if beginning is not None:
        with suppress(FrontendError):  # an error of the file, or because of what was precompiled: see which
            return on_big_stack(lambda: work(beginning))
    return on_big_stack(lambda: work(None))


class _Collector(UnitBuilder):
    """One use: ``collect()``."""

    def __init__(
        self, unit: TranslationUnit, path: str, flags: list[str], headers: Headers, beginning: Beginning | None
    ) -> None:
        super().__init__(unit, path, flags, headers, beginning)
        self._statics: dict[str, tuple[Target, list[Declared], bool]] = {}
        self._holds: dict[str, list[str]] = {}
        self._literals: set[str] = set()
        self._owners: dict[str, str] = {}
        self._uses: list[Use] = []
        self._routines: dict[str, Routine] = {}
        self._calls: list[CallSite] = []
        self._signatures: dict[str, Type] = {}
        self._others: dict[str, set[Place]] = {}
        self._best: dict[str, Type] = {}
        self._taken: list[str] = []
        self._contexts = Contexts(self._lib, self._types)
        self._starts: dict[Place, set[int]] = {}  # of declarations (raw), by where they are written

    def collect(self) -> Statics:
        top = self._unit.top_level()
        if top:
            self._sources.anchor(
                self._lib.clang_getCursorLocation(self._lib.clang_getTranslationUnitCursor(self._unit.handle))
            )
            self._sources.anchor(self._lib.clang_getCursorLocation(top[-1]))
        if self._beginning is not None and not self._beginning.holds(self._unit, self._sources, top):
            raise FrontendError(self._path, 0, 0, "does not begin with what was precompiled for it")
        self._macros = Macros(
            self._unit,
            self._sources,
            [c for c in top if c.kind == _EXPANSION],
            [c for c in top if c.kind == _DEFINITION],
            self._before.macros if self._before is not None else None,
        )
        self._quoted = Quoted(self._macros)
        groups: dict[int, list[CXCursor]] = {}
        own = self._own(top)
        for cursor in own:
            groups.setdefault(self._lib.clang_getCursorExtent(cursor).begin, []).append(cursor)
        for begin, group in groups.items():
            if any(c.kind in (Kind.VAR_DECL, Kind.FUNCTION_DECL) for c in group):
                self._start(begin)
        for begin, group in groups.items():
            variables = [c for c in group if c.kind == Kind.VAR_DECL]
            if variables:
                functions = any(c.kind == Kind.FUNCTION_DECL for c in group)
                self._declare(variables, begin, True, functions, "")
        for cursor in own:
            self._subtree(cursor)
        files = [self._sources.file(h) for h in self._unit.inclusions()]
        read = [f for f in files if not f.system]
        return Statics(
            self._path,
            {key: self._static(key) for key in self._statics},
            tuple(self._uses),
            self._routines,
            tuple(self._calls),
            self._signatures,
            frozenset(word for file in read for word in _words(file.data)),
            {name: frozenset(places) for name, places in self._others.items() if name},
            skipped_ranges(self._unit, self._sources, self.unread, never=True),
            tuple(sorted({f.path for f in read})),
            tuple(dict.fromkeys(self._taken)),
        )

    def _own(self, top: list[CXCursor]) -> list[CXCursor]:
        """The declarations that stand in no system header."""
        found: list[CXCursor] = []
        extent_of, locate = self._lib.clang_getCursorExtent, self._sources.locate
        low, high = 1, 0  # places in a system header: nearly all declarations, one after the other
        for cursor in top:
            if cursor.kind >= _UNIT:
                continue
            begin = extent_of(cursor).begin
            if low <= begin <= high:
                continue
            file, _ = locate(begin)
            if file is None or file.system:
                low, high, _ = self._sources.range_of(begin)
            else:
                found.append(cursor)
        return found

    def _static(self, key: str) -> Static:
        target, declared, local = self._statics[key]
        holds = tuple(dict.fromkeys(self._holds.get(key, ())))
        type_ = self._best.get(key, target.type)
        owner = self._owners.get(key, "")
        record = self._types.records.get(type_.record)
        flexible = bool(record and record.fields and any(f.type.is_array and not f.type.count for f in record.fields))
        return Static(
            key, target.name, target.kind, type_, owner, local, tuple(declared), holds, key in self._literals, flexible
        )

    # --- declarations -----------------------------------------------------------------------------

    def _declare(self, group: list[CXCursor], begin: int, file_scope: bool, functions: bool, bare: str) -> None:
        """The variables of one declaration that begins at ``begin`` (raw)."""
        targets = [self._names.target(cursor) for cursor in group]
        if not any(target.kind in _STATIC for target in targets):
            return
        written = self._written(group, begin, file_scope)
        file, offset = self._sources.locate(begin)
        if file is None:
            return
        specifier = self._specifier(file, offset, begin, group)
        for cursor, target, (declarator, span) in zip(group, targets, written, strict=True):
            if target.kind not in _STATIC:
                continue
            type_ = self._types.of(cursor)
            known = self._statics.get(target.key)
            local = bool(self._lib.clang_getCursorTLSKind(cursor)) or (known is not None and known[2])
            storage = STORAGE.get(self._lib.clang_Cursor_getStorageClass(cursor), "")
            has_init = bool(self._lib.clang_Cursor_getVarDeclInitializer(cursor).d1)
            one = self._place_declared(
                file, offset, cursor, span, declarator, specifier, storage, has_init, functions, bare
            )
            if known is None:
                self._statics[target.key] = (target, [one], local)
                self._best[target.key] = type_
            else:
                known[1].append(one)
                self._statics[target.key] = (target, known[1], local)
                if self._best[target.key].size is None or has_init:
                    self._best[target.key] = type_
            if target.kind == "local-static":
                self._owners[target.key] = self._names.function

    def _start(self, begin: int) -> None:
        file, offset = self._sources.locate(begin)
        if file is not None:
            self._starts.setdefault((file.path, offset), set()).add(begin)

    def _place_declared(
        self,
        file: File,
        begin: int,
        cursor: CXCursor,
        name: Span,
        declarator: Declarator | None,
        specifier: int,
        storage: str,
        has_init: bool,
        functions: bool,
        bare: str,
    ) -> Declared:
        definition = storage != "extern" or has_init
        if declarator is not None and declarator.statement.editable:
            statement = declarator.statement
            return Declared(
                name, statement, specifier, statement.end, storage, definition, has_init, True, file.system,
                declarator.specifiers, declarator.suffix, declarator.init_span, bare, functions,
            )  # fmt: skip
        _, end = self._sources.locate(self._lib.clang_getCursorExtent(cursor).end)
        made = self._macros.around(file.path, begin)
        at = self._macros.at(file.path, begin)
        for expansion in (*made, *((at,) if at is not None else ())):
            end = max(end, expansion.end)
        after = -1
        closed = after_semicolon(file.data, end)
        if closed > end:
            after = closed
        elif at is not None and at.definition is not None and at.definition.body[-1:] == (";",):
            after = at.end
        if made or (at is not None and at.definition is not None and _is_statement(at.definition.body)):
            after = -1
        statement = file.span(begin, max(end, begin), False)
        return Declared(
            name, statement, specifier, after, storage, definition, has_init, False, file.system,
            bare=bare, with_function=functions, crowded=len(self._starts.get((file.path, begin), ())) > 1,
        )  # fmt: skip

    def _specifier(self, file: File, begin: int, raw: int, group: list[CXCursor]) -> int:
        """Where ``_Thread_local`` goes in a declaration; -1 when a macro is in the way."""
        if file.system:
            return -1
        if raw & MACRO_BIT:
            around = self._macros.around(file.path, begin)
            made = self._macros.at(file.path, begin)
            if around and not self._macros.argument_is_free(file, begin, begin + 1, around):
                return -1
            if made is None:
                return begin if around else -1
            # The macro has to make the beginning of one declaration: it, or specifiers of it, and nothing before.
            body = made.definition.body if made.definition is not None else ()
            head = body[:-1] if body[-1:] == (";",) else body
            return begin if head and ";" not in _outside(head) and not _is_statement(head) else -1
        end = min(begin + 400, len(file.data))
        for a, b, kind in tokens(file.data, begin, end):
            if kind == "space":
                continue
            word = file.data[a:b]
            if word == b"__extension__":
                continue
            if word in (b"static", b"extern") and self._macros.at(file.path, a) is None:
                return b
            return a
        return begin

    # --- uses -------------------------------------------------------------------------------------

    def _subtree(self, root: CXCursor) -> None:
        body = root.kind == Kind.FUNCTION_DECL and bool(self._lib.clang_isCursorDefinition(root))
        if root.kind == Kind.FUNCTION_DECL:
            target = self._names.target(root)
            self._names.function = target.key if body else ""
        tree = Tree(self._unit, root)
        owners = self._locals_of(tree)
        if root.kind == Kind.VAR_DECL:
            owners[0] = self._names.target(root).key
        state = _Function()
        for i in range(len(tree)):
            kind = tree.kind[i]
            if kind == Kind.DECL_REF_EXPR:
                self._reference(tree, i, owners, state)
            elif kind in _NAMED:
                self._other(tree.cursor[i], kind)
            if kind == Kind.CALL_EXPR:
                self._call(tree, i, state)
            elif kind == Kind.COMPOUND_LITERAL_EXPR:
                if key := holder(tree, i, owners):
                    self._literals.add(key)
            elif kind in (Kind.LABEL_STMT, Kind.INDIRECT_GOTO_STMT):
                state.labels = True
            elif 232 <= kind <= 320:
                state.parallel = True
        if body:
            self._routine(root, tree, state)
        else:
            self._taken += state.taken
        self._names.function = ""

    def _routine(self, root: CXCursor, tree: Tree, state: _Function) -> None:
        target = self._names.target(root)
        extent = self._lib.clang_getCursorExtent(root)
        file, begin = self._sources.locate(extent.begin)
        _, end = self._sources.locate(extent.end)
        if file is None:
            return
        made = self._macros.makes_openmp(file, begin, end)
        state.parallel = state.parallel or made or _has_threads(file.data, begin, end)
        head = file.data.find(b"{", begin, end)
        before = max(file.data.rfind(b";", 0, begin), file.data.rfind(b"}", 0, begin), 0)
        constructor = bool(_CONSTRUCTOR.search(file.data, before, head if head > 0 else end))
        self._signatures[target.key] = target.type
        self._routines[target.key] = Routine(
            target.key, file.span(begin, end), tuple(dict.fromkeys(state.named)), tuple(dict.fromkeys(state.taken)),
            state.indirect, state.parallel, state.labels, constructor,
        )  # fmt: skip

    def _locals_of(self, tree: Tree) -> dict[int, str]:
        """Declares the static ones of a function; node of a declaration -> key of its variable of static storage."""
        owners: dict[int, str] = {}
        statements = [i for i in range(len(tree)) if tree.kind[i] == Kind.DECL_STMT]
        for i in statements:
            self._start(tree.raw_begin[i])
        for i in statements:
            nodes = [k for k in tree.kids[i] if tree.kind[k] == Kind.VAR_DECL]
            if not nodes:
                continue
            parent = tree.kind[tree.parent[i]]
            bare = "" if parent == Kind.COMPOUND_STMT else "for" if parent == Kind.FOR_STMT else "label"
            above = tree.parent[tree.parent[i]]
            if parent == Kind.COMPOUND_STMT and above >= 0 and tree.kind[above] == Kind.SWITCH_STMT:
                bare = "switch"
            functions = any(tree.kind[k] == Kind.FUNCTION_DECL for k in tree.kids[i])
            self._declare([tree.cursor[k] for k in nodes], tree.raw_begin[i], False, functions, bare)
            for k in nodes:
                target = self._names.target(tree.cursor[k])
                if target.kind in _STATIC:
                    owners[k] = target.key
        return owners

    def _other(self, cursor: CXCursor, kind: int) -> None:
        """A name that stands for something else."""
        if kind == Kind.VAR_DECL and self._names.target(cursor).kind in _STATIC:
            return
        name = text(self._lib.clang_getCursorSpelling(cursor)).rpartition(" ")[2]
        if not name or "(" in name:
            return
        file, at = self._sources.locate(self._lib.clang_getCursorLocation(cursor).raw)
        if file is not None and not file.system:
            self._others.setdefault(name, set()).add((file.path, at))
        if kind == Kind.MEMBER_REF_EXPR and file is not None:
            # The place of ``s.f`` is that of ``f`` in C, of ``s`` in some versions: the end is surely that of ``f``.
            _, end = self._sources.locate(self._lib.clang_getCursorExtent(cursor).end)
            self._others.setdefault(name, set()).add((file.path, end - len(name.encode("utf-8", "surrogateescape"))))

    def _reference(self, tree: Tree, i: int, owners: dict[int, str], state: _Function) -> None:
        cursor = tree.cursor[i]
        target = self._names.referenced(cursor)
        if target.what == "func":
            self._signatures.setdefault(target.key, target.type)
            state.named.append(target.key)
            if not is_callee(tree, i):
                state.taken.append(target.key)
        if target.what != "var" or target.kind not in _STATIC:
            self._other(cursor, Kind.DECL_REF_EXPR)
            return
        raw = self._lib.clang_getCursorLocation(cursor).raw
        file, at = self._sources.locate(raw)
        if file is None or file.system:
            return
        if target.key not in self._statics:  # declared in a system header, or by the compiler
            self._statics[target.key] = (target, [], False)
        what, alone, key = self._contexts.of(tree, i, owners)
        if what == "init":
            self._holds.setdefault(key, []).append(target.key)
        name = target.name.encode("utf-8", "surrogateescape")
        written = file.data[at : at + len(name)] == name and not _is_word(
            file.data[at + len(name) : at + len(name) + 1]
        )
        macro = None
        if raw & MACRO_BIT:
            made = self._macros.at(file.path, at)
            if made is not None or not written:
                macro = made.name if made is not None else "?"
        quoted = False
        if raw & MACRO_BIT:
            quoted = self._quoted.at(file, at, at + len(name), target.name, macro)
        end = at + len(name) if macro is None else at
        span = file.span(at, end, macro is None and written, macro)
        self._uses.append(Use(target.key, what, span, self._names.function, key, alone, quoted))

    # --- calls ------------------------------------------------------------------------------------

    def _call(self, tree: Tree, i: int, state: _Function) -> None:
        kids = tree.kids[i]
        callee = kids[0] if kids else -1
        while callee >= 0 and tree.kind[callee] in (Kind.UNEXPOSED_EXPR, Kind.PAREN_EXPR) and tree.kids[callee]:
            callee = tree.kids[callee][0]
        target = None
        if callee >= 0 and tree.kind[callee] == Kind.DECL_REF_EXPR:
            target = self._names.referenced(tree.cursor[callee])
        if target is None or target.what != "func":
            state.indirect = True
            return
        file, at = self._sources.locate(self._lib.clang_getCursorLocation(tree.cursor[i]).raw)
        if file is None:
            return
        passed = []
        for argument in kids[1:]:
            passed += [
                found.key
                for k in below(tree, argument)
                if tree.kind[k] == Kind.DECL_REF_EXPR
                and (found := self._names.referenced(tree.cursor[k])).what == "func"
            ]
        span = file.span(at, at, False)
        self._calls.append(CallSite(target.key, span, self._names.function, tuple(passed)))


class _Function:
    """What is found in one function."""

    def __init__(self) -> None:
        self.named: list[str] = []
        self.taken: list[str] = []
        self.indirect = False
        self.parallel = False
        self.labels = False


def _is_word(byte: bytes) -> bool:
    return byte.isalnum() or (byte in (b"_", b"$") and bool(byte))


def _is_statement(body: Sequence[str]) -> bool:
    """A macro makes a statement, or an expression that has some: a declaration may stand inside."""
    return not _STATEMENTS.isdisjoint(body[:1]) or ("(", "{") in pairwise(body)


def _outside(body: Sequence[str]) -> list[str]:
    """The tokens of a macro's body that stand in no brackets."""
    depth, out = 0, []
    for token in body:
        if token in ("(", "[", "{"):
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
        elif depth == 0:
            out.append(token)
    return out


def _words(data: bytes) -> Iterator[str]:
    """Identifiers in strings of inline assembly and attributes, and in pragmas."""
    for found in _STRINGS.finditer(data):
        at = skip_space(data, found.end())
        while (word := _WORD.match(data, at)) is not None:  # volatile, goto, inline
            at = skip_space(data, word.end())
        if data[at : at + 1] != b"(" or in_guard(data, found.start()):
            continue
        end = closing(data, at) or at
        for string in _STRING.finditer(data, at, end):
            yield from (w.decode("ascii") for w in _WORD.findall(string.group(1)))
    for pragma in _PRAGMA.finditer(data):
        if _CLAUSES.match(pragma.group()):  # what its region does is seen in the region
            continue
        yield from (w.decode("ascii") for w in _WORD.findall(pragma.group(1) or pragma.group(2) or b""))


def _has_threads(data: bytes, begin: int, end: int) -> bool:
    """Some OpenMP directive in a text is about threads."""
    if not WORD.search(data, begin, end) and b"_Pragma" not in data[begin:end]:
        return False
    for words, _, _ in lines(data, begin, end):
        omp = words[1:3] == ["pragma", "omp"]
        if words[0] == "_Pragma" or (omp and words[3:4] not in (["simd"], ["declare"], ["threadprivate"])):
            return True
    return False
