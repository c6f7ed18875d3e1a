"""Reads the functions that an MPI's mpi.h declares."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

from opi_xform.record import dataclass


class HeaderError(Exception):
    """The header cannot be read; the message is one line."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its name, and its declaration and type as C text."""

    name: str
    declaration: str
    type: str


@dataclass(frozen=True, slots=True)
class Function:
    """One function that mpi.h declares."""

    name: str
    result: str
    parameters: tuple[Parameter, ...]

    @property
    def types(self) -> tuple[str, ...]:
        """What a caller has to agree with; parameter names are each header's own."""
        return (self.result, *(p.type for p in self.parameters))

    @property
    def arguments(self) -> str:
        return ", ".join(p.name for p in self.parameters)

    @property
    def prototype(self) -> str:
        return f"{self.result} {self.name}({', '.join(p.declaration for p in self.parameters) or 'void'})"


_WITHOUT = ("__attribute__(x)=", "__asm__(x)=", "__extension__=", "__restrict=", "__inline=inline", "_Noreturn=")
_EXTENSIONS = [f"-D{definition}" for definition in (*_WITHOUT, "__builtin_va_list=int")]
"""What makes the C of mpi.h, and of the few system headers it includes, plain C."""


def preprocessed(mpicc: Path) -> str:
    """mpi.h as this compiler sees it, without the extensions of C that pycparser does not know. Raises HeaderError."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "header.c"
        source.write_text("#include <mpi.h>\n", encoding="utf-8")
        command = [str(mpicc), "-E", "-P", *_EXTENSIONS, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HeaderError(f"{mpicc}: {done.stderr.strip()[:300] or 'the preprocessor failed'}")
    return done.stdout


def _pointers(node: c_ast.Node) -> c_ast.Node:
    """The type of a parameter as the function sees it: an array is a pointer."""
    if isinstance(node, c_ast.ArrayDecl):
        return c_ast.PtrDecl([], _pointers(node.type))
    return node


def _without_name(node: c_ast.Node) -> str:
    declaration = c_ast.Typename(None, [], None, _pointers(node))
    inner = declaration.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    kept, inner.declname = inner.declname, None
    text: str = c_generator.CGenerator().visit(declaration)
    inner.declname = kept
    return text


def _parameters(function: c_ast.FuncDecl) -> Iterator[Parameter]:
    generator = c_generator.CGenerator()
    for index, item in enumerate(function.args.params if function.args else ()):
        if isinstance(item, c_ast.EllipsisParam):
            yield Parameter("...", "...", "...")
            continue
        text = _without_name(item.type)
        if text == "void":
            continue
        if item.name is None:
            yield Parameter(f"a{index}", f"{text} a{index}", text)
        else:
            yield Parameter(item.name, generator.visit(item), text)


def functions(text: str) -> dict[str, Function]:
    """Every function MPI_* or MPIX_* of a preprocessed header, those of the tools' interface (MPI_T) apart."""
    try:
        tree = c_parser.CParser().parse(text, "mpi.h")
    except c_parser.ParseError as error:
        raise HeaderError(f"mpi.h cannot be read: {error}") from error
    found = {}
    for item in tree.ext:
        if not isinstance(item, c_ast.Decl) or not isinstance(item.type, c_ast.FuncDecl):
            continue
        if item.name.startswith(("MPI_", "MPIX_")) and not item.name.startswith("MPI_T_"):
            result = _without_name(item.type.type)
            found[item.name] = Function(item.name, result, tuple(_parameters(item.type)))
    return found


def read_header(mpicc: Path) -> dict[str, Function]:
    """The functions that the mpi.h of this compiler declares. Raises HeaderError."""
    return functions(preprocessed(mpicc))
