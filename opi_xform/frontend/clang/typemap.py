"""libclang's types as ``ir.types``: structure from the canonical type, spelling as written, records laid out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opi_xform.frontend.clang.libclang import CONTINUE, FIELD_VISITOR, CXCursor, CXType, TranslationUnit, text
from opi_xform.ir.types import UNKNOWN, Field, Record, Type

_BOOL, _VOID = 3, 2
_UNSIGNED = {3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
_SIGNED = {13, 14, 15, 16, 17, 18, 19, 20}
_FLOATS = {21, 22, 23, 30, 31, 32, 39}
_POINTER, _RECORD, _ENUM, _NO_PROTO, _PROTO = 101, 105, 106, 110, 111
_CONSTANT_ARRAY, _INCOMPLETE_ARRAY, _VARIABLE_ARRAY, _ATOMIC = 112, 114, 115, 177
_COMPLEX, _VECTOR, _EXT_VECTOR = 100, 113, 176
_SIZED = {_POINTER, _RECORD, _ENUM, _CONSTANT_ARRAY, _ATOMIC, _COMPLEX, _VECTOR, _EXT_VECTOR}
_ARRAYS = {_CONSTANT_ARRAY, _INCOMPLETE_ARRAY, _VARIABLE_ARRAY}


class TypeMap:
    """Converts types, each once.  ``records`` holds the layout of every struct and union met on the way."""

    def __init__(self, unit: TranslationUnit, place: Callable[[CXCursor], str]) -> None:
        self._lib = unit.lib
        self._place = place
        self._types: dict[int, Type] = {}
        self._canonical: dict[int, Type] = {}
        self._fields: dict[int, tuple[str, int]] = {}
        self._record_keys: dict[int, str] = {}
        self._pending: list[tuple[str, CXType, bool]] = []
        self._finishing = False
        self.records: dict[str, Record] = {}

    def of(self, cursor: CXCursor) -> Type:
        """The type of an expression or declaration."""
        return self.convert(self._lib.clang_getCursorType(cursor))

    def alignment(self, cursor: CXCursor) -> int:
        """What a declared variable's type demands, in bytes; 0 where it is not complete."""
        return max(int(self._lib.clang_Type_getAlignOf(self._lib.clang_getCursorType(cursor))), 0)

    def convert(self, found: CXType) -> Type:
        key = found.d0
        if not key:
            return UNKNOWN
        known = self._types.get(key)
        if known is None:
            canonical = self._lib.clang_getCanonicalType(found)
            known = self._canonical.get(canonical.d0)
            if known is None:
                known = self._build(canonical)
            spelling = text(self._lib.clang_getTypeSpelling(found))
            if spelling != known.spelling:
                known = replace(known, spelling=spelling)
            self._types[key] = known
            if self._pending and not self._finishing:
                self._finish_records()
        return known

    def _build(self, canonical: CXType) -> Type:
        """Peels pointers, arrays and results down to a base, then builds back up; only parameters recurse."""
        lib = self._lib
        chain: list[CXType] = []
        current = canonical
        while True:
            done = self._canonical.get(current.d0)
            if done is not None:
                break
            chain.append(current)
            kind = current.kind
            if kind == _POINTER:
                current = lib.clang_getCanonicalType(lib.clang_getPointeeType(current))
            elif kind in _ARRAYS:
                current = lib.clang_getCanonicalType(lib.clang_getArrayElementType(current))
            elif kind in (_PROTO, _NO_PROTO):
                current = lib.clang_getCanonicalType(lib.clang_getResultType(current))
            elif kind == _ATOMIC:
                current = lib.clang_getCanonicalType(lib.clang_Type_getValueType(current))
            else:
                break
        for one in reversed(chain):
            done = self._canonical[one.d0] = self._one(one, done)
        assert done is not None
        return done

    def _one(self, t: CXType, inner: Type | None) -> Type:
        lib = self._lib
        kind = t.kind
        spelling = text(lib.clang_getTypeSpelling(t))
        const = bool(lib.clang_isConstQualifiedType(t))
        volatile = bool(lib.clang_isVolatileQualifiedType(t))
        # Asking for the size of a placeholder type (a builtin function's) ends the process.
        sized = kind in _UNSIGNED or kind in _SIGNED or kind in _FLOATS or kind in _SIZED
        size: int | None = lib.clang_Type_getSizeOf(t) if sized else None
        if size is not None and size < 0:
            size = None
        common = {"const": const, "volatile": volatile}
        if kind == _VOID:
            return Type("void", spelling, **common)  # type: ignore[arg-type]
        if kind in _UNSIGNED or kind in _SIGNED:
            signed, boolean = kind in _SIGNED, kind == _BOOL
            return Type("int", spelling, size, signed, const=const, volatile=volatile, boolean=boolean)
        if kind == _COMPLEX and not spelling.endswith(("float", "double", "_Float128")):
            return Type("unknown", spelling, size, const=const, volatile=volatile)  # GNU's complex integers
        if kind in _FLOATS or kind == _COMPLEX:
            return Type("float", spelling, size, const=const, volatile=volatile)
        if kind == _ENUM:
            integer = lib.clang_getEnumDeclIntegerType(lib.clang_getTypeDeclaration(t))
            signed = lib.clang_getCanonicalType(integer).kind in _SIGNED
            return Type("int", spelling, size, signed, const=const, volatile=volatile)
        if kind == _RECORD:
            return Type("record", spelling, size, record=self._record_key(t), const=const, volatile=volatile)
        if inner is None:
            return Type("unknown", spelling, size, const=const, volatile=volatile)
        if kind == _POINTER:
            return Type("pointer", spelling, size, signed=False, elem=inner, const=const, volatile=volatile)
        if kind in _ARRAYS:
            count = lib.clang_getArraySize(t) if kind == _CONSTANT_ARRAY else None
            return Type(
                "array",
                spelling,
                size if kind == _CONSTANT_ARRAY and not inner.vla else None,
                elem=inner,
                count=count,
                vla=kind == _VARIABLE_ARRAY or inner.vla,
                const=const or inner.const,
                volatile=volatile or inner.volatile,
                atomic=inner.atomic,
            )
        if kind == _ATOMIC:
            return replace(inner, spelling=spelling, atomic=True, const=const, volatile=volatile)
        params: tuple[Type, ...] | None = None
        if kind == _PROTO:
            count = lib.clang_getNumArgTypes(t)
            params = tuple(as_parameter(self.convert(lib.clang_getArgType(t, i))) for i in range(count))
        variadic = kind == _PROTO and bool(lib.clang_isFunctionTypeVariadic(t))
        return Type("function", spelling, None, elem=inner, params=params, variadic=variadic)

    # --- records ----------------------------------------------------------------------------------

    def _record_key(self, t: CXType) -> str:
        declaration = self._lib.clang_getTypeDeclaration(t)
        canonical = self._lib.clang_getCanonicalCursor(declaration)
        key = self._record_keys.get(canonical.d0)
        if key is None:
            key = text(self._lib.clang_getCursorUSR(canonical)) or self._place(canonical)
            if "@SA@" in key or "@UA@" in key or key.endswith("@"):
                key += "@" + self._place(canonical)
            self._record_keys[canonical.d0] = key
            self._pending.append((key, t, declaration.kind == 3))
        return key

    def _finish_records(self) -> None:
        """Lays out the records met so far; a worklist, so that chains of records cost no stack."""
        self._finishing = True
        while self._pending:
            key, t, union = self._pending.pop()
            if key in self.records:
                continue
            size = self._lib.clang_Type_getSizeOf(t)
            spelling = text(self._lib.clang_getTypeSpelling(t)).replace("const ", "").replace("volatile ", "")
            # Entered first without members: a member's type may lead back here.
            self.records[key] = Record(key, spelling, union, size if size >= 0 else None, ())
            fields = tuple(self._members(t, 0)) if size >= 0 else ()
            self.records[key] = replace(self.records[key], fields=fields)
        self._finishing = False

    def _members(self, t: CXType, base: int) -> list[Field]:
        """Members with their offsets in bytes; those of anonymous structs and unions stand in their place."""
        lib = self._lib
        found: list[CXCursor] = []

        def visit(cursor: CXCursor, _data: object) -> int:
            found.append(cursor)
            return CONTINUE

        lib.clang_Type_visitFields(t, FIELD_VISITOR(visit), None)
        out: list[Field] = []
        for cursor in found:
            bits = lib.clang_Cursor_getOffsetOfField(cursor)
            offset = base + max(bits, 0) // 8
            name = text(lib.clang_getCursorSpelling(cursor))
            raw = lib.clang_getCursorType(cursor)
            type_ = self.convert(raw)
            if type_.kind == "record" and (not name or "(anonymous" in name or "(unnamed" in name):
                out += self._members(lib.clang_getCanonicalType(raw), offset)
            elif name:
                out.append(Field(name, type_, offset, bool(lib.clang_Cursor_isBitField(cursor))))
        return out


def as_parameter(type_: Type) -> Type:
    """A parameter's type as C adjusts it: arrays and functions become pointers (libclang answers as written)."""
    if type_.kind == "function":
        return Type("pointer", f"{type_.spelling} *", 8, signed=False, elem=type_)
    if type_.kind != "array" or type_.elem is None:
        return type_
    head, _, rest = type_.spelling.partition("[")
    rest = rest.partition("]")[2]
    spelling = f"{head.rstrip()} (*){rest}" if rest else f"{type_.elem.spelling} *"
    return Type("pointer", spelling, 8, signed=False, elem=type_.elem)
