"""Programs of the suite, made private and linked with libopi_ranks, linked with libopi, or as they are."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from opi_xform.launch.mpi import Mpi
from opi_xform.launch.opicc import RANKS, command_line, parse
from tests.mpich_suite.lists import read_recipe

SHARED = ("mtest.c", "mtest_common.c", "dtypes.c")
XFORM = (sys.executable, "-c", "from opi_xform.cli.main import script; script()")


class BuildError(Exception):
    """A command that failed, with the end of what it said."""


def command(words: Iterable[str | Path], folder: Path | None = None) -> str:
    """Runs it; what it said. Raises BuildError."""
    done = subprocess.run([*words], cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise BuildError((done.stderr.strip() or done.stdout.strip())[-2000:])
    return done.stdout + done.stderr


def configured(suite: Path, work: Path, mpi: Mpi) -> Path:
    """A copy of the suite, configured for this MPI, in ``work``; made once. Raises BuildError."""
    source = work / "source"
    if not source.is_dir():
        scratch = work / "copied"
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.copytree(suite, scratch, symlinks=True)
        if (scratch / "configure").is_file():
            without = [f"--disable-{what}" for what in ("fortran", "cxx", "spawn")]
            command(["./configure", f"CC={mpi.mpicc}", *without], scratch)
        scratch.rename(source)
    return source


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds programs of one configured suite."""

    source: Path
    work: Path
    mpi: Mpi
    form: str | None
    """Of private variables, `tls` or `struct`; None: each rank is a process."""
    libopi: bool = False
    """Processes are linked with libopi."""

    def _includes(self, of: Path) -> list[str]:
        return [f"-I{of / folder}" for folder in ("include", "dtpools", "dtpools/include")]

    def _own(self, sources: list[Path], flags: list[str], to: Path) -> tuple[list[Path], list[str], list[str]]:
        """The sources as they are compiled, the flags for that, and variables that stay shared. Raises BuildError."""
        flags = [*flags, *self._includes(self.source), "-DHAVE_DTPOOLSCONF_H"]
        if self.form is None:
            return sources, flags, []
        shutil.rmtree(to, ignore_errors=True)
        form = f"--privatize={self.form}"
        said = command([*XFORM, form, "-j", "1", "--root", self.source, "-o", to, *sources, "--", *flags])
        refused = re.findall(r"^\S+:\d+: (\w+: refused \w+)", said, re.MULTILINE)
        return [to / file.relative_to(self.source) for file in sources], [*self._includes(to), *flags], refused

    def util(self, threads: bool) -> list[Path]:
        """The objects that every program is linked with; made once. Raises BuildError."""
        to = self.work / f"util-{self.form or 'plain'}-{'threads' if threads else 'single'}"
        if not to.is_dir():
            scratch = to.with_name(f".{to.name}")
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(parents=True)
            # Variables that files share are private only where a main is seen.
            nothing = self.source / "util" / "nothing.c"
            nothing.write_text("int main(void) { return 0; }\n", encoding="utf-8")
            names = (*SHARED, "mtest_thread.c" if threads else "mtest_single.c")
            files = [file for name in names if (file := self.source / "util" / name).is_file()]
            files += sorted((self.source / "dtpools" / "src").glob("*.c"))
            sources, flags, _ = self._own([*files, nothing], [], scratch / "out")
            for file in sources[:-1]:
                flagged = [*flags, "-w", "-O1", "-c", str(file), "-o", str(scratch / f"{file.stem}.o")]
                command(command_line(self.mpi, self.mpi.mpicc, parse(flagged), flagged, link=False))
            scratch.rename(to)
        return sorted(to.glob("*.o"))

    def program(self, folder: str, name: str) -> tuple[Path, list[str]]:
        """The program, built anew, and which of its variables all ranks share. Raises BuildError."""
        to = self.work / "programs" / (self.form or ("libopi" if self.libopi else "plain")) / folder / name
        to.mkdir(parents=True, exist_ok=True)
        threads = folder.startswith("threads/")
        recipe = read_recipe(self.source, folder, name)
        defines = [*recipe.defines, *(["-DMTEST_USE_THREAD"] if threads else [])]
        files = [self.source / folder / file for file in recipe.sources]
        if recipe.hosted:
            files.append(self.source / "util" / "run_mpitests.c")
        sources, flags, shared = self._own(files, defines, to / "out")
        objects = self.util(threads)
        words = [*flags, f"-I{self.source / folder}", "-w", "-O1", *map(str, [*sources, *objects]), "-lm", "-pthread"]
        ranks = self.form is not None
        words += ["-o", str(to / name)]
        asked = parse([*words, *([RANKS] if ranks else [])])
        command(command_line(self.mpi, self.mpi.mpicc, asked, words, link=ranks or self.libopi))
        return to / name, shared
