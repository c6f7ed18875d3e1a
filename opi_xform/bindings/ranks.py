"""Writes the entry points of libopi_ranks, for one MPI: every function that its mpi.h declares gets one.

A function is defined by a source of runtime/ranks, made of an expression or a collective of ranks.toml, passed to the
MPI below, or ends the job with its name. libopi_ranks is built where it is used, so these are the functions of the MPI
at hand, whatever its version.

A program may call a function by its name PMPI_x, and may define MPI_x itself, to profile. So the engine's function is
`__wrap_PMPI_x`, to which the linker turns who calls PMPI_x; MPI_x is a weak function that calls it; and the engine
reaches the MPI below as `__real_PMPI_x`. The sources say MPI_x and PMPI_x: `opir_symbols` has objcopy rename them.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opi_xform.bindings.header import Function, HeaderError, read_header
from opi_xform.bindings.table import TableError
from opi_xform.record import dataclass
from opi_xform.resources import resource
from opi_xform.toml import load_toml

WRAPPED = (
    *("main", "exit", "atexit"),
    *("printf", "vprintf", "fprintf", "vfprintf", "puts", "fputs", "putchar", "putc", "fputc", "fwrite", "fflush"),
    *("__printf_chk", "__vprintf_chk", "__fprintf_chk", "__vfprintf_chk"),
    *("strtok", "rand", "srand", "random", "srandom", "initstate", "setstate"),
    *("drand48", "erand48", "lrand48", "nrand48", "mrand48", "jrand48", "srand48", "seed48", "lcong48"),
    *("localtime", "gmtime", "asctime", "ctime"),
)
"""Functions whose callers get the library's, besides those of MPI: main and what ends a rank (start.c), what prints
(out.c), what the C library remembers between calls (libc.c)."""

TABLE = Path(__file__).with_name("ranks.toml")
_DEFINED = re.compile(r"^\s*EXPORT [\w ]+?\*?\s*(MPIX?_\w+)\(", re.M)
_CONVERTED = re.compile(r"^CONVERSIONS\(\w+, (\w+),", re.M)
_INTS = re.compile(r"^INTS\(\w+, (\w+)\)", re.M)


@dataclass(frozen=True, slots=True)
class RanksTable:
    """What is not written by hand."""

    expression: Mapping[str, str]
    collective: Mapping[str, str]
    below: tuple[str, ...]
    serial: tuple[str, ...]


def read_ranks_table(path: Path = TABLE) -> RanksTable:
    """The table as shipped."""
    data = load_toml(path)
    below = data["below"]
    return RanksTable(
        dict(data["expression"]), dict(data["collective"]), tuple(below["patterns"]), tuple(below["serial"])
    )


def ranks_source_dir() -> Path:
    """The C sources of libopi_ranks."""
    return resource("runtime", "ranks")


def written(directory: Path) -> frozenset[str]:
    """The functions of MPI that the sources define by hand."""
    found: set[str] = set()
    for source in sorted(directory.rglob("*.c")):
        text = source.read_text(encoding="utf-8")
        found.update(_DEFINED.findall(text))
        for name in _CONVERTED.findall(text):
            found.update((f"{name}_c2f", f"{name}_f2c"))
        for name in _INTS.findall(text):
            found.update((f"{name}_toint", f"{name}_fromint"))
    return frozenset(found)


_ARGUMENT = {
    "sendbuf": "sbuf",
    "recvbuf": "rbuf",
    "buffer": "rbuf",
    "sendcount": "scount",
    "recvcount": "rcount",
    "count": "rcount",
    "sendcounts": "scounts",
    "recvcounts": "rcounts",
    "sdispls": "sdispls",
    "rdispls": "rdispls",
    "sendtype": "stype",
    "recvtype": "rtype",
    "datatype": "rtype",
    "sendtypes": "stypes",
    "recvtypes": "rtypes",
    "op": "op",
    "root": "root",
}
_ELSEWHERE = frozenset({"comm", "info", "request"})


def collective_of(name: str, table: RanksTable) -> str | None:
    """The collective that a function is a form of: nonblocking, persistent, with large counts."""
    base = name.removeprefix("MPI_").removesuffix("_c").removesuffix("_init")
    if base in table.collective:
        return base
    if base.startswith("I") and (base := base[1:2].upper() + base[2:]) in table.collective:
        return base
    return None


def _collective(function: Function, base: str, table: RanksTable) -> str:
    """The call of the engine. Raises TableError where a parameter has a name that is not known."""
    names = [p.name for p in function.parameters]
    fields = [f".kind = {table.collective[base]}"]
    sends = receives = False
    for name in names:
        if name in _ELSEWHERE:
            continue
        field = _ARGUMENT.get(name)
        if name == "displs":
            field = "sdispls" if "sendcounts" in names else "rdispls"
        if field is None:
            raise TableError(f"{function.name}: parameter {name} is not known")
        sends |= field.startswith("s")
        receives |= field.startswith("r") and field != "root"
        fields.append(f".{field} = {name}")
    counts = [n for n in names if n in ("sendcounts", "recvcounts")]
    displacements = [n for n in names if n in ("displs", "sdispls", "rdispls")]
    if counts:
        fields += [".v = true", f".csize = sizeof *{counts[0]}"]
    if displacements:
        fields.append(f".dsize = sizeof *{displacements[0]}")
    if "sendtypes" in names:
        fields.append(".w = true")
    fields += [f".has_{side} = true" for side, has in (("s", sends), ("r", receives)) if has]
    persistent = function.name.removesuffix("_c").endswith("_init")
    request = "request" if "request" in names else "NULL"
    arguments = f'"{function.name}", comm, &args, {request}, {str(persistent).lower()}'
    ignored = "    (void)info;\n" if "info" in names else ""
    return f"{ignored}    struct opir_args args = {{{', '.join(fields)}}};\n    return opir_coll({arguments});\n"


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _below(function: Function, table: RanksTable) -> str:
    """The call of the MPI below; a communicator only says who packs for whom, so its own will do. Nothing is said of
    errors of functions that return no code."""
    arguments = ", ".join("MPI_COMM_SELF" if p.type == "MPI_Comm" else p.name for p in function.parameters)
    if function.result != "int" or function.name.endswith(("_c2f", "_toint")):
        return f"    return P{function.name}({arguments});\n"
    unused = "".join(f"    (void){p.name};\n" for p in function.parameters if p.type == "MPI_Comm")
    call = f"    int rc = P{function.name}({arguments});\n"
    if _matches(function.name, table.serial):
        call = f"    opir_serial_begin();\n{call}    opir_serial_end();\n"
    return f'{unused}{call}    return OPIR_LIKELY(rc == MPI_SUCCESS) ? rc : opir_below(rc, "{function.name}");\n'


def kind_of(name: str, table: RanksTable, by_hand: frozenset[str]) -> str:
    """`written`, `expression`, `collective`, `below`, or `missing`."""
    if name in by_hand:
        return "written"
    if name in table.expression or name.removesuffix("_c") in table.expression:
        return "expression"
    if collective_of(name, table) is not None:
        return "collective"
    if _matches(name, table.below):
        return "below"
    return "missing"


_ALIASES = {"datatype": "type", "buf": "ibuf", "target_count": "target_cout", "assert": "mpi_assert"}
"""Parameters that some mpi.h calls otherwise."""


def _with_names(expression: str, function: Function) -> str:
    """The expression with the parameters' names of this header."""
    names = {p.name for p in function.parameters}
    for ours, other in _ALIASES.items():
        if ours not in names and other in names:
            expression = re.sub(rf"\b{ours}\b", other, expression)
    return expression


