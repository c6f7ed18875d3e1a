"""Disturbed cases, a batch at a time: analysed in this process, and those with a converted site built and run.

The programs of a batch are linked into one executable for the originals and one for the transformed, each program's own
names made local to it, and run in one MPI job (tests/machines/fuzz/harness.c).  What ends badly is run again by itself.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from case_tools import run_tool

from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.opicc import link_flags
from opi_xform.launch.runtime import ensure_runtime
from opi_xform.launch.tools import captured
from opi_xform.ownership.decisions import REPLACING
from opi_xform.resources import runtime_include_dir
from tests.machines.disturb.table import Variant
from tests.machines.disturb.weave import Woven
from tests.machines.fuzz.batch import ONCE, POISON, POISONED

HARNESS = Path(__file__).resolve().parent.parent / "fuzz" / "harness.c"
HEADERS = "".join(f"#include <{name}>\n" for name in ("mpi.h", "stdio.h", "stdlib.h", "string.h", "stdint.h"))
FLAGS = ("-O1", "-w", "-fno-pie", "-D_GNU_SOURCE", "-pthread")
LIBRARIES = ("-lm", "-lrt", "-pthread")
ALONE_S = 15
"""How long one program may take when it runs by itself."""

Site = tuple[str, int, str]
Printed = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a program.

    verdict: ``kept``, nothing converted; ``equal``, something did and the outputs agree; ``wrong``, with the problem;
    ``undefined``: the original prints this once and that another time, or does not end well.
    codes: of the sites that had to stay, where they did.  stayed: a site that had to stay is there, and did.
    """

    name: str
    kind: str
    verdict: str
    problem: str = ""
    codes: tuple[str, ...] = ()
    stayed: bool = False


