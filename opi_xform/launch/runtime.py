"""Builds libopi with the user's own MPI compiler on first use, and caches it.

The cache key covers what the archive depends on: the wrapper's place and version line, the flags, mpi.h and the
runtime's sources, by content. Two builds at once are safe: one waits for the other, and an archive appears under its
final name only when it is complete.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.record import dataclass
from opi_xform.resources import IncompleteInstallError, runtime_dir, runtime_include_dir

BASE_FLAGS = ("-std=c11", "-O2", "-fPIC")


@dataclass(frozen=True, slots=True)
class Runtime:
    """A built libopi."""

    archive: Path
    include: Path
    shared: Path
    """libopi as a shared library, to be preloaded under a program that was not linked with it."""

    @property
    def malloc_archive(self) -> Path:
        """The replacement allocator, to be linked into a program."""
        return self.archive.with_name("libopi_malloc.a")

    def preload(self, shared_heap: bool) -> tuple[Path, ...]:
        """The libraries to preload, in order."""
        return (self.shared.with_name("libopi_malloc.so"), self.shared) if shared_heap else (self.shared,)


def cache_dir() -> Path:
    """``$OPI_CACHE``, else the user's cache directory."""
    named = os.environ.get("OPI_CACHE")
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "opi-xform"


def runtime_flags() -> tuple[str, ...]:
    """How the runtime is compiled; ``$OPI_RUNTIME_CFLAGS`` adds to it (a sanitizer, -g)."""
    return (*BASE_FLAGS, *shlex.split(os.environ.get("OPI_RUNTIME_CFLAGS", "")))


def sources() -> list[Path]:
    """The C files of libopi, in a fixed order. Raises IncompleteInstallError when there are none."""
    return sources_below("process", "shared")


def malloc_sources() -> list[Path]:
    """The C files of the replacement allocator, which knows no MPI. Raises IncompleteInstallError."""
    return sources_below("malloc")


def sources_below(*folders: str) -> list[Path]:
    """The C files at any depth of these folders of the runtime, in a fixed order: a library is made of all of them.

    Raises IncompleteInstallError when a folder has none."""
    out: list[Path] = []
    for folder in folders:
        found = sorted(runtime_dir().joinpath(folder).rglob("*.c"))
        if not found:
            raise IncompleteInstallError(f"installation is incomplete: no sources in {runtime_dir() / folder}")
        out += found
    return out


def include_flags() -> list[str]:
    """Where the runtime's sources find headers: opi.h by its name, the others by their paths below the runtime."""
    return [f"-I{runtime_include_dir()}", f"-I{runtime_dir()}"]


def content_hash(mpi: Mpi, flags: Sequence[str], roots: Sequence[Path]) -> str:
    """The cache key of what is built from the files below ``roots``.

    Raises LaunchError when the compiler does not answer."""
    version = captured([str(mpi.mpicc), "--version"])
    if version.returncode != 0:
        raise LaunchError(f"{mpi.mpicc} --version failed: {version.stderr.strip()[:200]}")
    digest = hashlib.sha256()

    def add(*parts: str | bytes) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else part.encode()
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)

    # Its place, too: a shared library finds the libraries of its MPI by the run path that the wrapper writes.
    add(mpi.kind, mpi.version, str(mpi.mpicc), version.stdout, *flags)
    add(mpi.header.read_bytes())
    for root in roots:
        for path in sorted(p for p in root.rglob("*") if p.is_file() and p.suffix != ".pyc"):
            add(str(path.relative_to(root)), path.read_bytes())
    return digest.hexdigest()[:24]


def compile_command(mpi: Mpi, source: Path, obj: Path, flags: Sequence[str]) -> list[str]:
    """Compiles one source of the runtime."""
    return [str(mpi.mpicc), *flags, *include_flags(), "-c", str(source), "-o", str(obj)]


def shared_command(mpi: Mpi, objects: Sequence[Path], library: Path, options: Sequence[str]) -> list[str]:
    """Links a shared library with more options of the linker."""
    flags = ("-shared", f"-Wl,-soname,{library.name}", *(f"-Wl,{option}" for option in options), "-pthread")
    return [
        str(mpi.mpicc),
        *shlex.split(os.environ.get("OPI_RUNTIME_CFLAGS", "")),
        *flags,
        *map(str, objects),
        "-o",
        str(library),
    ]


