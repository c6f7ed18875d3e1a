"""A thin ctypes layer over the libclang that the ``libclang`` wheel ships.

Only what the front end calls is declared.  Structures are passed by value as libclang's C interface has them.  Strings
come back as ``str`` with surrogate escapes, so that bytes of any encoding survive.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_longlong, c_uint, c_ulong, c_ulonglong, c_void_p
from enum import IntEnum
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from opi_xform.frontend.errors import FrontendError

MACRO_BIT = 0x80000000
"""Set in the raw encoding of a location that lies in a macro expansion."""


class CXString(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("flags", c_uint)]


class CXCursor(ctypes.Structure):
    """``d0`` is the declaration of a declaration cursor, ``d1`` the statement of a statement or expression cursor."""

    _fields_ = [("kind", c_int), ("xdata", c_int), ("d0", c_void_p), ("d1", c_void_p), ("d2", c_void_p)]


class CXType(ctypes.Structure):
    _fields_ = [("kind", c_int), ("d0", c_void_p), ("d1", c_void_p)]


class CXSourceLocation(ctypes.Structure):
    _fields_ = [("p0", c_void_p), ("p1", c_void_p), ("raw", c_uint)]


class CXSourceRange(ctypes.Structure):
    _fields_ = [("p0", c_void_p), ("p1", c_void_p), ("begin", c_uint), ("end", c_uint)]


class CXSourceRangeList(ctypes.Structure):
    _fields_ = [("count", c_uint), ("ranges", POINTER(CXSourceRange))]


class CXUnsavedFile(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("contents", c_char_p), ("length", c_ulong)]


CURSOR_VISITOR = ctypes.CFUNCTYPE(c_int, CXCursor, CXCursor, c_void_p)
FIELD_VISITOR = ctypes.CFUNCTYPE(c_int, CXCursor, c_void_p)
INCLUSION_VISITOR = ctypes.CFUNCTYPE(None, c_void_p, POINTER(CXSourceLocation), c_uint, c_void_p)

BREAK, CONTINUE, RECURSE = 0, 1, 2


class Kind(IntEnum):
    """Cursor kinds (``CXCursorKind``) that the front end tells apart."""

    UNEXPOSED_DECL = 1
    STRUCT_DECL = 2
    UNION_DECL = 3
    ENUM_DECL = 5
    FIELD_DECL = 6
    ENUM_CONSTANT_DECL = 7
    FUNCTION_DECL = 8
    VAR_DECL = 9
    PARM_DECL = 10
    TYPEDEF_DECL = 20
    TYPE_REF = 43
    MEMBER_REF = 47
    LABEL_REF = 48
    UNEXPOSED_EXPR = 100
    DECL_REF_EXPR = 101
    MEMBER_REF_EXPR = 102
    CALL_EXPR = 103
    INTEGER_LITERAL = 106
    FLOATING_LITERAL = 107
    IMAGINARY_LITERAL = 108
    STRING_LITERAL = 109
    CHARACTER_LITERAL = 110
    PAREN_EXPR = 111
    UNARY_OPERATOR = 112
    ARRAY_SUBSCRIPT_EXPR = 113
    BINARY_OPERATOR = 114
    COMPOUND_ASSIGN_OPERATOR = 115
    CONDITIONAL_OPERATOR = 116
    CSTYLE_CAST_EXPR = 117
    COMPOUND_LITERAL_EXPR = 118
    INIT_LIST_EXPR = 119
    ADDR_LABEL_EXPR = 120
    STMT_EXPR = 121
    GENERIC_SELECTION_EXPR = 122
    UNARY_EXPR = 136
    LAST_EXPR = 199
    UNEXPOSED_STMT = 200
    LABEL_STMT = 201
    COMPOUND_STMT = 202
    CASE_STMT = 203
    DEFAULT_STMT = 204
    IF_STMT = 205
    SWITCH_STMT = 206
    WHILE_STMT = 207
    DO_STMT = 208
    FOR_STMT = 209
    GOTO_STMT = 210
    INDIRECT_GOTO_STMT = 211
    CONTINUE_STMT = 212
    BREAK_STMT = 213
    RETURN_STMT = 214
    ASM_STMT = 215
    MS_ASM_STMT = 229
    NULL_STMT = 230
    DECL_STMT = 231
    FIRST_DIRECTIVE = 232  # OpenMP's and OpenACC's
    LAST_STMT = 349
    STATIC_ASSERT = 602
    TRANSLATION_UNIT = 350
    FIRST_ATTRIBUTE = 400
    LABEL_ATTRIBUTE = 407
    LAST_ATTRIBUTE = 499
    MACRO_DEFINITION = 501
    MACRO_EXPANSION = 502
    INCLUSION_DIRECTIVE = 503


def library_path() -> Path:
    """The shared library inside the installed ``libclang`` wheel, without importing its bindings' cursor classes."""
    spec = find_spec("clang")
    for place in (spec.submodule_search_locations or []) if spec else []:
        path = Path(place) / "native" / "libclang.so"
        if path.is_file():
            return path
    raise FrontendError("libclang", 0, 0, "the libclang package is not installed (pip install libclang)")


