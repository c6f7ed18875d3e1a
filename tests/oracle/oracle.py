"""Runs an original program with every load and store traced, and says which message sites its accesses forbid."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from opi_xform.launch.mpi import Mpi
from opi_xform.launch.tools import captured, compile_with

TRACE = Path(__file__).with_name("trace.c")
WRAPPED = ("malloc", "calloc", "realloc", "free", "memcpy", "memmove", "memset", "memcmp", "strlen", "fwrite")
PLAIN = ("-O0", "-g", "-w", "-fno-pie", "-fno-builtin")
TRACED = (*PLAIN, "-fsanitize=thread", "-c")
LINKED = ("-no-pie", *(f"-Wl,--wrap={name}" for name in WRAPPED))

Place = tuple[str, int]
"""File name and line."""


Spoilt = dict[tuple[str, int, str], set[Place]]
"""Per site (file, line, ``send`` or ``recv``) the violating accesses."""


def violations(sources: Sequence[Path], folder: Path, mpi: Mpi, ranks: int = 2) -> Spoilt:
    """The reads that passing ownership would have spoilt; ``folder``: for what is built."""
    objects = []
    for source in sources:
        built = folder / f"{source.stem}.traced.o"
        compile_with((str(mpi.mpicc),), [str(source)], built, mpi, TRACED)
        objects.append(str(built))
    trace = folder / "trace.o"
    compile_with((str(mpi.mpicc),), [str(TRACE)], trace, mpi, (*PLAIN, "-c"))
    program = compile_with((str(mpi.mpicc),), [*objects, str(trace)], folder / "traced.exe", mpi, LINKED)
    symbols = folder / "symbols"
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    rows = set(re.findall(r"\b(\w+)\s*\[[^\[\];]*\]\s*\[[^\[\];]*\]\s*[,;=]", text))
    known = [f"{at} {size} {int(name in rows)}\n" for at, size, name in _statics(program)]
    symbols.write_text("".join(known), encoding="ascii")
    found = folder / "accesses"
    settings = f'OPI_ORACLE_SYMBOLS="{symbols}" OPI_ORACLE_OUT="{found}" exec "$0"'
    done = captured([*mpi.run_command(ranks), "sh", "-c", settings, str(program)], mpi, timeout_s=60)
    assert done.returncode == 0, f"{program}: exit code {done.returncode}\n{done.stderr[-2000:]}"
    texts = [file.read_text(encoding="ascii") for file in sorted(folder.glob("accesses.*"))]
    lines = [line.split() for line in sorted({line for text in texts for line in text.splitlines()})]
    where = _lines(program, sorted({at.lstrip("SR") for line in lines for at in line}))
    out: Spoilt = {}
    for site, access in lines:
        file, line = where[site[1:]]
        out.setdefault((file, line, "recv" if site[0] == "R" else "send"), set()).add(where[access])
    return out


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