def object_name(source: Path) -> str:
    """The name of a source's object: no two sources of the runtime have the same."""
    inside = source.is_relative_to(runtime_dir())
    path = source.relative_to(runtime_dir()) if inside else Path(source.name)
    return "-".join(path.with_suffix(".o").parts)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds an exclusive lock on the file ``path``; released when the process ends, however it ends."""
    with open(path, "w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def captured(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command and keeps what it says."""
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _link_commands(mpi: Mpi, objects: Mapping[str, Sequence[Path]], to: Path) -> Iterator[list[str]]:
    """The commands that make an archive and a shared library of each.

    The MPI is one of libopi's needed libraries: a program that loads its MPI by dlopen has it not loaded yet when
    libopi is. The allocator's needs no MPI."""
    options = {
        "libopi": ("--no-as-needed", f"--version-script={runtime_dir() / 'process' / 'libopi.map'}"),
        "libopi_malloc": ("--as-needed",),
    }
    for name, made in objects.items():
        yield ["ar", "rcs", str(to / f"{name}.a"), *map(str, made)]
        yield shared_command(mpi, made, to / f"{name}.so", options[name])


def tell(what: str, mpi: Mpi, final: Path) -> None:
    """Why a first build takes seconds; in logs, too."""
    print(f"building {what} for {mpi.kind} {mpi.version}, once: kept in {final}", file=sys.stderr, flush=True)


def first_error(said: str) -> str:
    """The line of a compiler's output that tells what failed."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[0] if lines else "it said nothing")


def require_built(what: str, results: Sequence[subprocess.CompletedProcess[str]], log: Path) -> None:
    """Writes the log and raises LaunchError, one line, when a command of a build failed."""
    failed = next((r for r in results if r.returncode != 0), None)
    if failed is not None:
        parts = [f"$ {shlex.join(map(str, r.args))}\n{r.stdout}{r.stderr}" for r in results]
        log.write_text("".join(parts), encoding="utf-8")
        message = f"building {what} failed: {first_error(failed.stderr)}; the whole log is in {log}"
        raise LaunchError(message, failed.returncode or 1)


def _build(mpi: Mpi, flags: Sequence[str], final: Path) -> None:
    """Compiles every source and archives the objects, in a directory that becomes ``final`` by one rename."""
    tell("libopi", mpi, final)
    log = final.with_name(final.name + ".log")
    scratch = Path(tempfile.mkdtemp(prefix=".build-", dir=final.parent))
    try:
        units = {"libopi": sources(), "libopi_malloc": malloc_sources()}
        objects = {name: [scratch / object_name(source) for source in files] for name, files in units.items()}
        commands = [
            compile_command(mpi, source, obj, flags)
            for name, files in units.items()
            for source, obj in zip(files, objects[name], strict=True)
        ]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            results = list(pool.map(captured, commands))
        require_built("libopi", results, log)
        results += [captured(command) for command in _link_commands(mpi, objects, scratch)]
        require_built("libopi", results, log)
        for obj in (obj for made in objects.values() for obj in made):
            obj.unlink()
        scratch.rename(final)
        log.unlink(missing_ok=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def ensure_runtime(mpi: Mpi) -> Runtime:
    """libopi for this MPI, from the cache or built now. Raises LaunchError."""
    roots = (runtime_include_dir(), *(runtime_dir() / folder for folder in ("process", "malloc", "shared")))
    archive = ensure_built("", "libopi.a", mpi, roots, _build)
    return Runtime(archive, runtime_include_dir(), archive.with_name("libopi.so"))


def ensure_built(
    prefix: str, name: str, mpi: Mpi, roots: Sequence[Path], build: Callable[[Mpi, Sequence[str], Path], None]
) -> Path:
    """The archive ``name`` of what is made from the files below ``roots``, from the cache or built now.

    build: makes the directory that it is given, whole or not at all.  Raises LaunchError."""
    flags = runtime_flags()
    try:
        home = cache_dir() / "runtime"
        final = home / f"{prefix}{mpi.kind}-{mpi.version}-{content_hash(mpi, flags, roots)}"
        archive = final / name
        if not archive.is_file():
            home.mkdir(parents=True, exist_ok=True)
            with locked(home / f"{final.name}.lock"):
                if not archive.is_file():
                    build(mpi, flags, final)
    except OSError as error:
        where = error.filename or cache_dir()
        message = f"{where}: {error.strerror}; set OPI_CACHE to a directory that can be written"
        raise LaunchError(message) from error
    return archive
