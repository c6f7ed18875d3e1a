"""Runs an original program with every load and store traced, and says which message sites its accesses forbid."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.launch.mpi import Mpi
from opi_xform.launch.tools import captured, compile_with

TRACE = Path(__file__).with_name("trace.c")
WRAPPED = ("malloc", "calloc", "realloc", "free", "memcpy", "memmove", "memset", "memcmp", "strlen", "fwrite")
PLAIN = ("-O0", "-gdwarf-4", "-w", "-fno-pie", "-fno-builtin")
"""DWARF 4: of the tables of lines in version 5, addr2line takes one of several included files for the one around."""
TRACED = (*PLAIN, "-fsanitize=thread", "-c")
LINKED = ("-no-pie", *(f"-Wl,--wrap={name}" for name in WRAPPED))

SIDES = {"S": "send", "R": "recv", "N": "none"}

Place = tuple[str, int]
"""File name and line."""

Site = tuple[str, int, str]
"""File name, line, and ``send``, ``recv`` or ``none``: a receive that ran with the source MPI_PROC_NULL."""

Spoilt = dict[Site, set[Place]]
"""Per site the violating accesses."""


@dataclass(frozen=True, slots=True)
class Seen:
    """``reached``: the sites that ran, sends and receives.  ``own``: of what is spoilt, what concerns bytes of the
    messages themselves.

    A buffer that is divided keeps its other parts, whatever becomes of one of them.
    """

    reached: frozenset[Site]
    spoilt: Spoilt
    own: Spoilt


def violations(sources: Sequence[Path], folder: Path, mpi: Mpi, ranks: int = 2, parts: bool = False) -> Spoilt:
    """The reads that passing ownership would have spoilt; ``folder``: for what is built.

    parts: the buffers are divided, so that only bytes of the messages count.
    """
    objects = []
    for source in sources:
        built = folder / f"{source.stem}.traced.o"
        compile_with((str(mpi.mpicc),), [str(source)], built, mpi, TRACED)
        objects.append(str(built))
    trace = folder / "trace.o"
    compile_with((str(mpi.mpicc),), [str(TRACE)], trace, mpi, (*PLAIN, "-c"))
    program = compile_with((str(mpi.mpicc),), [*objects, str(trace)], folder / "traced.exe", mpi, LINKED)
    symbols = write_symbols(program, sources, folder / "symbols")
    found = folder / "accesses"
    settings = f'OPI_ORACLE_SYMBOLS="{symbols}" OPI_ORACLE_OUT="{found}" exec "$0"'
    done = captured([*mpi.run_command(ranks), "sh", "-c", settings, str(program)], mpi, timeout_s=60)
    assert done.returncode == 0, f"{program}: exit code {done.returncode}\n{done.stderr[-2000:]}"
    seen = read_trace(program, sorted(folder.glob("accesses.*")))
    return seen.own if parts else seen.spoilt


def forbidding(found: Spoilt, site: Site, replaces: bool = False) -> set[Place]:
    """The accesses that forbid a send or a receive; replaces: as a call that keeps what is there if nobody sends."""
    sides = (site[2],) if site[2] == "send" or replaces else ("recv", "none")
    return {at for side in sides for at in found.get((*site[:2], side), ())}


def write_symbols(program: Path, sources: Sequence[Path], out: Path) -> Path:
    """The static objects of a traced program, for trace.c: those whose parts are arrays count part by part."""
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    rows = set(re.findall(r"\b(\w+)\s*\[[^\[\];]*\]\s*\[[^\[\];]*\]\s*[,;=]", text))
    rows |= set(re.findall(r"\bstruct\s+\w+\s+(\w+)\s*\[[^\[\];]*\]\s*[;=]", text))
    known = [f"{at} {size} {int(name in rows)}\n" for at, size, name in _statics(program)]
    out.write_text("".join(known), encoding="ascii")
    return out


def read_trace(program: Path, files: Sequence[Path]) -> Seen:
    """What the ranks of a traced program wrote."""
    texts = [file.read_text(encoding="ascii") for file in files]
    lines = [line.split() for line in sorted({line for text in texts for line in text.splitlines()})]
    where = _lines(program, sorted({at.lstrip("SR") for line in lines for at in line[:2]} - {"-"}))
    reached: set[Site] = set()
    out: Spoilt = {}
    own: Spoilt = {}
    for site, access, *beside in lines:
        file, line = where[site[1:]]
        key = (file, line, SIDES[site[0]])
        reached.add((file, line, "recv" if key[2] == "none" else key[2]))
        if access != "-":
            out.setdefault(key, set()).add(where[access])
            if not beside:
                own.setdefault(key, set()).add(where[access])
    return Seen(frozenset(reached), out, own)


def _statics(program: Path) -> list[tuple[str, str, str]]:
    text = subprocess.run(["nm", "-S", str(program)], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [bBdD] (\w+)", text, re.MULTILINE)


def _lines(program: Path, addresses: Sequence[str]) -> Mapping[str, Place]:
    if not addresses:
        return {}
    command = ["addr2line", "-e", str(program), *addresses]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    out: dict[str, Place] = {}
    for address, line in zip(addresses, text.splitlines(), strict=True):
        file, _, number = line.split(" ")[0].rpartition(":")
        out[address] = (Path(file).name, int(number) if number.isdigit() else 0)
    return out
