"""Macro expansions as they are written, and what may be edited inside them."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from opi_xform.frontend.clang.libclang import CXCursor, TranslationUnit, text
from opi_xform.frontend.clang.source import File, Sources, closing, skip_space, tokens
from opi_xform.frontend.headers.beginning import MacroPlace
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Definition:
    """A macro's definition: parameters (None: object-like), tokens of its body, whether a system header holds it.

    text: as it is written, from its name to its last token.
    """

    name: str
    parameters: tuple[str, ...] | None
    body: tuple[str, ...]
    system: bool
    text: bytes = b""


@dataclass(frozen=True, slots=True)
class Expansion:
    """One written use of a macro: ``[begin, end)`` in its file, name through closing parenthesis."""

    name: str
    begin: int
    end: int
    definition: Definition | None
    outer: Expansion | None = None

    @property
    def object_like(self) -> bool:
        return self.definition is not None and self.definition.parameters is None

    @property
    def single(self) -> bool:
        """Whether the macro's body cannot be more than one expression or declaration: no ``,`` or ``;`` at its top."""
        depth = 0
        for token in self.definition.body if self.definition is not None else (",",):
            if token in ("(", "[", "{"):
                depth += 1
            elif token in (")", "]", "}"):
                depth -= 1
            elif token in (",", ";") and depth == 0:
                return False
        return True