class Batch:
    """Some programs, in a folder."""

    def __init__(self, programs: Sequence[Woven], folder: Path, mpi: Mpi, ranks: int) -> None:
        self.programs = list(programs)
        self.folder = folder
        self.mpi = mpi
        self.ranks = ranks

    def outcomes(self) -> list[Outcome]:
        """One per program, in their order."""
        found: dict[int, Outcome] = {}
        run: list[int] = []
        for number, program in enumerate(self.programs):
            found[number], converted = self._decided(number, program)
            if converted:
                run.append(number)
        if run:
            self._run_all(run, found)
        return [found[number] for number in range(len(self.programs))]

    # --- deciding ---------------------------------------------------------------------------------------------------

    def _decided(self, number: int, program: Woven) -> tuple[Outcome, bool]:
        """What the analysis says, and whether there is something to run."""
        before, after = self._at("before", number), self._at("after", number)
        program.host.case.write(before, program.texts)
        arguments = [str(before / name) for name in program.host.case.analysed]
        arguments += ["--output-format", "json", "-j", "1", "-o", str(after)]
        arguments += ["--strict"] if program.variant.kind.strict else []
        plain = Outcome(program.name, program.variant.kind.name, "wrong")
        try:
            code, out, said = run_tool([*arguments, "--", "-D_GNU_SOURCE", "-w"])
        except Exception:  # a crash of the tool is a finding like any other
            return replace(plain, problem=traceback.format_exc(limit=-8)), False
        if code != 0:
            verdict = "wrong" if code == 123 else "undefined"
            return replace(plain, verdict=verdict, problem=f"opi-xform: exit code {code}\n{said[-2000:]}"), False
        for name, text in program.texts.items():
            if not (after / name).exists():
                (after / name).write_text(text, encoding="utf-8")
        sites = [
            ((Path(site["file"]).name, site["line"], site["side"]), _decision(site, program.variant), site["code"])
            for site in json.loads(out)["sites"]
        ]
        must = [site for site in sites if _must_stay(site[0], program.stay)]
        wrong = [f"{file}:{line} {side}" for (file, line, side), decision, _ in must if decision == "convert"]
        converted = any(decision == "convert" for _, decision, _ in sites)
        codes = tuple(code for _, decision, code in must if decision == "keep")
        if wrong:
            return replace(plain, problem=f"converted, and has to stay: {', '.join(wrong)}", codes=codes), True
        return replace(plain, verdict="kept", codes=codes, stayed=bool(codes)), converted

    def _at(self, what: str, number: int) -> Path:
        return self.folder / what / f"p{number}"

    # --- building and running ---------------------------------------------------------------------------------------

    def _run_all(self, run: Sequence[int], found: dict[int, Outcome]) -> None:
        together = [n for n in run if not self._alone_in(n)]
        groups = [together, *([n] for n in run if self._alone_in(n))]
        for numbers in (group for group in groups if group):
            self._run_group(numbers, found)

    def _run_group(self, numbers: Sequence[int], found: dict[int, Outcome]) -> None:
        expected = self._ran("before", numbers)
        again = self._ran("before", [n for n in numbers if expected.get(n)], "again")
        sound = [n for n in numbers if expected.get(n) and expected.get(n) == again.get(n)]
        for n in numbers:
            if n not in sound and found[n].verdict != "wrong":
                said = "does not build" if n not in expected else "does not end well" if not expected[n] else "varies"
                found[n] = replace(found[n], verdict="undefined", problem=f"the original {said}")
        for name, extra in (("plain", {}), ("checked", {"OPI_CHECK": "1"})):
            got = self._ran("after", sound, name, extra)
            for n in sound:
                if n not in got:
                    problem = "the transformed program does not build"
                elif got[n] != expected[n]:
                    problem = f"{name}: {_difference(expected[n], got[n])}"
                else:
                    problem = ""
                old = found[n]
                if problem and old.verdict != "wrong":
                    found[n] = replace(old, verdict="wrong", problem=problem)
                elif problem and name == "plain":
                    found[n] = replace(old, problem=f"{old.problem}; {problem}")
                elif old.verdict == "kept":
                    found[n] = replace(old, verdict="equal")

    def _ran(
        self, what: str, numbers: Sequence[int], name: str = "", extra: dict[str, str] | None = None
    ) -> dict[int, Printed | None]:
        """What the ranks of each program printed; None: it did not end well; absent: it could not be built."""
        if not numbers:
            return {}
        out: dict[int, Printed | None] = {}
        built = self._objects(what, numbers)
        if not built:
            return out
        alone = self._alone_in(built[0])
        program = self._linked(what, built, alone)
        prefix = self.folder / f"{what}{name}.out"
        if alone:
            return {built[0]: self._alone(program, prefix, extra or {})}
        self._job(program, prefix, range(len(built)), extra or {})
        for place, n in enumerate(built):
            out[n] = self._printed(prefix, n)
            if out[n] is None:
                self._job(program, prefix, (place,), extra or {})
                out[n] = self._printed(prefix, n)
        return out

    def _objects(self, what: str, numbers: Sequence[int]) -> list[int]:
        """Compiles what is not yet compiled: one object a program, all of its names local but its main.

        The numbers of those that could be."""
        missing = [n for n in numbers if not self._object(what, n).exists()]
        wrappers = []
        for n in missing:
            for place, name in enumerate(self.programs[n].host.case.files):
                wrapper = self.folder / f"{what}{n}_{place}.c"
                main = "" if self._alone_in(n) else f"{ONCE}#define main fuzz_main_{n}\n"
                wrapper.write_text(f'{main}#include "{self._at(what, n) / name}"\n', encoding="utf-8")
                wrappers.append(wrapper.name)
        if wrappers:
            flags = [*FLAGS, f"-I{runtime_include_dir()}", "-include", str(self._header())]
            # where one does not compile, the others do all the same
            self._failed([str(self.mpi.mpicc), *flags, "-c", *wrappers])
        for n in missing:
            parts = [self.folder / f"{what}{n}_{k}.o" for k in range(len(self.programs[n].host.case.files))]
            if all(part.exists() for part in parts):
                joined = parts[0]
                if len(parts) > 1:
                    joined = self.folder / f"{what}{n}.joined.o"
                    self._failed(["ld", "-r", *map(str, parts), "-o", str(joined)])
                keep = "main" if self._alone_in(n) else f"fuzz_main_{n}"
                self._failed(["objcopy", f"--keep-global-symbol={keep}", str(joined), str(self._object(what, n))])
        return [n for n in numbers if self._object(what, n).exists()]

    def _object(self, what: str, number: int) -> Path:
        return self.folder / f"{what}{number}.o"

    def _alone_in(self, number: int) -> bool:
        return self.programs[number].variant.kind.alone

    def _header(self) -> Path:
        """The headers that all have, compiled beforehand: they cost more than the programs do."""
        header = self.folder / "all.h"
        if not header.exists():
            header.write_text(HEADERS, encoding="ascii")
            command = [str(self.mpi.mpicc), *FLAGS, f"-I{runtime_include_dir()}", "-c", "-x", "c-header"]
            self._failed([*command, str(header), "-o", f"{header}.gch"])
        return header

    def _linked(self, what: str, numbers: Sequence[int], alone: bool) -> Path:
        objects = [str(self._object(what, n)) for n in numbers]
        flags = list(LIBRARIES)
        mpicc = str(self.mpi.mpicc)
        if what == "after":
            poison = self._compiled("poison", POISON)
            objects.append(poison)
            flags = [*POISONED, *link_flags(ensure_runtime(self.mpi)), *flags]
        if not alone:
            lines = [f"int fuzz_main_{n}(int argc, char **argv);" for n in numbers]
            lines.append("const struct { const char *name; int (*run)(int, char **); } fuzz_programs[] = {")
            lines += [f'    {{"{n}", fuzz_main_{n}}},' for n in numbers]
            objects.append(self._compiled(f"{what}.programs", "\n".join([*lines, "};", ""])))
            objects.append(self._compiled("harness", HARNESS.read_text(encoding="utf-8")))
        out = self.folder / f"{what}.exe"
        done = captured([mpicc, *objects, *flags, "-no-pie", "-o", str(out)], self.mpi, timeout_s=120)
        if done.returncode != 0:
            raise LaunchError(done.stderr[-2000:], 1)
        return out

    def _compiled(self, name: str, text: str) -> str:
        source, out = self.folder / f"{name}.c", self.folder / f"{name}.o"
        source.write_text(text, encoding="utf-8")
        if self._failed([str(self.mpi.mpicc), *FLAGS, "-c", str(source), "-o", str(out)]):
            raise LaunchError(f"{source} does not compile", 1)
        return str(out)

    def _failed(self, command: Sequence[str]) -> bool:
        done = captured(list(command), self.mpi, timeout_s=300, cwd=self.folder)
        if done.returncode != 0:
            with (self.folder / "said.txt").open("a", encoding="utf-8") as said:
                said.write(f"{shlex.join(command)}\n{done.stderr[-2000:]}\n")
        return done.returncode != 0

    def _job(self, program: Path, prefix: Path, numbers: Sequence[int], extra: dict[str, str]) -> None:
        for old in (*prefix.parent.glob(f"{prefix.name}.*.done"), *self.folder.glob(f"{prefix.name}.end.*")):
            old.unlink()
        limit = ALONE_S + 2 * len(numbers)
        words = " ".join([shlex.quote(str(program)), shlex.quote(str(prefix)), *map(str, numbers)])
        self._launched(f"exec {words}", limit, extra)

    def _alone(self, program: Path, prefix: Path, extra: dict[str, str]) -> Printed | None:
        """What each rank of a program with its own main prints."""
        for old in prefix.parent.glob(f"{prefix.name}.rank*"):
            old.unlink()
        out = f'{shlex.quote(str(prefix))}.rank"${{PMI_RANK:-${{OMPI_COMM_WORLD_RANK:-0}}}}"'
        ended = self._launched(f"exec {shlex.quote(str(program))} > {out}", ALONE_S, extra)
        texts = sorted(prefix.parent.glob(f"{prefix.name}.rank*"))
        return tuple(text.read_text(encoding="utf-8", errors="replace") for text in texts) if ended else None

    def _launched(self, shell: str, limit: int, extra: dict[str, str]) -> bool:
        command = ["timeout", "-k", "5", str(limit), *self.mpi.run_command(self.ranks)]
        command += ["sh", "-c", f"ulimit -c 0 -f 65536; {shell}"]
        try:
            done = captured(command, self.mpi, timeout_s=limit + 20, extra={"MPIEXEC_TIMEOUT": str(limit), **extra})
        except (LaunchError, subprocess.SubprocessError):
            return False
        return done.returncode == 0

    def _printed(self, prefix: Path, number: int) -> Printed | None:
        texts = []
        for rank in (0, 1):
            done = Path(f"{prefix}.{rank}.done")
            if not done.exists() or f"{number} 0" not in done.read_text(encoding="ascii").splitlines():
                return None
            texts.append(Path(f"{prefix}.{rank}.{number}").read_text(encoding="utf-8", errors="replace"))
        return tuple(texts)