_CUR, _TYP, _LOC, _RNG, _STR = CXCursor, CXType, CXSourceLocation, CXSourceRange, CXString
_OUT = [POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)]

_SIGNATURES: dict[str, tuple[list[Any], Any]] = {
    "clang_createIndex": ([c_int, c_int], c_void_p),
    "clang_disposeIndex": ([c_void_p], None),
    "clang_parseTranslationUnit2": (
        [c_void_p, c_char_p, POINTER(c_char_p), c_int, POINTER(CXUnsavedFile), c_uint, c_uint, POINTER(c_void_p)],
        c_int,
    ),
    "clang_disposeTranslationUnit": ([c_void_p], None),
    "clang_saveTranslationUnit": ([c_void_p, c_char_p, c_uint], c_int),
    "clang_getTranslationUnitCursor": ([c_void_p], _CUR),
    "clang_visitChildren": ([_CUR, CURSOR_VISITOR, c_void_p], c_uint),
    "clang_getCString": ([_STR], c_char_p),
    "clang_disposeString": ([_STR], None),
    "clang_getNumDiagnostics": ([c_void_p], c_uint),
    "clang_getDiagnostic": ([c_void_p, c_uint], c_void_p),
    "clang_disposeDiagnostic": ([c_void_p], None),
    "clang_getDiagnosticSeverity": ([c_void_p], c_int),
    "clang_getDiagnosticLocation": ([c_void_p], _LOC),
    "clang_getDiagnosticSpelling": ([c_void_p], _STR),
    "clang_getFile": ([c_void_p, c_char_p], c_void_p),
    "clang_getFileName": ([c_void_p], _STR),
    "clang_getFileContents": ([c_void_p, c_void_p, POINTER(ctypes.c_size_t)], c_void_p),
    "clang_getFileLocation": ([_LOC, *_OUT], None),
    "clang_getLocationForOffset": ([c_void_p, c_void_p, c_uint], _LOC),
    "clang_Location_isInSystemHeader": ([_LOC], c_int),
    "clang_isFileMultipleIncludeGuarded": ([c_void_p, c_void_p], c_uint),
    "clang_getInclusions": ([c_void_p, INCLUSION_VISITOR, c_void_p], None),
    "clang_getIncludedFile": ([_CUR], c_void_p),
    "clang_getAllSkippedRanges": ([c_void_p], POINTER(CXSourceRangeList)),
    "clang_disposeSourceRangeList": ([POINTER(CXSourceRangeList)], None),
    "clang_getCursorExtent": ([_CUR], _RNG),
    "clang_getCursorLocation": ([_CUR], _LOC),
    "clang_getCursorSpelling": ([_CUR], _STR),
    "clang_getCursorUSR": ([_CUR], _STR),
    "clang_getCursorReferenced": ([_CUR], _CUR),
    "clang_getCanonicalCursor": ([_CUR], _CUR),
    "clang_getCursorSemanticParent": ([_CUR], _CUR),
    "clang_getCursorLinkage": ([_CUR], c_int),
    "clang_getCursorTLSKind": ([_CUR], c_int),
    "clang_Cursor_hasAttrs": ([_CUR], c_uint),
    "clang_getCursorPrintingPolicy": ([_CUR], c_void_p),
    "clang_PrintingPolicy_setProperty": ([c_void_p, c_int, c_uint], None),
    "clang_PrintingPolicy_dispose": ([c_void_p], None),
    "clang_getCursorPrettyPrinted": ([_CUR, c_void_p], _STR),
    "clang_Cursor_getStorageClass": ([_CUR], c_int),
    "clang_Cursor_getVarDeclInitializer": ([_CUR], _CUR),
    "clang_isCursorDefinition": ([_CUR], c_uint),
    "clang_getCursorType": ([_CUR], _TYP),
    "clang_getCursorBinaryOperatorKind": ([_CUR], c_int),
    "clang_getCursorUnaryOperatorKind": ([_CUR], c_int),
    "clang_getEnumConstantDeclValue": ([_CUR], c_longlong),
    "clang_getEnumDeclIntegerType": ([_CUR], _TYP),
    "clang_Cursor_isMacroFunctionLike": ([_CUR], c_uint),
    "clang_Cursor_isMacroBuiltin": ([_CUR], c_uint),
    "clang_Cursor_Evaluate": ([_CUR], c_void_p),
    "clang_EvalResult_getKind": ([c_void_p], c_int),
    "clang_EvalResult_isUnsignedInt": ([c_void_p], c_uint),
    "clang_EvalResult_getAsDouble": ([c_void_p], c_double),
    "clang_EvalResult_getAsLongLong": ([c_void_p], c_longlong),
    "clang_EvalResult_getAsUnsigned": ([c_void_p], c_ulonglong),
    "clang_EvalResult_dispose": ([c_void_p], None),
    "clang_getCanonicalType": ([_TYP], _TYP),
    "clang_getTypeSpelling": ([_TYP], _STR),
    "clang_getTypeDeclaration": ([_TYP], _CUR),
    "clang_getPointeeType": ([_TYP], _TYP),
    "clang_getArrayElementType": ([_TYP], _TYP),
    "clang_getArraySize": ([_TYP], c_longlong),
    "clang_getResultType": ([_TYP], _TYP),
    "clang_getNumArgTypes": ([_TYP], c_int),
    "clang_getArgType": ([_TYP, c_uint], _TYP),
    "clang_isFunctionTypeVariadic": ([_TYP], c_uint),
    "clang_isConstQualifiedType": ([_TYP], c_uint),
    "clang_isVolatileQualifiedType": ([_TYP], c_uint),
    "clang_Type_getSizeOf": ([_TYP], c_longlong),
    "clang_Type_getAlignOf": ([_TYP], c_longlong),
    "clang_Type_getValueType": ([_TYP], _TYP),
    "clang_Type_visitFields": ([_TYP, FIELD_VISITOR, c_void_p], c_uint),
    "clang_Cursor_getOffsetOfField": ([_CUR], c_longlong),
    "clang_Cursor_isBitField": ([_CUR], c_uint),
}