def _moves_to_a_window(function: Function) -> bool:
    """Where it is called is noted, for OPI_CHECK."""
    return any(p.name == "target_disp" for p in function.parameters)


def _body(function: Function, kind: str, table: RanksTable) -> str:
    name = function.name
    if kind == "collective":
        return _collective(function, collective_of(name, table) or "", table)
    if kind == "below":
        return _below(function, table)
    if kind == "expression":
        text = table.expression.get(name) or table.expression[name.removesuffix("_c")]
        call = _with_names(" ".join(text.replace("{call}", f'"{name}"').split()), function)
        site = "    OPIR_SITE();\n" if _moves_to_a_window(function) else ""
        return f"{site}    return {call};\n"
    unused = "".join(f"    (void){p.name};\n" for p in function.parameters if p.name != "...")
    return f'{unused}    opir_missing("{name}");\n'


def generate(functions: Mapping[str, Function], table: RanksTable, by_hand: frozenset[str]) -> tuple[str, str]:
    """The texts of opir_have.h and of the source with the entry points. Raises TableError."""
    have = "".join(f"#define OPIR_HAS_{name} 1\n" for name in sorted(functions))
    parts = ['/* Written by opi_xform.bindings.ranks from mpi.h. */\n#include "ranks/base/ranks.h"\n']
    for name, function in sorted(functions.items()):
        kind = kind_of(name, table, by_hand)
        if kind == "written":
            continue
        parts.append(
            f"\n#undef {name}\n#undef P{name}\nEXPORT {function.prototype} {{\n{_body(function, kind, table)}}}\n"
        )
    return f"/* Written by opi_xform.bindings.ranks from mpi.h. */\n{have}", "".join(parts)