def _decision(site: dict[str, Any], variant: Variant) -> str:
    """What becomes of a site.  One whose buffer stays in its place where nothing comes is as good as kept where the
    disturbance is about that.
    """
    nobody = variant.kind.brings == "rank" or variant.use.name == "absent"
    return "keep" if nobody and site["message"].startswith(REPLACING) else str(site["decision"])


def _must_stay(site: Site, stay: Sequence[Site]) -> bool:
    return any((file, line) == site[:2] and side in ("", site[2]) for file, line, side in stay)


def _difference(expected: Printed | None, got: Printed | None) -> str:
    if got is None or expected is None:
        return "the transformed program does not end well"
    lines = [
        f"{a!r} became {b!r}"
        for x, y in zip(expected, got, strict=False)
        for a, b in zip(x.splitlines(), y.splitlines(), strict=False)
        if a != b
    ]
    return "; ".join(lines[:3] or ["a different number of lines"])


def judged(programs: Sequence[Woven], folder: Path, mpi: Mpi, ranks: int = 2) -> list[Outcome]:
    """The outcomes of some programs.  Where the batch cannot be linked, each is tried by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return Batch(programs, folder, mpi, ranks).outcomes()
    except (LaunchError, OSError) as error:
        if len(programs) == 1:
            one = programs[0]
            return [Outcome(one.name, one.variant.kind.name, "undefined", f"{type(error).__name__}: {error}")]
        return [judged([one], folder / f"alone{n}", mpi, ranks)[0] for n, one in enumerate(programs)]


def readable(name: str) -> str:
    """A program's name as a file's."""
    return re.sub(r"[^\w.-]", "_", name)
