"""Builds a ``Unit`` from a parsed translation unit."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace

from opi_xform.frontend.clang.libclang import MACRO_BIT, CXCursor, Kind, TranslationUnit, text
from opi_xform.frontend.clang.names import STORAGE, Names, Target
from opi_xform.frontend.clang.source import File, Sources, skip_space
from opi_xform.frontend.clang.tree import Places, Tree, has_attributes
from opi_xform.frontend.clang.typemap import TypeMap
from opi_xform.frontend.errors import FrontendError
from opi_xform.frontend.flags import Headers, definitions
from opi_xform.frontend.headers.beginning import Beginning
from opi_xform.frontend.headers.mpi_headers import named_elsewhere
from opi_xform.frontend.lower.array_sizes import has_bounds, is_computed, lengths
from opi_xform.frontend.lower.attributes import Finder
from opi_xform.frontend.lower.decls import Written, declarators
from opi_xform.frontend.lower.directives import INCLUDE, LOOSE, WORD, thread_private
from opi_xform.frontend.lower.exprs import Expressions
from opi_xform.frontend.lower.inits import Braces, flatten
from opi_xform.frontend.lower.openmp import Regions, find_regions
from opi_xform.frontend.lower.refusals import Refusal
from opi_xform.frontend.lower.stmts import Statements
from opi_xform.frontend.lower.type_mentions import declared_in, of_types, roots_of, type_mentions
from opi_xform.frontend.macros.expansions import Macros
from opi_xform.frontend.macros.meant_macros import meant
from opi_xform.frontend.macros.skipped import skipped_ranges
from opi_xform.frontend.macros.unread import Unread
from opi_xform.frontend.probe import integer_macros
from opi_xform.ir.ast import Block, Declarator, Diagnostic, Expr, Function, Unit, Variable, VarRef
from opi_xform.ir.span import NOWHERE, Span
from opi_xform.ir.types import UNKNOWN, Type

_SIZED = re.compile(rb"\[\s*(?:(?:const|volatile|restrict|__restrict)\b\s*)*[^\s\]]")
"""An array after a parameter's name with a size in its brackets."""
_UNDECLARED = re.compile(r"(?:call to undeclared function|implicit declaration of function) '([^']+)'")

PROC_NULL = "MPI_PROC_NULL"
_FIRST_EXPR, _LAST_EXPR, _LAST_STMT = int(Kind.UNEXPOSED_EXPR), int(Kind.LAST_EXPR), int(Kind.LAST_STMT)
_FUNCTION, _VARIABLE, _OTHER = int(Kind.FUNCTION_DECL), int(Kind.VAR_DECL), int(Kind.UNEXPOSED_DECL)
_EXPANSION, _DEFINITION = int(Kind.MACRO_EXPANSION), int(Kind.MACRO_DEFINITION)
_STMT_EXPR, _DECL_STMT = int(Kind.STMT_EXPR), int(Kind.DECL_STMT)