def weak_functions(functions: Mapping[str, Function]) -> str:
    """The source of the weak MPI_x, by names that :func:`symbols` gives back to the linker."""
    parts = ['/* Written by opi_xform.bindings.ranks from mpi.h. */\n#include "ranks/base/ranks.h"\n']
    for name, function in sorted(functions.items()):
        arguments = ", ".join(p.name for p in function.parameters if p.name != "...")
        declared, weak = (replace(function, name=f"{prefix}{name}").prototype for prefix in ("__wrap_P", "opir_weak_"))
        call = f"__wrap_P{name}({arguments});"
        body = call if function.result == "void" else f"return {call}"
        site = "    OPIR_WEAK_SITE();\n" if _moves_to_a_window(function) else ""
        parts.append(f"\n{declared};\nEXPORT __attribute__((weak)) {weak};\n{weak} {{\n{site}    {body}\n}}\n")
    return "".join(parts)


def symbols(functions: Mapping[str, Function]) -> str:
    """What objcopy --redefine-syms does to the objects: lines of an old and a new name."""
    return "".join(
        f"{name} __wrap_P{name}\nP{name} __real_P{name}\nopir_weak_{name} {name}\n" for name in sorted(functions)
    )


def linker_options(functions: Mapping[str, Function]) -> str:
    """A response file for the linker: whose callers are turned to the library."""
    return "".join(f"--wrap={name}\n" for name in (*WRAPPED, *(f"P{name}" for name in sorted(functions))))


GENERATED = ("opir_names.c", "opir_weak.c")
"""The sources among what :func:`write` writes."""
SYMBOLS = "opir_symbols"
LINK_OPTIONS = "libopi_ranks.link"
"""Goes where libopi_ranks.a goes: programs are linked with `-Wl,@` and its path."""


def write(mpicc: Path, to: Path) -> None:
    """Writes what depends on the functions of this compiler's MPI. Raises HeaderError, TableError."""
    functions = read_header(mpicc)
    have, names = generate(functions, read_ranks_table(), written(ranks_source_dir()))
    texts = {
        "opir_have.h": have,
        "opir_names.c": names,
        "opir_weak.c": weak_functions(functions),
        SYMBOLS: symbols(functions),
        LINK_OPTIONS: linker_options(functions),
    }
    for file, text in texts.items():
        (to / file).write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m opi_xform.bindings.ranks MPICC DIRECTORY`, for the Makefile and CMake."""
    parser = argparse.ArgumentParser(prog="python -m opi_xform.bindings.ranks", description=main.__doc__)
    parser.add_argument("mpicc", type=Path)
    parser.add_argument("directory", type=Path)
    options = parser.parse_args(arguments)
    try:
        write(options.mpicc, options.directory)
    except (HeaderError, TableError) as error:
        print(f"bindings: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