class Macros:
    """All expansions written in non-system files, by file and offset."""

    def __init__(
        self,
        unit: TranslationUnit,
        sources: Sources,
        expansions: Iterable[CXCursor],
        definitions: list[CXCursor],
        precompiled: Mapping[str, MacroPlace] | None = None,
    ) -> None:
        self._unit = unit
        self._sources = sources
        self._definition_cursors = definitions
        self._precompiled = precompiled or {}
        self._definitions: dict[int, Definition | None] = {}
        self._defined_at: dict[MacroPlace, Definition | None] = {}
        self._all_tokens: dict[str, frozenset[str]] = {}
        by_file: dict[str, dict[int, tuple[int, CXCursor]]] = {}
        extent_of = unit.lib.clang_getCursorExtent
        low, high = 1, 0  # places in a system header: nearly all expansions, one after the other
        for cursor in expansions:
            extent = extent_of(cursor)
            if low <= extent.begin <= high:
                continue
            file, begin = sources.locate(extent.begin)
            if file is None or file.system:
                low, high, _ = sources.range_of(extent.begin)
                continue
            _, end = sources.locate(extent.end)
            by_file.setdefault(file.path, {}).setdefault(begin, (end, cursor))
        self._files: dict[str, tuple[list[int], list[Expansion]]] = {}
        self._ends: dict[tuple[str, int], list[Expansion]] = {}
        for path, found in by_file.items():
            begins = sorted(found)
            listed: list[Expansion] = []
            stack: list[Expansion] = []
            for begin in begins:
                end, cursor = found[begin]
                while stack and stack[-1].end <= begin:
                    stack.pop()
                name = text(unit.lib.clang_getCursorSpelling(cursor))
                expansion = Expansion(name, begin, end, self._define(cursor), stack[-1] if stack else None)
                listed.append(expansion)
                stack.append(expansion)
            self._files[path] = (begins, listed)
            for expansion in listed:
                self._ends.setdefault((path, expansion.end), []).append(expansion)
        self._free: dict[tuple[str, int, int], bool] = {}
        self._written: dict[tuple[str, int], list[tuple[int, int]]] = {}

    def at(self, path: str, offset: int) -> Expansion | None:
        """The expansion whose name begins at ``offset``."""
        begins, listed = self._files.get(path, ([], []))
        i = bisect_left(begins, offset)
        return listed[i] if i < len(begins) and begins[i] == offset else None

    def around(self, path: str, offset: int) -> list[Expansion]:
        """The expansions that begin before ``offset`` and end after it, innermost first."""
        begins, listed = self._files.get(path, ([], []))
        i = bisect_left(begins, offset) - 1
        found: list[Expansion] = []
        current = listed[i] if i >= 0 else None
        while current is not None:
            if current.begin < offset < current.end:
                found.append(current)
            current = current.outer
        return found

    def written(self) -> Iterator[tuple[str, Expansion]]:
        """All expansions, each with its file, in the order of their places in it."""
        for path, (_, listed) in self._files.items():
            for expansion in listed:
                yield path, expansion

    def within(self, path: str, begin: int, end: int) -> list[Expansion]:
        """The expansions that lie whole in ``[begin, end)``."""
        begins, listed = self._files.get(path, ([], []))
        return [e for e in listed[bisect_left(begins, begin) : bisect_right(begins, end)] if e.end <= end]

    def ending(self, path: str, begin: int, end: int) -> list[Expansion]:
        """The expansions that begin behind ``begin`` and end at ``end``."""
        return [e for e in self._ends.get((path, end), ()) if e.begin > begin]

    def is_number(self, name: str, called: bool) -> bool | None:
        """Whether a macro is one number; None when none of this name does anything here.

        called: a parenthesis follows the name.  Without one, a macro with parameters is no use of it (C11 6.10.3).
        """
        found = [self._define_from(known) for known in self._every.get(name, ())]
        if all(d is not None and d.parameters is not None and not called for d in found):
            return None
        for d in found:
            body = [t for t in d.body if t not in ("(", ")")] if d is not None and d.parameters is None else []
            if len(body) != 1 or not body[0].isdigit():
                return False
        return True

    def words(self, name: str) -> tuple[str, ...] | None:
        """What a macro without parameters stands for, where all its definitions say the same; None: it is none."""
        found = [self._define_from(known) for known in self._every.get(name, ())]
        bodies = {d.body if d is not None and d.parameters is None else None for d in found}
        return bodies.pop() if len(bodies) == 1 else None

    def makes_openmp(self, file: File, begin: int, end: int) -> bool:
        """The macros in ``[begin, end)`` may make an OpenMP directive, by ``_Pragma``."""
        found = self.within(file.path, begin, end)
        if not any("_Pragma" in self.reached(e) for e in found):
            return False
        return any(
            b"omp" in file.data[e.begin : e.end] or any("omp" in token for token in self.reached(e)) for e in found
        )

    def maker(self, file: File, begin: int, end: int) -> Expansion:
        """The first of these macros."""
        return next(e for e in self.within(file.path, begin, end) if "_Pragma" in self.reached(e))

    def reached(self, expansion: Expansion) -> frozenset[str]:
        """The tokens of a macro's body, and of the bodies of macros that are named there."""
        name = expansion.name
        if name not in self._all_tokens:
            found: set[str] = set()
            work = [expansion.definition]
            while work:
                definition = work.pop()
                for token in definition.body if definition is not None else ():
                    if token not in found:
                        found.add(token)
                        following = self._by_name.get(token)
                        if following is not None:
                            work.append(self._define_from(following))
            self._all_tokens[name] = frozenset(found)
        return self._all_tokens[name]

    def resolved(self, expansion: Expansion) -> tuple[str, bool]:
        """The macro that an object-like macro is another name for, and whether a system header defines it.

        ``#define TYPE MPI_DOUBLE`` resolves to ``MPI_DOUBLE``; a macro whose body is more than one name to itself.
        """
        definition = expansion.definition
        seen: set[str] = set()
        while definition is not None and definition.name not in seen:
            seen.add(definition.name)
            body = [t for t in definition.body if t not in ("(", ")")]
            following = self._by_name.get(body[0]) if len(body) == 1 else None
            following_definition = self._define_from(following) if following is not None else None
            if definition.system or following_definition is None or following_definition.parameters is not None:
                return definition.name, definition.system
            definition = following_definition
        return expansion.name, False

    def renames(self, expansion: Expansion, name: str) -> bool:
        """An object-like macro is another word for ``name``, and nothing else."""
        definition = expansion.definition
        seen: set[str] = set()
        while definition is not None and definition.parameters is None and definition.name not in seen:
            seen.add(definition.name)
            body = [t for t in definition.body if t not in ("(", ")")]
            if len(body) != 1:
                return False
            if body[0] == name:
                return True
            following = self._by_name.get(body[0])
            definition = self._define_from(following) if following is not None else None
        return False

    def argument_is_free(self, file: File, begin: int, end: int, around: list[Expansion]) -> bool:
        """Whether ``[begin, end)`` lies in one argument of each macro around it, expanded once, never stringified."""
        return all(self._argument_of(file, e, begin, end) for e in around)

    def in_one_argument(self, file: File, expansion: Expansion, begin: int, end: int) -> bool:
        """Whether ``[begin, end)`` lies in one written argument of the expansion."""
        return self._position(file, expansion, begin, end) is not None

    def _argument_of(self, file: File, expansion: Expansion, begin: int, end: int) -> bool:
        definition = expansion.definition
        position = self._position(file, expansion, begin, end)
        if definition is None or definition.parameters is None or position is None:
            return False
        key = (file.path, expansion.begin, position)
        if key not in self._free:
            self._free[key] = self._uses(definition, position) == 1
        return self._free[key]

    def _position(self, file: File, expansion: Expansion, begin: int, end: int) -> int | None:
        key = (file.path, expansion.begin)
        if key not in self._written:
            name_end = expansion.begin + len(expansion.name.encode("utf-8", "surrogateescape"))
            self._written[key] = arguments_of(file.data, skip_space(file.data, name_end), expansion.end)
        for position, (first, last) in enumerate(self._written[key]):
            if first <= begin and end <= last:
                return position
        return None

    def constant(self, token: str) -> tuple[str, bool] | None:
        """What ``resolved`` answers, for the object-like macro of this name; None when there is none."""
        cursor = self._by_name.get(token)
        definition = self._define_from(cursor) if cursor is not None else None
        if definition is None or definition.parameters is not None:
            return None
        return self.resolved(Expansion(token, 0, 0, definition))

    def argument(self, file: File, expansion: Expansion, begin: int, end: int) -> int | None:
        """Which written argument of the expansion ``[begin, end)`` lies in; None when in none."""
        return self._position(file, expansion, begin, end)

    def definition(self, name: str) -> Definition | None:
        """The last definition of the macro of this name; None when there is none."""
        cursor = self._by_name.get(name)
        return self._define_from(cursor) if cursor is not None else None

    def closed(self, expansion: Expansion) -> bool:
        """Whether an operator beside a macro's use takes all of it: it stands for one token, or for one in brackets."""
        definition, seen = expansion.definition, set[str]()
        while definition is not None and definition.name not in seen:
            seen.add(definition.name)
            body = definition.body
            if not body or _bracketed(body):
                return bool(body)
            following = self.definition(body[0])
            if following is None or following.name in seen:
                return len(body) == 1 and body[0] not in (definition.parameters or ())
            if len(self._every[following.name]) > 1:
                return False
            rest = body[1:]
            if bool(rest) == (following.parameters is None) or (rest and not _bracketed(rest)):
                return False
            definition = following
        return False

    def leads_to(self, expansion: Expansion, name: str) -> bool:
        """Whether a macro's body has a name in it, by itself or through other macros."""
        seen: set[str] = set()
        work = [expansion.definition]
        while work:
            definition = work.pop()
            for token in definition.body if definition is not None and definition.name not in seen else ():
                if token == name:
                    return True
                if token[:1].isalpha() or token[:1] == "_":
                    work.append(self.definition(token))
            if definition is not None:
                seen.add(definition.name)
        return False

    def only(self, expansion: Expansion, wanted: Callable[[str], bool]) -> str:
        """The one of these names that a macro's body has, by itself or through any other; '' for several, or pasted."""
        seen: set[str] = set()
        work = [expansion.definition]
        while work:
            definition = work.pop()
            for token in set(definition.body if definition is not None else ()) - seen:
                seen.add(token)
                work += [self._define_from(d) for d in self._every.get(token, ())]
        found = [token for token in sorted(seen) if wanted(token)]
        return found[0] if len(found) == 1 and not seen & {"##", "%:%:"} else ""

    def call_around(self, body: tuple[str, ...], place: int) -> list[tuple[Definition, int]] | None:
        """The function-like macros in whose arguments ``body[place]`` stands, with the argument's position."""
        return self._call_around(body, place)

    def _uses(self, definition: Definition, position: int) -> int:
        """How often a parameter's text is expanded into code; 2 for more than once, stringified or pasted."""
        total = 0
        work: list[tuple[Definition, int]] = [(definition, position)]
        seen: set[tuple[str, int]] = set()
        while work:
            current, index = work.pop()
            if (current.name, index) in seen or current.parameters is None:
                return 2
            seen.add((current.name, index))
            variadic = bool(current.parameters) and current.parameters[-1] == "..."
            if variadic and index >= len(current.parameters) - 1:
                parameter = "__VA_ARGS__"
            elif index < len(current.parameters):
                parameter = current.parameters[index]
            else:
                return 2
            for place, token in enumerate(current.body):
                if token != parameter:
                    continue
                before = current.body[place - 1] if place else ""
                after = current.body[place + 1] if place + 1 < len(current.body) else ""
                if before in ("#", "##") or after == "##":
                    return 2
                inner = self._call_around(current.body, place)
                if inner is None:
                    total += 1
                elif len(inner) > 1:
                    return 2
                else:
                    work.append(inner[0])
        return total

    def _call_around(self, body: tuple[str, ...], place: int) -> list[tuple[Definition, int]] | None:
        """The function-like macros in whose arguments ``body[place]`` stands, with the argument's position."""
        found: list[tuple[Definition, int]] = []
        depth = 0
        position = 0
        for i in range(place - 1, -1, -1):
            token = body[i]
            if token == ")":
                depth += 1
            elif token == "(":
                if depth:
                    depth -= 1
                    continue
                cursor = self._by_name.get(body[i - 1]) if i else None
                definition = self._define_from(cursor) if cursor is not None else None
                if definition is not None and definition.parameters is not None:
                    found.append((definition, position))
                position = 0
            elif token == "," and depth == 0:
                position += 1
        return found or None

    def definitions(self, name: str) -> list[Definition]:
        """All definitions of a name, in their order."""
        return [found for found in map(self._define_from, self._every.get(name, ())) if found is not None]

    def defined(self) -> Iterator[tuple[CXCursor, str]]:
        """Where each macro is defined that is not precompiled, with its name."""
        return zip(self._definition_cursors, self._names, strict=True)

    @cached_property
    def _names(self) -> list[str]:
        return [text(self._unit.lib.clang_getCursorSpelling(c)) for c in self._definition_cursors]

    @cached_property
    def _by_name(self) -> dict[str, CXCursor | MacroPlace]:
        return {**self._precompiled, **{name: cursor for cursor, name in self.defined()}}

    @cached_property
    def _every(self) -> dict[str, list[CXCursor | MacroPlace]]:
        """All definitions of each name, in their order."""
        out: dict[str, list[CXCursor | MacroPlace]] = {name: [place] for name, place in self._precompiled.items()}
        for cursor, name in self.defined():
            out.setdefault(name, []).append(cursor)
        return out

    def _define(self, expansion: CXCursor) -> Definition | None:
        return self._define_from(self._unit.lib.clang_getCursorReferenced(expansion))

    def _define_from(self, cursor: CXCursor | MacroPlace) -> Definition | None:
        if isinstance(cursor, MacroPlace):
            if cursor not in self._defined_at:
                handle = self._unit.lib.clang_getFile(self._unit.handle, os.fsencode(cursor.file))
                read = self._read_at(self._sources.file(handle), cursor.begin, cursor.end) if handle else None
                self._defined_at[cursor] = read
            return self._defined_at[cursor]
        key = cursor.d0
        if not key:
            return None
        if key not in self._definitions:
            self._definitions[key] = self._read(cursor)
        return self._definitions[key]

    def _read(self, cursor: CXCursor) -> Definition | None:
        extent = self._unit.lib.clang_getCursorExtent(cursor)
        file, begin = self._sources.locate(extent.begin)
        _, end = self._sources.locate(extent.end)
        return self._read_at(file, begin, end) if file is not None and end else None

    def _read_at(self, file: File, begin: int, end: int) -> Definition | None:
        words = [
            file.data[a:b].decode("utf-8", "replace") for a, b, kind in tokens(file.data, begin, end) if kind != "space"
        ]
        if not words:
            return None
        name, rest = words[0], words[1:]
        parameters: tuple[str, ...] | None = None
        name_end = begin + len(name.encode("utf-8", "surrogateescape"))
        # A parenthesis makes a macro function-like only when nothing stands between it and the name.
        if rest and rest[0] == "(" and file.data[name_end : name_end + 1] == b"(":
            close = rest.index(")") if ")" in rest else len(rest) - 1
            parameters = tuple(w for w in rest[1:close] if w != ",")
            rest = rest[close + 1 :]
        return Definition(name, parameters, tuple(rest), file.system, file.data[begin:end])


