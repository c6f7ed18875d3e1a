"""Small C programs as the ownership checks see them, without an installed MPI: a header with what the tests call."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from opi_xform.analysis import known
from opi_xform.effects.table import load_effects
from opi_xform.frontend import parse_unit
from opi_xform.graph.whole import merge
from opi_xform.ir.ast import Units
from opi_xform.ir.span import NOWHERE
from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.model.addresses import AddressFlow, flow_of
from opi_xform.ownership.model.buffers import Buffer, Program, Use
from opi_xform.ownership.placement.place import tables
from opi_xform.ownership.placement.situation import Tables
from opi_xform.ownership.spelling.mentioned import mentions_of

HEADER = """
typedef int MPI_Comm; typedef int MPI_Datatype; typedef int MPI_Request; typedef int MPI_Op; typedef int MPI_Win;
typedef long MPI_Aint;
typedef struct { int count_lo, count_hi, MPI_SOURCE, MPI_TAG, MPI_ERROR; } MPI_Status;
#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_DOUBLE ((MPI_Datatype)0x4c00080b)
#define MPI_INT ((MPI_Datatype)0x4c000405)
#define MPI_SUM ((MPI_Op)0x58000003)
#define MPI_STATUS_IGNORE (MPI_Status *)1
#define MPI_UNDEFINED (-32766)
#define MPI_STATUSES_IGNORE (MPI_Status *)1
#define MPI_REQUEST_NULL ((MPI_Request)0x2c000000)
#define MPI_SUCCESS 0
int MPI_Send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int MPI_Recv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int MPI_Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Send_init(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Ibcast(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *);
int MPI_Put(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win);
int MPI_Start(MPI_Request *);
int MPI_Wait(MPI_Request *, MPI_Status *);
int MPI_Waitall(int, MPI_Request[], MPI_Status[]);
int MPI_Waitany(int, MPI_Request[], int *, MPI_Status *);
int MPI_Test(MPI_Request *, int *, MPI_Status *);
int MPI_Cancel(MPI_Request *);
int MPI_Request_free(MPI_Request *);
int MPI_Get_address(const void *, MPI_Aint *);
int MPI_Comm_rank(MPI_Comm, int *);
"""

LIBC = """
typedef unsigned long size_t; typedef unsigned long uintptr_t;
#define NULL ((void *)0)
void *malloc(size_t); void free(void *); void exit(int);
void *memcpy(void *, const void *, size_t); void *memset(void *, int, size_t); char *strchr(const char *, int);
int printf(const char *, ...); int puts(const char *);
"""

START = '#include "mpi.h"\n#define N 100\n'


@dataclass(frozen=True, slots=True)
class Source:
    """A program under test: ``line(text)`` is the number of the first line that has ``text``."""

    text: str
    units: Units
    program: Program
    buffers: dict[str, Buffer]
    uses: tuple[Use, ...]

    def line(self, text: str) -> int:
        return next(i for i, row in enumerate(self.text.split("\n"), 1) if text in row)

    def points(self, name: str, when: str = "after") -> list[tuple[int, str]]:
        """Where the carrier of a buffer would change if all its sites were converted."""
        return [(use.node, when) for use in self.buffers[name].uses]

    def flow(self, name: str) -> AddressFlow:
        """Where the address of a buffer is held."""
        return flow_of(self.program, self.buffers[name])

    def key(self, name: str) -> str:
        """The key of the only variable of that name."""
        (found,) = {k for k, v in self.program.variables.items() if v.name == name}
        return found


def shared(found: Source) -> Tables:
    """What all buffers of a program share: its flow of statements, where variables are set, its texts."""
    return tables(found.program)


def source(body: str, *others: str) -> Source:
    """Parses and analyses a program; ``others`` are further files of it."""
    with tempfile.TemporaryDirectory() as folder:
        return source_in(Path(folder), body, *others)


def source_in(folder: Path, body: str, *others: str) -> Source:
    """The same of a program that stays in a folder: what reads its files again finds them."""
    root = folder.resolve()
    (root / "mpi.h").write_text(HEADER + LIBC)
    units = []
    for i, text in enumerate((body, *others)):
        path = root / f"f{i}.c"
        path.write_text(START + text)
        units.append(parse_unit(str(path), ["-I", str(root)]))
    whole = merge(units)
    program = known.program(whole, load_effects())
    uses = collect(program)
    groups, _ = buffers(program, uses)
    found = Source(START + body, Units.of(units), program, {b.name: b for b in groups}, tuple(uses))
    for unit in units:  # the checks read the text, and the folder may be about to go
        for file in unit.files:
            mentions_of(found.units).texts.read(file)
            tables(program).texts.of(replace(NOWHERE, file=file))
    return found
