"""libopi_ranks: the library of thread and fiber ranks. Built with the user's MPI on first use and kept, as libopi."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from opi_xform.bindings import ranks as bindings
from opi_xform.bindings.header import HeaderError
from opi_xform.bindings.table import TableError
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.runtime import (
    captured,
    ensure_built,
    include_flags,
    object_name,
    require_built,
    sources_below,
    tell,
)
from opi_xform.record import dataclass
from opi_xform.resources import runtime_dir, runtime_include_dir

MARK = b"OPI_RANKS_CARRIER"
"""A string of libopi_ranks's own: it is in every program that the library was linked into."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """How ranks that share a process are run."""

    kind: str
    """`threads` or `fibers`."""
    stack: str | None = None
    """Bytes of each rank's stack, with the suffixes k, m and g; None: the library's choice."""
    scheduler: str | None = None
    """Of fibers, `block` or `rr`; None: the library's choice."""
    per_process: tuple[int, ...] = ()
    """How many ranks each process has; empty: as even as can be."""

    def environment(self, ranks: int) -> dict[str, str]:
        """What tells it to the processes."""
        told = {"OPI_RANKS": str(ranks), "OPI_RANKS_CARRIER": self.kind}
        if self.per_process:
            told["OPI_RANKS_PER_PROCESS"] = ",".join(map(str, self.per_process))
        if self.stack is not None:
            told["OPI_RANKS_STACK"] = self.stack
        if self.scheduler is not None:
            told["OPI_RANKS_SCHEDULER"] = self.scheduler
        return told


def ranks_sources() -> list[Path]:
    """The C files of libopi_ranks that are written by hand, in a fixed order. Raises IncompleteInstallError."""
    return sources_below("ranks", "shared")


def compile_command(mpi: Mpi, source: Path, obj: Path, flags: Sequence[str], generated: Path) -> list[str]:
    """Compiles one source; ``generated`` is where :func:`generate` wrote to."""
    return [str(mpi.mpicc), *flags, *include_flags(), f"-I{generated}", "-c", str(source), "-o", str(obj)]


def generate(mpi: Mpi, to: Path) -> list[Path]:
    """Writes what depends on the MPI's functions; returns the sources among it. Raises LaunchError."""
    try:
        bindings.write(mpi.mpicc, to)
    except (HeaderError, TableError) as error:
        raise LaunchError(f"building libopi_ranks failed: {error}") from error
    return [to / name for name in bindings.GENERATED]


