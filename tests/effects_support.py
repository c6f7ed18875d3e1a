"""Comparing entries of the effects tables with C prototypes, for the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pycparser import c_ast, c_parser

from opi_xform.effects.model import ArgRegion, FunctionEffect


def mpicc() -> str:
    """The MPI under test: $OPI_MPICC, the one beside this Python, or one on the PATH."""
    beside = Path(sys.executable).parent / "mpicc"
    found = os.environ.get("OPI_MPICC") or (str(beside) if beside.exists() else shutil.which("mpicc"))
    if not found:
        pytest.skip("no mpicc found")
    return found


@dataclass(frozen=True)
class Param:
    """type: base type's name; stars: levels of indirection, arrays counted; const: the pointee (or value) is const."""

    name: str
    type: str
    stars: int
    const: bool
    variadic: bool = False


def _param(node: c_ast.Node) -> Param:
    if isinstance(node, c_ast.EllipsisParam):
        return Param("...", "", 0, False, variadic=True)
    name, stars, where = node.name or "", 0, node.type
    while isinstance(where, c_ast.PtrDecl | c_ast.ArrayDecl):
        stars, where = stars + 1, where.type
    if isinstance(where, c_ast.FuncDecl):
        return Param(name, "function", stars, False)
    base = where.type
    spelled = " ".join(base.names) if isinstance(base, c_ast.IdentifierType) else getattr(base, "name", "")
    return Param(name, spelled, stars, "const" in where.quals)


HIDDEN = (
    "__attribute__(x)= __extension__= __restrict= __asm__(x)= __inline= __inline__= _Noreturn= _Complex= "
    "__signed__=signed __builtin_va_list=char* "
    "_Float128=double _Float32=float _Float64=double _Float32x=double _Float64x=double"
)