@lru_cache(maxsize=1)
def library() -> Any:
    """The loaded library, its functions typed.  One per process."""
    # Parse on the calling thread, whose stack the caller chose, not on one of libclang's with 8 MiB.
    os.environ.setdefault("LIBCLANG_NOTHREADS", "1")
    lib = ctypes.CDLL(str(library_path()))
    for name, (arguments, result) in _SIGNATURES.items():
        function = getattr(lib, name)
        function.argtypes = arguments
        function.restype = result
    return lib


def text(value: CXString) -> str:
    """The string, and its storage given back."""
    lib = library()
    raw = lib.clang_getCString(value)
    out = raw.decode("utf-8", "surrogateescape") if raw is not None else ""
    lib.clang_disposeString(value)
    return out


def evaluate(cursor: CXCursor) -> int | None:
    """The value of an integer constant expression, None when it is none."""
    lib = library()
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        if lib.clang_EvalResult_getKind(result) != 1:
            return None
        if lib.clang_EvalResult_isUnsignedInt(result):
            return int(lib.clang_EvalResult_getAsUnsigned(result))
        return int(lib.clang_EvalResult_getAsLongLong(result))
    finally:
        lib.clang_EvalResult_dispose(result)


KEEP_GOING = 0x200
"""An option: headers that are not found do not end the parse."""
IMPLICIT = 0x2000
"""An option: attributes that the text does not write where they count are visited, too."""


