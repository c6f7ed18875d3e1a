"""Many random programs at once: transformed in this process, built into three executables, run in few MPI jobs.

Every program of a batch is in each executable, its ``main`` renamed (harness.c): the original with the MPI alone, the
transformed one with libopi, and the original with its accesses traced (tests/machines/oracle).  A job that fails is
run again program by program, so that one program's fault is no other's.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from case_tools import run_tool

from opi_xform.attempts.computed_starts import ALONE
from opi_xform.attempts.divided import PARTED
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.opicc import link_flags
from opi_xform.launch.runtime import ensure_runtime
from opi_xform.launch.tools import captured
from opi_xform.ownership.decisions import REPLACING
from opi_xform.resources import runtime_include_dir
from tests.machines.fuzz.families import Family
from tests.machines.fuzz.generate import program
from tests.machines.oracle import oracle

HERE = Path(__file__).resolve().parent
POISON = """#include <stddef.h>
#include <string.h>
int __real_OPI_Alloc(void *place, size_t length);
int __wrap_OPI_Alloc(void *place, size_t length);
int __wrap_OPI_Alloc(void *place, size_t length)
{
    int code = __real_OPI_Alloc(place, length);
    void *memory;
    memcpy(&memory, place, sizeof memory);
    if (memory)
        memset(memory, 0x41, length);
    return code;
}
void *__real_OPI_Malloc(size_t length);
void *__wrap_OPI_Malloc(size_t length);
void *__wrap_OPI_Malloc(size_t length)
{
    void *memory = __real_OPI_Malloc(length);
    return memory ? memset(memory, 0x41, length) : memory;
}
"""
POISONED = ("-Wl,--wrap=OPI_Alloc", "-Wl,--wrap=OPI_Malloc")
HEADERS = "".join(f"#include <{name}>\n" for name in ("mpi.h", "stdio.h", "stdlib.h", "string.h"))
FLAGS = ("-O1", "-w", "-fno-pie")
WRAPPED = ("-no-pie",)
ONCE = """int fuzz_init(int *argc, char ***argv);
int fuzz_finalize(void);
#define MPI_Init fuzz_init
#define MPI_Finalize fuzz_finalize
"""
"""What programs call instead, for there is one MPI_Init a job.  Comes after mpi.h.