def prototypes(compiler: str, headers: Sequence[str], options: Sequence[str] = ()) -> dict[str, tuple[Param, ...]]:
    """Every function that the headers declare or define, with its parameters; GNU C's extensions are hidden."""
    text = subprocess.run(
        [compiler, "-E", "-P", *options, *(f"-D{m}" for m in HIDDEN.split()), "-x", "c", "-"],
        input="".join(f"#include <{h}>\n" for h in headers),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    found: dict[str, tuple[Param, ...]] = {}
    for node in c_parser.CParser().parse(text).ext:
        decl = node.decl if isinstance(node, c_ast.FuncDef) else node
        if isinstance(decl, c_ast.Decl) and isinstance(decl.type, c_ast.FuncDecl):
            params = [_param(p) for p in (decl.type.args.params if decl.type.args else [])]
            if len(params) == 1 and params[0].type == "void" and params[0].stars == 0:
                params = []
            found[decl.name] = tuple(params)
    return found


# Types of lengths and counts; types of pointers in disguise; the library's own objects, which are no program's memory.
COUNTS = ("int", "MPI_Count", "MPI_Aint", "long", "ptrdiff_t", "size_t", "ssize_t", "socklen_t", "nfds_t")
HANDLES = ("__gnuc_va_list", "__SOCKADDR_ARG", "__CONST_SOCKADDR_ARG", "sigjmp_buf", "jmp_buf")
OWN = ("FILE", "__FILE", "DIR", "va_list")
# Pointers that are taken for their value alone, and the variable arguments of `open` and `sem_open` (integers).
UNTOUCHED = {
    *(("mlock", 0), ("munlock", 0), ("posix_madvise", 0), ("mincore", 0), ("mmap", 0), ("mmap64", 0), ("shmat", 1)),
    *(("open", 2), ("open64", 2), ("openat", 3), ("sem_open", 2), ("malloc_usable_size", 0)),
    *(("MPI_Get_address", 0), ("MPI_Address", 0)),
}

# Pointers to a pointer that is set, to characters that are not.
SET = {("mbsrtowcs", 1), ("mbsnrtowcs", 1), ("wcsrtombs", 1), ("wcsnrtombs", 1)}


def _regions(effect: FunctionEffect) -> Iterator[ArgRegion]:
    yield from effect.reads
    yield from effect.all_writes


def _indices(effect: FunctionEffect) -> Iterator[int]:
    """Every argument number that the entry mentions."""
    for region in _regions(effect):
        yield region.arg
        if region.in_place is not None:
            yield region.in_place
        yield from (f.value for f in region.length or () if f.kind in ("arg", "extent"))
    yield from effect.retains
    yield from effect.may_yield_proc_null
    yield from effect.nonnegative
    yield from (c.arg for c in effect.calls)
    yield from (p for c in effect.calls for p in c.passes if p is not None)
    yield from (f.target for f in effect.flows)
    yield from (f.source for f in effect.flows if f.source is not None)
    if effect.allocates is not None:
        yield from (f.value for f in effect.allocates.size or () if f.kind in ("arg", "extent"))
        yield from (i for i in (effect.allocates.into, effect.allocates.copies_from) if i is not None)
    if effect.frees is not None:
        yield effect.frees.arg
    op = effect.mpi
    if op is None:
        return
    yield from (
        i
        for i in (op.comm, op.root, op.peer, op.tag, op.request, op.requests_count, op.status, op.message, op.flag)
        if i is not None
    )
    for side in (op.send, op.recv):
        if side is not None:
            parts = (side.buf, side.count, side.type, side.peer, side.tag, side.displs)
            yield from (i for i in parts if i is not None)
    if (done := op.completes) is not None:
        parts = (done.requests, done.count, done.flag, done.index, done.outcount, done.status)
        yield from (i for i in parts if i is not None)


def problems(name: str, effect: FunctionEffect, params: tuple[Param, ...]) -> list[str]:
    """What an entry says that the prototype contradicts."""
    bad: list[str] = []
    if any(i >= len(params) for i in _indices(effect)):
        return [f"{name}: an argument number is out of range"]

    def must(what: str, index: int | None, *types: str, stars: int | None = None) -> None:
        if index is None:
            return
        p = params[index]
        if p.type not in types or (stars is not None and p.stars != stars):
            bad.append(f"{name}: {what} is argument {index}, which is {p.type} {'*' * p.stars}{p.name}")

    written = {r.arg for r in effect.all_writes if not r.indirect and not r.rest}
    touched = {r.arg for r in _regions(effect)} | set(effect.retains) | {c.arg for c in effect.calls}
    touched |= {f.target for f in effect.flows} | ({effect.frees.arg} if effect.frees else set())
    touched |= {i for c in effect.calls for i in c.passes if i is not None}
    rest = min((r.arg for r in _regions(effect) if r.rest), default=len(params))
    touched |= {i for i, p in enumerate(params) if i >= rest or p.type in OWN or (name, i) in UNTOUCHED}
    for i, p in enumerate(params):
        if p.stars and p.const and i in written and (name, i) not in SET:
            bad.append(f"{name}: writes argument {i}, which is const {p.type} *{p.name}")
        if p.stars and p.const and i not in touched:
            bad.append(f"{name}: const {p.type} *{p.name} is an input, but argument {i} is not read")
        if p.stars and not p.const and i not in touched:
            bad.append(f"{name}: nothing is said of argument {i}, {p.type} *{p.name}")
        if p.variadic and i not in touched:
            bad.append(f"{name}: nothing is said of the variable arguments")
    for region in _regions(effect):
        p = params[region.arg]
        if p.stars == 0 and not p.variadic and p.type not in HANDLES and not region.rest:
            bad.append(f"{name}: argument {region.arg}, {p.type} {p.name}, is no pointer")
        for f in region.length or ():
            if f.kind == "arg":
                must("a length", f.value, *COUNTS, stars=0)
            elif f.kind == "extent":
                must("a datatype", f.value, "MPI_Datatype", stars=0)
            elif f.kind == "elem" and p.type == "void" and p.stars == 1:
                bad.append(f"{name}: void *{p.name} has no element size")
    op = effect.mpi
    if op is None:
        return bad
    must("mpi.comm", op.comm, "MPI_Comm", stars=0)
    must("mpi.root", op.root, "int", stars=0)
    must("mpi.peer", op.peer, "int", stars=0)
    must("mpi.tag", op.tag, "int", stars=0)
    must("mpi.request", op.request, "MPI_Request", stars=1)
    must("mpi.requests_count", op.requests_count, "int", stars=0)
    must("mpi.status", op.status, "MPI_Status", stars=1)
    must("mpi.message", op.message, "MPI_Message", stars=1)
    must("mpi.flag", op.flag, "int", stars=1)
    for label, side in (("send", op.send), ("recv", op.recv)):
        if side is not None:
            must(f"{label}.buf", side.buf, "void", stars=1)
            must(f"{label}.count", side.count, *COUNTS, stars=1 if side.vector else 0)
            must(f"{label}.type", side.type, "MPI_Datatype", stars=1 if side.type_vector else 0)
            must(f"{label}.displs", side.displs, *COUNTS, stars=1)
            must(f"{label}.peer", side.peer, "int", stars=0)
            must(f"{label}.tag", side.tag, "int", stars=0)
            wanted = ("source", "dest") if op.mode == "partitioned" else ("dest",) if label == "send" else ("source",)
            if side.peer is not None and params[side.peer].name not in ("", *wanted):
                bad.append(f"{name}: {label}.peer is called {params[side.peer].name}")
            if side.tag is not None and params[side.tag].name not in ("", "tag", f"{label}tag"):
                bad.append(f"{name}: {label}.tag is called {params[side.tag].name}")
    if (done := op.completes) is not None:
        must("completes.requests", done.requests, "MPI_Request")
        must("completes.count", done.count, "int", stars=0)
        must("completes.flag", done.flag, "int", stars=1)
        must("completes.index", done.index, "int", stars=1)
        must("completes.outcount", done.outcount, "int", stars=1)
        must("completes.status", done.status, "MPI_Status", stars=1)
    return bad
