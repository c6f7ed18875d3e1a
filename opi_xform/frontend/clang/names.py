"""What names refer to: keys of variables and functions, values of enumerators."""

from __future__ import annotations

from opi_xform.frontend.clang.libclang import CXCursor, Kind, TranslationUnit, text
from opi_xform.frontend.clang.source import Sources
from opi_xform.frontend.clang.typemap import TypeMap, as_parameter
from opi_xform.ir import ast
from opi_xform.ir.types import Type
from opi_xform.record import dataclass

_INTERNAL = 2
_NO_LINKAGE = (0, 1)
_OF_COMPILER = frozenset({"_mm_malloc", "_mm_free"})
STORAGE = {1: "", 2: "extern", 3: "static", 4: "extern", 6: "auto", 7: "register"}


@dataclass(frozen=True, slots=True)
class Target:
    """A declaration that expressions refer to.

    what: ``var``, ``func``, ``enum`` or ``other``.  ``value``: an enumerator's; ``kind``: a variable's.
    """

    what: str
    key: str
    name: str
    type: Type
    kind: str = ""
    value: int = 0


class Names:
    """Resolves declarations of one unit; each is looked at once."""

    def __init__(self, unit: TranslationUnit, unit_path: str, sources: Sources, types: TypeMap) -> None:
        self._lib = unit.lib
        self._unit_path = unit_path
        self._sources = sources
        self._types = types
        self._targets: dict[int, Target] = {}
        self._taken: dict[str, int] = {}
        self.function = ""  # key of the function being lowered
        self.cursors: dict[str, CXCursor] = {}  # first declaration seen of each global variable and function

    def target(self, cursor: CXCursor) -> Target:
        """What a declaration cursor stands for; redeclarations of one thing give equal targets."""
        found = self._targets.get(cursor.d0)
        if found is None:
            canonical = self._lib.clang_getCanonicalCursor(cursor)
            found = self._targets.get(canonical.d0)
            if found is None:
                found = self._targets[canonical.d0] = self._resolve(canonical)
            self._targets[cursor.d0] = found
        return found

    def referenced(self, expression: CXCursor) -> Target:
        return self.target(self._lib.clang_getCursorReferenced(expression))

    def _made_of(self, enum: CXCursor, name: bytes) -> bool:
        """The text of an enumeration has the name in it."""
        extent = self._lib.clang_getCursorExtent(enum)
        (file, begin), (_, end) = self._sources.locate(extent.begin), self._sources.locate(extent.end)
        return file is None or name in file.data[begin:end]

    def _of_compiler(self, function: CXCursor, name: str) -> bool:
        """A function of the library that the compiler's own header defines for each file anew."""
        file, _ = self._sources.locate(self._lib.clang_getCursorLocation(function).raw)
        return name in _OF_COMPILER and file is not None and file.system

    def _resolve(self, cursor: CXCursor) -> Target:
        lib = self._lib
        name = text(lib.clang_getCursorSpelling(cursor))
        kind = cursor.kind
        type_ = self._types.of(cursor)
        if kind == Kind.ENUM_CONSTANT_DECL:
            if self._made_of(lib.clang_getCursorSemanticParent(cursor), ast.PROC_NULL.encode()):
                name = ast.PROC_NULL
            return Target("enum", name, name, type_, value=int(lib.clang_getEnumConstantDeclValue(cursor)))
        if kind == Kind.FUNCTION_DECL:
            internal = lib.clang_getCursorLinkage(cursor) == _INTERNAL and not self._of_compiler(cursor, name)
            key = f"{self._unit_path}:{name}" if internal else name
            self.cursors.setdefault(key, cursor)
            return Target("func", key, name, type_)
        if kind not in (Kind.VAR_DECL, Kind.PARM_DECL):
            return Target("other", name, name, type_)
        linkage = lib.clang_getCursorLinkage(cursor)
        static = lib.clang_Cursor_getStorageClass(cursor) == 3
        if kind == Kind.VAR_DECL and linkage not in _NO_LINKAGE:
            key = f"{self._unit_path}:{name}" if linkage == _INTERNAL else name
            self.cursors.setdefault(key, cursor)
            return Target("var", key, name, type_, "static" if linkage == _INTERNAL else "extern")
        _, offset = self._sources.locate(lib.clang_getCursorLocation(cursor).raw)
        key = f"{self.function}/{name}@{offset}"
        # A macro that declares a variable and is used twice declares two at one place.
        count = self._taken[key] = self._taken.get(key, 0) + 1
        if count > 1:
            key += f".{count}"
        if kind == Kind.PARM_DECL:
            return Target("var", key, name, as_parameter(type_), "param")
        what = "local-static" if static else "local"
        return Target("var", key, name, type_, what)