class UnitBuilder:
    """One use: ``build()``.  Afterwards ``dependencies`` maps every file read, system headers too, to its sha256."""

    def __init__(
        self,
        unit: TranslationUnit,
        path: str,
        flags: list[str],
        headers: Headers,
        beginning: Beginning | None = None,
    ) -> None:
        self._before = beginning.precompiled if beginning is not None else None
        self._beginning = beginning
        self._unit, self._lib = unit, unit.lib
        self._path, self._flags, self._headers = path, flags, headers
        self._sources = Sources(unit, headers.system)
        self._types = TypeMap(unit, self._place)
        self._names = Names(unit, path, self._sources, self._types)
        self._globals: dict[str, list[tuple[CXCursor, Declarator | None, Expr | None, Span]]] = {}
        self._global_targets: dict[str, Target] = {}
        self._with_attributes: set[str] = set()
        self._functions: dict[str, Function] = {}
        self._declared: dict[str, Type] = {}
        self._address_taken: set[str] = set()
        self._type_mentions: list[VarRef] = []
        self._unseen = Finder(unit, self._sources)
        self._thread_private: frozenset[str] | None = frozenset()
        self._left_out: dict[str, list[tuple[int, int]]] = {}  # by file: text that every compiler leaves out
        self._doubtful: dict[str, list[tuple[int, int]]] = {}  # by file: text that is left out here
        self._chosen: dict[str, list[tuple[int, int]]] = {}  # of it: what the program's own macros decide about
        self._has_openmp = False
        self._has_operator = False  # some text of the program's own has `_Pragma`
        self.dependencies: dict[str, str] = {}
        self.unread = Unread(flags, unit, self._sources)
        self.diagnostics: list[Diagnostic] = []

    def build(self) -> Unit:
        top = self._unit.top_level()
        if top:
            self._sources.anchor(
                self._lib.clang_getCursorLocation(self._lib.clang_getTranslationUnitCursor(self._unit.handle))
            )
            self._sources.anchor(self._lib.clang_getCursorLocation(top[-1]))
        if self._beginning is not None and not self._beginning.holds(self._unit, self._sources, top):
            raise FrontendError(self._path, 0, 0, "does not begin with what was precompiled for it")
        by_kind: dict[int, list[CXCursor]] = {}
        for cursor in top:
            by_kind.setdefault(cursor.kind, []).append(cursor)
        self._macros = Macros(
            self._unit,
            self._sources,
            by_kind.get(_EXPANSION, []),
            by_kind.get(_DEFINITION, []),
            self._before.macros if self._before is not None else None,
        )
        files = [self._sources.file(h) for h in self._unit.inclusions()]
        own = {f.path: f for f in files if not f.system}
        said = [*(f.data for f in own.values()), *map(os.fsencode, self._flags)]
        self._has_openmp = any(WORD.search(f.data) for f in own.values())
        self._has_operator = any(b"_Pragma" in data for data in said)
        left_out = skipped_ranges(self._unit, self._sources, self.unread, never=True)
        for skipped in left_out:
            where = self._left_out if skipped.certain else self._doubtful
            where.setdefault(skipped.span.file, []).append((skipped.span.begin, skipped.span.end))
            if skipped.own and not skipped.certain:
                self._chosen.setdefault(skipped.span.file, []).append((skipped.span.begin, skipped.span.end))
        texts = [(f.data, self._left_out.get(f.path, ())) for f in own.values()]
        self._thread_private = thread_private(texts, self._macros.is_number)
        self._declarations([c for c in top if c.kind == _FUNCTION or c.kind == _VARIABLE])
        for key, cursor in self._names.cursors.items():
            target = self._names.target(cursor)
            if target.what == "func" and key not in self._functions:
                self._declared.setdefault(key, target.type)
            elif target.what == "var" and key not in self._globals:
                self._globals[key] = []
                self._global_targets[key] = target
        for key in self._functions:
            self._declared.pop(key, None)
        known, null = (self._before.digests, self._before.proc_null) if self._before is not None else ({}, ())
        read = {f.path: hashlib.sha256(f.data).hexdigest() for f in files if f.path not in known}
        self.dependencies = {**read, **known}
        return Unit(
            path=self._path,
            functions=self._functions,
            globals={key: self._global(key) for key in self._globals},
            records=self._types.records,
            declared=self._declared,
            skipped=tuple(s for s in left_out if not s.never),
            diagnostics=tuple(self.diagnostics),
            files={path: self.dependencies[path] for path in own},
            int_macros=integer_macros(self._flags, self._headers, list(self.dependencies)),
            address_taken_functions=frozenset(self._address_taken),
            type_mentions=(*self._type_mentions, *of_types(top, self._sources, self._lowering)),
            never=tuple(s.span for s in left_out if s.never),
            names_proc_null=named_elsewhere(PROC_NULL, self._flags, files, self.dependencies, null),
            f2c=any(os.path.basename(path) == "f2c.h" for path in self.dependencies),
            macros=tuple(sorted(meant(self._macros, self._sources, own, definitions(self._flags)))),
            unseen=(*self._unseen.found, *self._unseen.elsewhere(by_kind.get(_OTHER, ()), self._flags)),
            loose=any(map(LOOSE.search, said)),
        )

    def _lowering(self, cursor: CXCursor) -> tuple[Tree, Places, Expressions]:
        tree = Tree(self._unit, cursor)
        self._unseen.tree(tree, self._macros)
        places = Places(tree, self._sources, self._macros)
        return tree, places, Expressions(self._unit, tree, places, self._names, self._types, self._macros)

    def outline(self) -> Unit:
        """Which functions the unit defines, without bodies and all else; what ``declared`` holds has no prototype."""
        top = self._unit.top_level()
        if top:
            self._sources.anchor(self._lib.clang_getCursorLocation(top[-1]))
        for cursor in top:
            if cursor.kind != Kind.FUNCTION_DECL or not self._lib.clang_isCursorDefinition(cursor):
                continue
            file, at = self._sources.locate(self._lib.clang_getCursorLocation(cursor).raw)
            if file is None or file.system:
                continue
            name = text(self._lib.clang_getCursorSpelling(cursor))
            static = self._lib.clang_getCursorLinkage(cursor) == 2
            span = file.span(at, at + len(name), False)
            key = f"{self._path}:{name}" if static else name
            self._functions[key] = Function(key, name, UNKNOWN, (), {}, Block(span, ()), span, static)
        for severity, _, _, _, message in self._unit.diagnostics():
            found = _UNDECLARED.match(message) if severity == 2 else None
            if found is not None:
                self._declared[found.group(1)] = Type("function", "", None)
        return Unit(self._path, self._functions, {}, {}, self._declared, (), (), {}, {})

    def _place(self, cursor: CXCursor) -> str:
        file, offset = self._sources.locate(self._lib.clang_getCursorLocation(cursor).raw)
        return f"{file.path if file else ''}:{offset}"

    # --- declarations -----------------------------------------------------------------------------

    def _declarations(self, cursors: list[CXCursor]) -> None:
        group: list[CXCursor] = []
        group_begin = -1
        extent_of = self._lib.clang_getCursorExtent
        low, high = 1, 0  # places in a system header: nearly all declarations, one after the other
        for cursor in cursors:
            begin = extent_of(cursor).begin
            if low <= begin <= high:
                continue
            file, _ = self._sources.locate(begin)
            if file is None or file.system:
                low, high, _ = self._sources.range_of(begin)
                continue
            if cursor.kind == Kind.VAR_DECL:
                if begin != group_begin:
                    self._file_scope(group)
                    group, group_begin = [], begin
                group.append(cursor)
            else:
                target = self._names.target(cursor)
                if self._lib.clang_isCursorDefinition(cursor):
                    self._function(cursor, target)
                else:
                    self._declared.setdefault(target.key, target.type)
                    self._unseen.declaration(cursor, self._macros)
        self._file_scope(group)

    def _file_scope(self, group: list[CXCursor]) -> None:
        if not group:
            return
        written = self._written(group, self._lib.clang_getCursorExtent(group[0]).begin, True)
        for cursor, (declarator, span) in zip(group, written, strict=True):
            target = self._names.target(cursor)
            tree, _, expressions = self._lowering(cursor)
            for i in range(len(tree) - 1, 0, -1):
                if Kind.UNEXPOSED_EXPR <= tree.kind[i] <= Kind.LAST_EXPR:
                    expressions.lower(i)
            init = self._initialiser(tree, 0, expressions)
            self._type_mentions += type_mentions(tree, expressions, () if init is None else (init,))
            self._note_functions(expressions)
            if has_attributes(tree, 0):
                self._with_attributes.add(target.key)
            self._add_global(cursor, target, declarator, init, span)

    def _add_global(
        self, cursor: CXCursor, target: Target, declarator: Declarator | None, init: Expr | None, span: Span
    ) -> None:
        self._global_targets[target.key] = target
        self._globals.setdefault(target.key, []).append((cursor, declarator, init, span))

    def _global(self, key: str) -> Variable:
        target = self._global_targets[key]
        found = self._globals[key]
        type_, span, init = target.type, NOWHERE, None
        for cursor, declarator, value, place in found:
            one = self._types.of(cursor)
            better = type_.kind == "array" and type_.size is None and one.size is not None
            if better or (declarator is not None and declarator.definition and one.size is not None):
                type_ = one
            if span is NOWHERE or (declarator is not None and declarator.definition):
                span = place
            init = value if value is not None else init
        cursor = found[0][0] if found else self._names.cursors[key]
        return Variable(
            key=key,
            name=target.name,
            type=type_,
            kind=target.kind,
            span=span,
            declarators=tuple(d for _, d, _, _ in found if d is not None),
            init=init,
            thread_local=self._is_thread_local(cursor, target),
            attributes=key in self._with_attributes,
            alignment=max((self._types.alignment(c) for c, _, _, _ in found), default=0),
        )

    def _written(self, group: Sequence[CXCursor], first: int, file_scope: bool) -> list[tuple[Declarator | None, Span]]:
        """Declarators and name places of variables that share one declaration, which begins at ``first`` (raw)."""
        lib = self._lib
        file, begin = self._sources.locate(first)
        entries: list[Written] = []
        plain = not first & MACRO_BIT or (file is not None and self._only_specifiers(file, begin, group[0]))
        for cursor in group:
            raw = lib.clang_getCursorLocation(cursor).raw
            plain = plain and not raw & MACRO_BIT
            name_file, at = self._sources.locate(raw)
            plain = plain and name_file is file
            name = text(lib.clang_getCursorSpelling(cursor))
            storage = STORAGE.get(lib.clang_Cursor_getStorageClass(cursor), "")
            has_init = (
                bool(lib.clang_Cursor_getVarDeclInitializer(cursor).d1) if cursor.kind == Kind.VAR_DECL else False
            )
            entries.append(Written(name, at, storage, file_scope, has_init))
        if file is None:
            return [(None, NOWHERE)] * len(group)
        found: list[Declarator | None] = [None] * len(group)
        if plain:
            found = declarators(file, begin, entries, not file.system)
        return [
            (d, d.name_span if d is not None else self._name_span(file, e, plain))
            for d, e in zip(found, entries, strict=True)
        ]

    def _only_specifiers(self, file: File, begin: int, variable: CXCursor) -> bool:
        """Whether the macro that a declaration begins with (``EXPORT double b[8];``) makes specifiers and no more."""
        made = self._macros.at(file.path, begin)
        raw = self._lib.clang_getCursorLocation(variable).raw
        return (
            made is not None
            and made.outer is None
            and made.single
            and not raw & MACRO_BIT
            and made.end <= self._sources.locate(raw)[1]
        )

    @staticmethod
    def _name_span(file: File, entry: Written, plain: bool) -> Span:
        end = entry.name_begin + len(entry.name.encode("utf-8", "surrogateescape"))
        return file.span(entry.name_begin, end, plain and not file.system)

    def _is_thread_local(self, cursor: CXCursor, target: Target) -> bool:
        static = target.kind in ("extern", "static", "local-static")
        if static and (self._thread_private is None or target.name in self._thread_private):
            return True
        return bool(self._lib.clang_getCursorTLSKind(cursor))

    def _initialiser(self, tree: Tree, i: int, expressions: Expressions) -> Expr | None:
        statement = self._lib.clang_Cursor_getVarDeclInitializer(tree.cursor[i]).d1
        if not statement:
            return None
        for k in reversed(tree.kids[i]):
            if tree.cursor[k].d1 == statement:
                found = expressions.out[k]
                if isinstance(found, Braces):
                    return flatten(found, self._types.of(tree.cursor[i]), self._types.records)
                return expressions.expr(k)
        return None

    def _note_functions(self, expressions: Expressions) -> None:
        self._address_taken.update(name for name, count in expressions.taken.items() if count > 0)

    # --- functions --------------------------------------------------------------------------------

    def _function(self, cursor: CXCursor, target: Target) -> None:
        self._names.function = target.key
        tree, places, expressions = self._lowering(cursor)
        statements = Statements(self._unit, tree, places, self._names, expressions)
        variables: dict[str, Variable] = {}
        kind, kids, lower = tree.kind, tree.kids, expressions.lower
        for i in range(len(tree) - 1, 0, -1):
            k = kind[i]
            if k < _FIRST_EXPR:
                continue
            if k == _STMT_EXPR:
                value = statements.value(i, variables)
                if value is None:
                    expressions.refuse_statement_expression(i, statements.expressions_in(kids[i]))
                else:
                    expressions.out[i] = value
            elif k <= _LAST_EXPR:
                lower(i)
            elif k <= _LAST_STMT:
                if k == _DECL_STMT:
                    self._locals(tree, i, expressions, statements, variables, target.key)
                statements.lower(i)
        params = self._params(tree, expressions, target.key, variables)
        for key, named in expressions.variables.items():
            if named.kind == "local" and key not in variables:  # made by the parser: a thread's own, of a reduction
                variables[key] = Variable(key, named.name, named.type, named.kind, places.span(0), function=target.key)
        body_node = next(k for k in reversed(kids[0]) if kind[k] == Kind.COMPOUND_STMT)
        body = statements.out[body_node]
        assert isinstance(body, Block)
        self._note_functions(expressions)
        refusals = expressions.refusals
        refused = min(refusals, key=lambda r: r.offset).reason if refusals else ""
        regions = self._regions(places, body, variables)
        linkage = self._lib.clang_getCursorLinkage(cursor)
        self._functions[target.key] = Function(
            key=target.key,
            name=target.name,
            type=self._types.of(cursor),
            params=params,
            variables={**{k: variables[k] for k in params}, **dict(reversed(regions.variables.items()))},
            body=regions.body,
            span=places.span(0),
            static=linkage == 2,
            refused=refused or regions.refused,
            threads=regions.threads,
            pragmas=regions.pragmas,
            declares=declared_in(tree),
        )
        self._names.function = ""
        self._type_mentions += type_mentions(tree, expressions, roots_of(regions.body, regions.variables.values()))

    def _regions(self, places: Places, body: Block, variables: dict[str, Variable]) -> Regions:
        """What OpenMP makes of a function."""
        here = places.file[0]
        found, refused = Regions(body, variables, (), ""), ""
        if here is None:
            return found
        begin, end = places.begin[0], places.end[0]
        if WORD.search(here.data, begin, end) or b"_Pragma" in here.data[begin:end]:
            left_out, doubtful = self._left_out.get(here.path, ()), self._doubtful.get(here.path, ())
            found = find_regions(
                here,
                places.span(0),
                body,
                variables,
                self._macros.is_number,
                self._macros.words,
                left_out,
                doubtful,
                self._chosen.get(here.path, ()),
            )
        if self._has_operator and self._macros.makes_openmp(here, begin, end):
            maker = self._macros.maker(here, begin, end)
            line = here.line_column(maker.begin)[0]
            refused = f"OpenMP in a macro, `{maker.name}` in line {line}, is not followed"
        if INCLUDE.search(here.data, begin, end) and self._has_openmp:
            refused = "OpenMP in a file that is included in the function is not followed"
        return replace(found, refused=found.refused or refused)

    def _params(
        self, tree: Tree, expressions: Expressions, function: str, variables: dict[str, Variable]
    ) -> tuple[str, ...]:
        keys: list[str] = []
        for k in tree.kids[0]:
            if tree.kind[k] != Kind.PARM_DECL:
                continue
            cursor = tree.cursor[k]
            target = self._names.target(cursor)
            file, at = self._sources.locate(self._lib.clang_getCursorLocation(cursor).raw)
            end = at + len(target.name.encode("utf-8", "surrogateescape"))
            span = file.span(at, end, not file.system) if file is not None else NOWHERE
            bounds = self._bounds(tree, k, expressions)
            as_array = file is not None and _SIZED.match(file.data, skip_space(file.data, end)) is not None
            for e in bounds:
                if is_computed(e):  # evaluated at each call, where no statement is
                    expressions.refusals.append(Refusal(e.span.begin, "an array size in a parameter's type"))
            variables[target.key] = Variable(
                target.key,
                target.name,
                target.type,
                "param",
                span,
                function=function,
                lengths=lengths(target.type, bounds, span, as_array),
            )
            keys.append(target.key)
        return tuple(keys)

    def _locals(
        self,
        tree: Tree,
        i: int,
        expressions: Expressions,
        statements: Statements,
        variables: dict[str, Variable],
        function: str,
    ) -> None:
        nodes = [k for k in tree.kids[i] if tree.kind[k] == Kind.VAR_DECL]
        sizes: list[tuple[int, Expr]] = []
        if not nodes:
            for k in tree.kids[i]:
                sizes += [(0, e) for e in self._sizes(tree, k, expressions)]
            statements.sizes[i] = tuple(sizes)
            return
        written = self._written([tree.cursor[k] for k in nodes], tree.raw_begin[i], False)
        keys: list[str] = []
        made: list[Variable] = []
        for k, (declarator, span) in zip(nodes, written, strict=True):
            cursor = tree.cursor[k]
            target = self._names.target(cursor)
            init = self._initialiser(tree, k, expressions)
            bounds = self._bounds(tree, k, expressions)
            sizes += [(len(keys), e) for e in bounds if is_computed(e)]
            if target.kind in ("extern", "static"):
                if has_attributes(tree, k):
                    self._with_attributes.add(target.key)
                self._add_global(cursor, target, declarator, init, span)
                continue
            keys.append(target.key)
            made.append(
                Variable(
                    key=target.key,
                    name=target.name,
                    type=self._types.of(cursor),
                    kind=target.kind,
                    span=span,
                    declarators=(declarator,) if declarator is not None else (),
                    init=init,
                    function=function,
                    thread_local=self._is_thread_local(cursor, target),
                    attributes=has_attributes(tree, k),
                    alignment=self._types.alignment(cursor),
                    lengths=lengths(self._types.of(cursor), bounds, span),
                )
            )
        # The arrays are walked backwards; the caller turns the whole mapping round.
        for variable in reversed(made):
            variables[variable.key] = variable
        statements.declared[i] = tuple(keys)
        statements.sizes[i] = tuple(sizes)

    def _sizes(self, tree: Tree, i: int, expressions: Expressions) -> list[Expr]:
        """What the sizes of arrays in the type that declaration ``i`` writes compute, its initialiser left out."""
        return [e for e in self._bounds(tree, i, expressions) if is_computed(e)]

    def _bounds(self, tree: Tree, i: int, expressions: Expressions) -> list[Expr]:
        """The sizes of arrays in the type that declaration ``i`` writes, its initialiser left out."""
        if tree.kind[i] != Kind.PARM_DECL and not has_bounds(self._types.of(tree.cursor[i])):
            return []
        is_variable = tree.kind[i] == Kind.VAR_DECL
        init = self._lib.clang_Cursor_getVarDeclInitializer(tree.cursor[i]).d1 if is_variable else None
        kids = [k for k in tree.kids[i] if _FIRST_EXPR <= tree.kind[k] <= _LAST_EXPR and tree.cursor[k].d1 != init]
        return list(map(expressions.expr, kids))