Not by the linker: libopi looks whose MPI_Init it is that it calls."""
SHARED = ("main", "rank", "peer", "seven", "zero", "field", "total", "report", "fill", "append", "sum")
"""The names at file level that all programs have (generate.HEAD); the others have their seed in them."""
ALONE_S = 40
"""How long one program may take when it runs by itself."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``problem``: '' where the outputs agree and no access forbids what was converted.

    reached: message sites that ran in the original; free: those of them that no access forbids; both: the free ones
    that were converted; convert: all that were converted, of ``sites``.
    """

    seed: int
    problem: str = ""
    sites: int = 0
    convert: int = 0
    reached: int = 0
    free: int = 0
    both: int = 0
    kept: tuple[str, ...] = ()


Site = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Transformed:
    """A program after opi-xform: what was decided of each site, and why it was kept.

    parted: the sites of which only the message's own bytes pass.  replacing: the receives that keep what is there where
    nobody sends.  traced: some of its messages are others than persistent ones, of which the oracle sees nothing.
    """

    seed: int
    failed: str
    decisions: dict[Site, tuple[str, str]]
    parted: frozenset[Site] = frozenset()
    replacing: frozenset[Site] = frozenset()
    traced: bool = False

    @property
    def converted(self) -> set[Site]:
        return {site for site, (decision, _) in self.decisions.items() if decision == "convert"}


def transformed(seed: int, folder: Path, families: Sequence[Family] = ()) -> Transformed:
    """Writes a program and its transformation to ``folder``/before and ``folder``/after."""
    source = folder / "before" / f"seed{seed}.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(program(seed, families=families), encoding="utf-8")
    arguments = [str(source), "--output-format", "json", "-j", "1", "-o", str(folder / "after")]
    try:
        code, out, said = run_tool(arguments)
    except Exception:  # a crash of the tool is a finding like any other
        return Transformed(seed, traceback.format_exc(limit=-8), {})
    if code != 0:
        return Transformed(seed, f"opi-xform: exit code {code}\n{said[-2000:]}", {})
    sites = json.loads(out)["sites"]
    decisions = {(source.name, site["line"], site["side"]): (site["decision"], site["code"]) for site in sites}
    parted = {
        (source.name, site["line"], site["side"])
        for site in sites
        if PARTED in site["message"] or ALONE in site["message"]
    }
    replacing = {(source.name, site["line"], site["side"]) for site in sites if REPLACING in site["message"]}
    traced = any(not site["call"].endswith("_init") for site in sites)
    return Transformed(seed, "", decisions, frozenset(parted), frozenset(replacing), traced)


class Batch:
    """The executables of some seeds' programs, in a folder."""

    def __init__(self, seeds: Sequence[int], folder: Path, mpi: Mpi, families: Sequence[Family] = ()) -> None:
        self.seeds = list(seeds)
        self.folder = folder
        self.mpi = mpi
        self.families = families

    def outcomes(self, check: bool, traced: bool) -> list[Outcome]:
        """One per seed.  check: run the transformed programs under OPI_CHECK=1 too.  traced: ask the oracle."""
        programs = [transformed(seed, self.folder, self.families) for seed in self.seeds]
        found = {p.seed: Outcome(p.seed, p.failed, len(p.decisions), len(p.converted)) for p in programs}
        whole = [p.seed for p in programs if not p.failed]
        expected = self._run(self._original(whole), whole, "original")
        for p in (p for p in programs if not p.failed and expected[p.seed] is None):
            found[p.seed] = replace(found[p.seed], problem="the original itself does not end well")
        whole = [seed for seed in whole if expected[seed] is not None]
        changed = [p.seed for p in programs if p.seed in whole and p.converted]
        if changed:
            after = self._changed(changed)
            for name, extra in (("plain", {}), ("checked", {"OPI_CHECK": "1"}))[: 1 + check]:
                got = self._run(after, changed, name, extra)
                for seed in changed:
                    if not found[seed].problem and got[seed] != expected[seed]:
                        problem = _difference(expected[seed], got[seed], name)
                        found[seed] = replace(found[seed], problem=problem)
        if traced and whole:
            self._judge([p for p in programs if p.seed in whole], found)
        return [found[seed] for seed in self.seeds]

    # --- building ---------------------------------------------------------------------------------------------------

    def _compile(self, source: Path, out: Path, flags: Sequence[str]) -> str:
        command = [str(self.mpi.mpicc), *flags, "-c", str(source), "-o", str(out)]
        _done(captured(command, self.mpi, timeout_s=120))
        return str(out)

    def _header(self, name: str, flags: Sequence[str]) -> tuple[str, ...]:
        """The flags with the system's headers compiled beforehand: they cost more than the programs do."""
        header = self.folder / f"{name}.h"
        header.write_text(HEADERS, encoding="ascii")
        command = [str(self.mpi.mpicc), *flags, "-c", "-x", "c-header", str(header), "-o", f"{header}.gch"]
        _done(captured(command, self.mpi, timeout_s=120))
        return (*flags, "-include", str(header))

    def _link(self, name: str, objects: Sequence[str], seeds: Sequence[int], flags: Sequence[str]) -> Path:
        table = self.folder / f"{name}.programs.c"
        lines = [f"int fuzz_main_{seed}(int argc, char **argv);" for seed in seeds]
        lines.append("const struct { const char *name; int (*run)(int, char **); } fuzz_programs[] = {")
        lines += [f'    {{"{seed}", fuzz_main_{seed}}},' for seed in seeds]
        table.write_text("\n".join([*lines, "};", ""]), encoding="ascii")
        harness = self._compile(HERE / "harness.c", self.folder / f"{name}.harness.o", FLAGS)
        listed = self._compile(table, self.folder / f"{name}.programs.o", FLAGS)
        out = self.folder / f"{name}.exe"
        command = [str(self.mpi.mpicc), harness, listed, *objects, *WRAPPED, *flags, "-o", str(out)]
        _done(captured(command, self.mpi, timeout_s=120))
        return out

    def _objects(self, name: str, folder: Path, seeds: Sequence[int], flags: Sequence[str]) -> list[str]:
        """All programs in one unit: what each of them calls ``main``, or as every other does, gets its number."""
        lines = [ONCE]
        for seed in seeds:
            lines += [f"#define {word} fuzz_{word}_{seed}" for word in SHARED]
            lines.append(f'#include "{folder / f"seed{seed}.c"}"')
            lines += [f"#undef {word}" for word in SHARED]
        unit = self.folder / f"{name}.unit.c"
        unit.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return [self._compile(unit, self.folder / f"{name}.unit.o", self._header(name, flags))]

    def _original(self, seeds: Sequence[int]) -> Path:
        objects = self._objects("original", self.folder / "before", seeds, FLAGS)
        return self._link("original", objects, seeds, ())

    def _changed(self, seeds: Sequence[int]) -> Path:
        flags = (*FLAGS, f"-I{runtime_include_dir()}")
        objects = self._objects("changed", self.folder / "after", seeds, flags)
        poison = self.folder / "poison.c"
        poison.write_text(POISON, encoding="ascii")
        objects.append(self._compile(poison, self.folder / "poison.o", FLAGS))
        more = (*POISONED, *link_flags(ensure_runtime(self.mpi)))
        return self._link("changed", objects, seeds, more)

    # --- running ----------------------------------------------------------------------------------------------------

    def _run(
        self, program: Path, seeds: Sequence[int], name: str, extra: dict[str, str] | None = None
    ) -> dict[int, tuple[str, str] | None]:
        """What the two ranks print in each program; None where it does not end well, by itself too."""
        prefix = self.folder / f"{name}.out"
        self._job(program, prefix, range(len(seeds)), extra or {})
        got = {seed: self._printed(prefix, seed) for seed in seeds}
        for number, seed in enumerate(seeds):
            if got[seed] is None:
                self._job(program, prefix, (number,), extra or {})
                got[seed] = self._printed(prefix, seed)
        return got

    def _job(self, program: Path, prefix: Path, numbers: Sequence[int], extra: dict[str, str]) -> None:
        for old in prefix.parent.glob(f"{prefix.name}.*"):
            if old.suffix == ".done":
                old.unlink()
        limit = ALONE_S + 2 * len(numbers)
        alone = f"ulimit -c 0 -f 65536; exec {shlex.quote(str(program))} {shlex.quote(str(prefix))} " + " ".join(
            map(str, numbers)
        )
        command = ["timeout", "-k", "5", str(limit), *self.mpi.run_command(2), "sh", "-c", alone]
        try:
            captured(command, self.mpi, timeout_s=limit + 20, extra={"MPIEXEC_TIMEOUT": str(limit), **extra})
        except LaunchError:
            return

    def _printed(self, prefix: Path, seed: int) -> tuple[str, str] | None:
        texts = []
        for rank in (0, 1):
            done = Path(f"{prefix}.{rank}.done")
            if not done.exists() or f"{seed} 0" not in done.read_text(encoding="ascii").splitlines():
                return None
            texts.append(Path(f"{prefix}.{rank}.{seed}").read_text(encoding="utf-8", errors="replace"))
        return texts[0], texts[1]

    # --- the oracle -------------------------------------------------------------------------------------------------

    def _judge(self, programs: Sequence[Transformed], found: dict[int, Outcome]) -> None:
        seeds = [p.seed for p in programs]
        objects = self._objects("traced", self.folder / "before", seeds, (*oracle.PLAIN, "-fsanitize=thread"))
        trace = self._compile(oracle.TRACE, self.folder / "trace.o", oracle.PLAIN)
        wraps = tuple(flag for flag in oracle.LINKED if flag != "-no-pie")
        traced = self._link("traced", [*objects, trace], seeds, wraps)
        sources = [self.folder / "before" / f"seed{seed}.c" for seed in seeds]
        symbols = oracle.write_symbols(traced, sources, self.folder / "symbols")
        out = self.folder / "accesses"
        extra = {"OPI_ORACLE_SYMBOLS": str(symbols), "OPI_ORACLE_OUT": str(out)}
        self._run(traced, seeds, "traced", extra)
        seen = oracle.read_trace(traced, sorted(self.folder.glob("accesses.*")))
        for p in programs:
            file = f"seed{p.seed}.c"
            reached = {site for site in seen.reached if site[0] == file}
            forbidden = {
                site: oracle.forbidding(seen.own if site in p.parted else seen.spoilt, site, site in p.replacing)
                for site in reached | p.converted
            }
            free = {site for site in reached if not forbidden[site]}
            wrong = sorted(site for site in p.converted if forbidden[site])
            outcome = found[p.seed]
            problem = outcome.problem
            if wrong and not problem:
                reads = [f"{site[1]}: {site[2]}, accesses {sorted(forbidden[site])}" for site in wrong]
                problem = "converted in spite of an access: " + "; ".join(reads)
            if p.traced and not reached and not problem:
                problem = "the oracle saw none of its messages"
            kept = tuple(p.decisions[site][1] for site in sorted(free - p.converted) if site in p.decisions)
            both = len(free & p.converted)
            found[p.seed] = replace(
                outcome, problem=problem, reached=len(reached), free=len(free), both=both, kept=kept
            )