def _build(mpi: Mpi, flags: Sequence[str], final: Path) -> None:
    """Compiles every source into an archive, in a directory that becomes ``final`` by one rename."""
    if shutil.which("objcopy") is None:
        raise LaunchError("building libopi_ranks needs objcopy, of the binutils, on PATH")
    tell("libopi_ranks", mpi, final)
    log = final.with_name(final.name + ".log")
    scratch = Path(tempfile.mkdtemp(prefix=".build-", dir=final.parent))
    try:
        files, archive = [*ranks_sources(), *generate(mpi, scratch)], str(scratch / "libopi_ranks.a")
        objects = [scratch / object_name(source) for source in files]
        commands = [
            compile_command(mpi, source, obj, flags, scratch) for source, obj in zip(files, objects, strict=True)
        ]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            results = list(pool.map(captured, commands))
        results.append(captured(["ar", "rcs", archive, *map(str, objects)]))
        results.append(captured(["objcopy", f"--redefine-syms={scratch / bindings.SYMBOLS}", archive]))
        require_built("libopi_ranks", results, log)
        for obj in objects:
            obj.unlink()
        scratch.rename(final)
        log.unlink(missing_ok=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def ensure_ranks(mpi: Mpi) -> Path:
    """The archive for this MPI, from the cache or built now. Raises LaunchError."""
    made_by = Path(bindings.__file__).parent
    roots = (runtime_include_dir(), bindings.ranks_source_dir(), runtime_dir() / "shared", made_by)
    return ensure_built("ranks-", "libopi_ranks.a", mpi, roots, _build)


def link_flags(archive: Path) -> list[str]:
    """The library whole, in the place of libopi, and the callers of what it wraps turned to it."""
    options = f"-Wl,@{archive.with_name(bindings.LINK_OPTIONS)}"
    return ["-pthread", options, "-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive"]


def has_ranks(program: Path) -> bool:
    """Whether a program was linked with libopi_ranks."""
    try:
        return MARK in program.read_bytes()
    except OSError:
        return False


_HOST_LISTS = frozenset({"-host", "-hosts", "--host", "-H"})
_HOST_FILES = frozenset({"-f", "-hostfile", "--hostfile", "-machinefile", "--machinefile"})
_SLURM_NODES = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES")


def nodes_of(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """The number of nodes that the launcher's options, or else Slurm's variables, name; 0 where nothing names them."""
    hosts: set[str] = set()
    for option, value in itertools.pairwise(words):
        if option in _HOST_LISTS:
            hosts.update(host.partition(":")[0] for host in value.split(",") if host)
        elif option in _HOST_FILES:
            try:
                text = Path(value).read_text(encoding="utf-8", errors="replace")
            except OSError as error:
                raise LaunchError(f"{value}: {error.strerror}") from error
            lines = (line.partition("#")[0].split() for line in text.splitlines())
            hosts.update(line[0].partition(":")[0] for line in lines if line)
    if hosts:
        return len(hosts)
    return next((int(n) for name in _SLURM_NODES if (n := environment.get(name, "")).isdigit()), 0)


@dataclass(frozen=True, slots=True)
class Shape:
    """How many ranks, in how many processes."""

    ranks: int
    processes: int
    per_node: int | None
    """Processes on each of several nodes; None: as the launcher does it."""
    apart: bool
    """Whether the job is on this machine only, as far as the options tell."""


def shape_of(words: Sequence[str], carrier: Carrier, environment: Mapping[str, str]) -> tuple[Shape, list[str]]:
    """What `-n N` and `-p P` among the options ask for, and the other options. Without -p: threads have one process on
    each node, fibers one for each processor, but never more than ranks. Raises LaunchError."""
    rest = list(words)
    told: dict[str, int] = {}
    for names in (("-n", "-np"), ("-p",)):
        for at, word in enumerate(rest):
            if word not in names:
                continue
            value = rest[at + 1] if at + 1 < len(rest) else ""
            if not value.isdigit() or int(value) < 1:
                raise LaunchError(f"{word} {value}: a number is wanted")
            del rest[at : at + 2]
            told[names[0]] = int(value)
            break
    nodes = nodes_of(rest, environment)
    ranks = told.get("-n", sum(carrier.per_process) or 1)
    if carrier.per_process:
        processes = len(carrier.per_process)
        if told.get("-p", processes) != processes or ranks != sum(carrier.per_process):
            listed = ",".join(map(str, carrier.per_process))
            raise LaunchError(f"--per-process {listed}: {processes} processes, {sum(carrier.per_process)} ranks")
        return Shape(ranks, processes, None, nodes == 0), rest
    per_node = 1 if carrier.kind == "threads" else len(os.sched_getaffinity(0))
    if "-p" in told:
        if told["-p"] > ranks:
            raise LaunchError(f"-p {told['-p']}: more processes than the {ranks} ranks")
        return Shape(ranks, told["-p"], None, nodes == 0), rest
    return Shape(ranks, min(ranks, per_node * max(nodes, 1)), per_node if nodes > 1 else None, nodes == 0), rest


def job(mpi: Mpi, words: Sequence[str], program: Sequence[str], carrier: Carrier) -> list[str]:
    """The launcher's command for ranks of this kind. ``words`` are the options before the program: `-n N`, `-p P`, and
    what goes to the launcher. Raises LaunchError."""
    shape, rest = shape_of(words, carrier, os.environ)
    if ":" in program:
        raise LaunchError(f"--{carrier.kind}: one program only")
    if not has_ranks(Path(program[0])):
        raise LaunchError(f"--{carrier.kind}: {program[0]} was not built for it: link it with `opicc --ranks`")
    command = [str(mpi.mpiexec), "-n", str(shape.processes)]
    told = carrier.environment(shape.ranks)
    if mpi.kind == "openmpi":
        command += ["--bind-to", "none"]
        if shape.per_node is not None:
            command += ["--map-by", f"ppr:{shape.per_node}:node"]
        elif shape.apart and shape.processes > 1:
            command.append("--oversubscribe")  # its slots are cores, which may have several processors
        return [*command, *(w for k, v in told.items() for w in ("-x", f"{k}={v}")), *rest, *program]
    if mpi.kind == "mpich":
        if shape.per_node is not None:
            command += ["-ppn", str(shape.per_node)]
        return [*command, *(w for k, v in told.items() for w in ("-genv", k, v)), *rest, *program]
    return [*command, *rest, "env", *(f"{k}={v}" for k, v in told.items()), *program]
