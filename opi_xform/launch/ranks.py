"""libopi_ranks: the library of thread and fiber ranks. Built with the user's MPI on first use and kept, as libopi."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from opi_xform.bindings import ranks as bindings
from opi_xform.bindings.header import HeaderError
from opi_xform.bindings.table import TableError
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.runtime import cache_dir, captured, content_hash, locked, runtime_flags
from opi_xform.resources import IncompleteInstallError, runtime_include_dir

MARK = b"OPI_RANKS_CARRIER"
"""A string of libopi_ranks's own: it is in every program that the library was linked into."""

WRAPPED = (
    *("main", "exit", "atexit"),
    *("printf", "vprintf", "fprintf", "vfprintf", "puts", "fputs", "putchar", "putc", "fputc", "fwrite", "fflush"),
    *("__printf_chk", "__vprintf_chk", "__fprintf_chk", "__vfprintf_chk"),
)
"""Functions whose callers get the library's: main and what ends a rank (start.c), what prints (out.c)."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """How ranks that share a process are run."""

    kind: str
    """`threads` or `fibers`."""
    stack: str | None = None
    """Bytes of each rank's stack, with the suffixes k, m and g; None: the library's choice."""
    scheduler: str | None = None
    """Of fibers, `block` or `rr`; None: the library's choice."""

    def environment(self, ranks: int) -> dict[str, str]:
        """What tells it to the process."""
        told = {"OPI_RANKS": str(ranks), "OPI_RANKS_CARRIER": self.kind}
        if self.stack is not None:
            told["OPI_RANKS_STACK"] = self.stack
        if self.scheduler is not None:
            told["OPI_RANKS_SCHEDULER"] = self.scheduler
        return told


def ranks_sources() -> list[Path]:
    """The C files of libopi_ranks that are written by hand, in a fixed order. Raises IncompleteInstallError."""
    found = sorted(bindings.ranks_source_dir().glob("*.c"))
    if not found:
        raise IncompleteInstallError(f"installation is incomplete: no sources in {bindings.ranks_source_dir()}")
    return found


def compile_command(mpi: Mpi, source: Path, obj: Path, flags: Sequence[str], generated: Path) -> list[str]:
    """Compiles one source; ``generated`` is where :func:`generate` wrote to."""
    includes = [f"-I{runtime_include_dir()}", f"-I{bindings.ranks_source_dir()}", f"-I{generated}"]
    return [str(mpi.mpicc), *flags, *includes, "-c", str(source), "-o", str(obj)]


def generate(mpi: Mpi, to: Path) -> Path:
    """Writes what depends on the MPI's functions; returns the source among it. Raises LaunchError."""
    try:
        bindings.write(mpi.mpicc, to)
    except (HeaderError, TableError) as error:
        raise LaunchError(f"building libopi_ranks failed: {error}") from error
    return to / "opir_names.c"


def _build(mpi: Mpi, flags: Sequence[str], final: Path) -> None:
    """Compiles every source into an archive, in a directory that becomes ``final`` by one rename."""
    scratch = Path(tempfile.mkdtemp(prefix=".build-", dir=final.parent))
    try:
        files = [*ranks_sources(), generate(mpi, scratch)]
        objects = [scratch / f"{source.stem}.o" for source in files]
        commands = [
            compile_command(mpi, source, obj, flags, scratch) for source, obj in zip(files, objects, strict=True)
        ]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            results = list(pool.map(captured, commands))
        results.append(captured(["ar", "rcs", str(scratch / "libopi_ranks.a"), *map(str, objects)]))
        failed = [result for result in results if result.returncode != 0]
        if failed:
            command, said = shlex.join(map(str, failed[0].args)), failed[0].stderr.strip()[-4000:]
            raise LaunchError(f"building libopi_ranks failed:\n$ {command}\n{said}", failed[0].returncode or 1)
        for obj in objects:
            obj.unlink()
        scratch.rename(final)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def ensure_ranks(mpi: Mpi) -> Path:
    """The archive for this MPI, from the cache or built now. Raises LaunchError."""
    flags = runtime_flags()
    roots = (runtime_include_dir(), bindings.ranks_source_dir(), Path(bindings.__file__).parent)
    try:
        home = cache_dir() / "runtime"
        final = home / f"ranks-{mpi.kind}-{mpi.version}-{content_hash(mpi, flags, roots)}"
        archive = final / "libopi_ranks.a"
        if not archive.is_file():
            home.mkdir(parents=True, exist_ok=True)
            with locked(home / f"{final.name}.lock"):
                if not archive.is_file():
                    _build(mpi, flags, final)
    except OSError as error:
        where = error.filename or cache_dir()
        message = f"{where}: {error.strerror}; set OPI_CACHE to a directory that can be written"
        raise LaunchError(message) from error
    return archive


def link_flags(archive: Path) -> list[str]:
    """The library whole, in the place of libopi, and the callers of the wrapped functions turned to it."""
    wraps = [f"-Wl,--wrap={name}" for name in WRAPPED]
    return ["-pthread", *wraps, "-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive"]


def has_ranks(program: Path) -> bool:
    """Whether a program was linked with libopi_ranks."""
    try:
        return MARK in program.read_bytes()
    except OSError:
        return False


def job(mpi: Mpi, words: Sequence[str], program: Sequence[str], carrier: Carrier) -> list[str]:
    """The launcher's command for ranks of this kind. ``words`` are the options before the program: `-n N`, and what
    goes to the launcher. Raises LaunchError."""
    rest, ranks, processes = list(words), 1, 1
    for names in (("-n", "-np"), ("-p",)):
        for at, word in enumerate(rest):
            if word not in names:
                continue
            value = rest[at + 1] if at + 1 < len(rest) else ""
            if not value.isdigit() or int(value) < 1:
                raise LaunchError(f"{word} {value}: a number is wanted")
            del rest[at : at + 2]
            ranks, processes = (int(value), processes) if "-n" in names else (ranks, int(value))
            break
    if processes != 1:
        raise LaunchError(f"-p {processes}: ranks of one job in several processes are not available")
    if ":" in program:
        raise LaunchError(f"--{carrier.kind}: one program only")
    if not has_ranks(Path(program[0])):
        raise LaunchError(f"--{carrier.kind}: {program[0]} was not built for it: link it with `opicc --ranks`")
    command = [str(mpi.mpiexec), "-n", "1"]
    if mpi.kind == "openmpi":
        command += ["--bind-to", "none"]
    told = carrier.environment(ranks)
    if mpi.kind == "mpich":
        return [*command, *(w for k, v in told.items() for w in ("-genv", k, v)), *rest, *program]
    if mpi.kind == "openmpi":
        return [*command, *(w for k, v in told.items() for w in ("-x", f"{k}={v}")), *rest, *program]
    return [*command, *rest, "env", *(f"{k}={v}" for k, v in told.items()), *program]