def call_arguments(body: tuple[str, ...], callee: str) -> list[tuple[str, ...]]:
    """The arguments of the only call of ``callee`` in a macro's body, as tokens; [] when there is none or several."""
    places = [i for i, t in enumerate(body) if t == callee and body[i + 1 : i + 2] == ("(",)]
    if len(places) != 1:
        return []
    out: list[tuple[str, ...]] = []
    current: list[str] = []
    depth = 0
    for token in body[places[0] + 1 :]:
        if token in ("(", "[", "{"):
            depth += 1
            if depth == 1:
                continue
        elif token in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return [*out, tuple(current)]
        elif token == "," and depth == 1:
            out.append(tuple(current))
            current = []
            continue
        current.append(token)
    return []


def _bracketed(tokens_: tuple[str, ...]) -> bool:
    """Tokens that stand in one pair of parentheses."""
    depth = 0
    for i, token in enumerate(tokens_):
        depth += (token == "(") - (token == ")")
        if depth == 0:
            return i > 0 and i == len(tokens_) - 1
    return False


def arguments_of(data: bytes, at: int, end: int) -> list[tuple[int, int]]:
    """The written arguments of the macro call whose ``(`` is at ``at``."""
    if data[at : at + 1] != b"(" or closing(data, at) is None:
        return []
    out = []
    depth = 0
    first = at + 1
    for a, b, kind in tokens(data, at, end):
        if kind != "punct" or b != a + 1:
            continue
        byte = data[a : a + 1]
        if byte == b"(":
            depth += 1
        elif byte == b")":
            depth -= 1
            if depth == 0:
                out.append((first, a))
                break
        elif byte == b"," and depth == 1:
            out.append((first, a))
            first = b
    return out