class TranslationUnit:
    """A parsed file, to be used in a ``with`` block: nothing taken from it may be used after the block.

    ``unsaved`` replaces or supplies file contents.  ``options``: 1 is the detailed preprocessing record,
    ``IMPLICIT`` shows attributes that pragmas give.
    Raises FrontendError when libclang gives nothing back (it crashed, or cannot read the file).
    """

    def __init__(
        self, path: str, arguments: list[str], unsaved: dict[str, bytes] | None = None, options: int = 1
    ) -> None:
        lib = library()
        self.lib = lib
        self.index = lib.clang_createIndex(1, 0)  # what is precompiled is not visited
        self.handle = c_void_p()
        argv = (c_char_p * len(arguments))(*[os.fsencode(a) for a in arguments])
        files = (CXUnsavedFile * len(unsaved or {}))(
            *[CXUnsavedFile(os.fsencode(n), data, len(data)) for n, data in (unsaved or {}).items()]
        )
        code = lib.clang_parseTranslationUnit2(
            self.index, os.fsencode(path), argv, len(arguments), files, len(files), options, byref(self.handle)
        )
        if code != 0 or not self.handle:
            lib.clang_disposeIndex(self.index)
            reason = {
                1: "clang cannot work with its flags",
                2: "the parser gave up on it (nested too deeply?)",
                4: "clang does not understand its flags",
            }
            raise FrontendError(path, 0, 0, "cannot be parsed: " + reason.get(code, "libclang failed"))

    def __enter__(self) -> TranslationUnit:
        return self

    def __exit__(self, *_: object) -> None:
        self.lib.clang_disposeTranslationUnit(self.handle)
        self.lib.clang_disposeIndex(self.index)

    def top_level(self) -> list[CXCursor]:
        """The unit's direct children, preprocessing entities included, in libclang's order."""
        found: list[CXCursor] = []
        add = found.append

        def visit(cursor: CXCursor, _parent: CXCursor, _data: object) -> int:
            add(cursor)
            return CONTINUE

        self.lib.clang_visitChildren(self.lib.clang_getTranslationUnitCursor(self.handle), CURSOR_VISITOR(visit), None)
        return found

    def diagnostics(self) -> list[tuple[int, str, int, int, str]]:
        """(severity, file, line, column, message); severity 2 is a warning, 3 an error, 4 fatal."""
        lib = self.lib
        out = []
        for i in range(lib.clang_getNumDiagnostics(self.handle)):
            diagnostic = lib.clang_getDiagnostic(self.handle, i)
            file, line, column, _ = self.file_location(lib.clang_getDiagnosticLocation(diagnostic))
            name = text(lib.clang_getFileName(file)) if file else ""
            message = text(lib.clang_getDiagnosticSpelling(diagnostic))
            out.append((int(lib.clang_getDiagnosticSeverity(diagnostic)), name, line, column, message))
            lib.clang_disposeDiagnostic(diagnostic)
        return out

    def file_location(self, location: CXSourceLocation) -> tuple[int | None, int, int, int]:
        """Where the location is written: (file handle, line, column, byte offset)."""
        handle, line, column, offset = c_void_p(), c_uint(), c_uint(), c_uint()
        self.lib.clang_getFileLocation(location, byref(handle), byref(line), byref(column), byref(offset))
        return handle.value, line.value, column.value, offset.value

    def contents(self, file: int) -> bytes:
        """The bytes of a file as the parser read them."""
        size = ctypes.c_size_t()
        start = self.lib.clang_getFileContents(self.handle, file, byref(size))
        return ctypes.string_at(start, size.value) if start else b""

    def inclusions(self) -> list[int]:
        """Handles of all files read, the main file first."""
        found: list[int] = []

        def visit(file: int, _stack: object, _depth: int, _data: object) -> None:
            found.append(file)

        self.lib.clang_getInclusions(self.handle, INCLUSION_VISITOR(visit), None)
        return found

    def is_guarded(self, file: int) -> bool:
        """A file's text counts once, however often it is included."""
        return bool(self.lib.clang_isFileMultipleIncludeGuarded(self.handle, file))

    def skipped(self) -> list[tuple[CXSourceLocation, CXSourceLocation]]:
        """The ranges that preprocessor conditions left out, in all files."""
        listed = self.lib.clang_getAllSkippedRanges(self.handle)
        if not listed:
            return []
        out = []
        for i in range(listed.contents.count):
            r = listed.contents.ranges[i]
            out.append((CXSourceLocation(r.p0, r.p1, r.begin), CXSourceLocation(r.p0, r.p1, r.end)))
        self.lib.clang_disposeSourceRangeList(listed)
        return out