def _done(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode != 0:
        raise LaunchError(f"{shlex.join(map(str, done.args))}\n{done.stderr[-2000:]}", 1)


def _difference(expected: tuple[str, str] | None, got: tuple[str, str] | None, name: str) -> str:
    if got is None or expected is None:
        return f"{name}: the transformed program does not end well"
    lines = [
        f"{a!r} became {b!r}"
        for x, y in zip(expected, got, strict=True)
        for a, b in zip(x.splitlines(), y.splitlines(), strict=False)
        if a != b
    ]
    return f"{name}: " + "; ".join(lines[:4] or ["a different number of lines"])


def judged(
    seeds: Sequence[int],
    folder: Path,
    mpi: Mpi,
    check: bool = True,
    traced: bool = True,
    families: Sequence[Family] = (),
) -> list[Outcome]:
    """The outcomes of some seeds.  Where the batch cannot be built, each seed is tried by itself."""
    try:
        return Batch(seeds, folder, mpi, families).outcomes(check, traced)
    except (LaunchError, OSError, ValueError, KeyError) as error:
        if len(seeds) == 1:
            return [Outcome(seeds[0], f"{type(error).__name__}: {error}")]
        alone = ((seed, folder / f"alone{seed}") for seed in seeds)
        return [one for seed, own in alone for one in judged([seed], own, mpi, check, traced, families)]
