"""A case in other words: which of its sites convert, and what it prints.

Every call of a message has a mark in front of it, a comment with a number, which goes wherever the call goes.  So a
site is known again in a text that has little else in common with the first.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from case_tools import Case, load_cases, output, run_tool

from opi_xform.frontend.errors import FrontendError
from opi_xform.ir import ast
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.tools import OPICC, captured, compile_with
from tests.machines.fuzz.batch import POISON, POISONED
from tests.machines.spell.source import MARK, Change, Edit, Source, Texts, apart, edited
from tests.machines.spell.table import Rewriting, rewritings

FLAGS = ("-O1", "-w")
CHECKS = ("-fsyntax-only", "-Wall", "-Wno-unused", "-Werror=implicit")
MOST = 4
"""Rewritings that are applied to one program."""
FEW = 3
"""Places at which one that puts in new statements is applied."""

Site = tuple[int, str]
Decisions = Mapping[Site, str]


@dataclass(frozen=True, slots=True)
class Step:
    """A rewriting that was applied, at how many places, and the texts that came of it."""

    name: str
    places: int
    texts: Texts


@dataclass(frozen=True, slots=True)
class Spelled:
    """A program in other words: of which case, with the seed's number."""

    seed: int
    case: Case
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        return f"{self.case.name}-{self.seed}"

    @property
    def texts(self) -> Texts:
        return self.steps[-1].texts


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a program.

    verdict: ``same``, ``lost`` (a site converts no more), ``wrong`` (it prints something else), or ``invalid`` (it does
    not compile, or prints something else untransformed: a fault of a rewriting).
    sites: those that convert in the case.  lost: for each site that converts no more, the rewriting after which it
    does so first, and the reason.  gained: likewise.  ran: it was run.
    """

    name: str
    verdict: str
    applied: tuple[str, ...]
    sites: int = 0
    lost: tuple[tuple[Site, str, str], ...] = ()
    gained: tuple[tuple[Site, str], ...] = ()
    problem: str = ""
    ran: bool = False


_MARKED: dict[str, Texts] = {}


@cache
def cases() -> tuple[Case, ...]:
    """Those that convert."""
    return load_cases("convert")


def marked(case: Case) -> Texts:
    """The texts of a case, as Latin-1, with a mark in front of each call."""
    if case.name not in _MARKED:
        _MARKED[case.name] = _marked(case)
    return _MARKED[case.name]


def _marked(case: Case) -> Texts:
    texts = {name: text.encode().decode("latin-1") for name, text in case.texts.items()}
    source = Source(texts, case.flags)
    calls: dict[tuple[str, int], Edit] = {}
    for place in source.places:
        match place.expr:
            case ast.Call(callee=ast.FuncRef(name=name)) as call if name.startswith("MPI_"):
                calls[(source.file(call.span), call.span.begin)] = source.before(call, "")
            case _:
                pass
    marks: list[Change] = []
    for number, (_, edit) in enumerate(sorted(calls.items())):
        marks.append((Edit(edit.file, edit.begin, edit.end, f"/*@{number}*/"),))
    return edited(texts, marks)


def spelled(case: Case, seed: int, only: Sequence[Rewriting] = (), count: int = 0) -> Spelled:
    """The program of a seed: ``count`` rewritings, or 1 to 4, one after the other, each at one place or at all."""
    rng = random.Random(f"{case.name} {seed}")
    texts = marked(case)
    steps: list[Step] = []
    left = list(only or rewritings())
    rng.shuffle(left)
    wanted = count or rng.randint(1, MOST)
    source: Source | None = None
    while left and len(steps) < wanted:
        try:
            source = source or Source(texts, case.flags)
        except FrontendError:
            break
        rule = left.pop()
        found = list(rule.changes(source))
        chosen = _chosen(rng, found, FEW if rule.kind in ("output", "flow", "blocks") else len(found))
        if chosen:
            texts = edited(texts, chosen)
            steps.append(Step(rule.name, len(chosen), texts))
            source = None  # parsed anew where another one follows
    return Spelled(seed, case, tuple(steps))


def _chosen(rng: random.Random, found: Sequence[Change], most: int) -> list[Change]:
    """One change, or all that do not touch each other, or about half of these."""
    share = rng.choice((0.0, 0.5, 1.0))
    chosen: list[Change] = []
    for change in rng.sample(list(found), len(found)):
        taken = not chosen or (share > 0 and rng.random() < share)
        if taken and all(apart(change, other) for other in chosen):
            chosen.append(change)
        if len(chosen) == most:
            break
    return chosen


class Judge:
    """Judges programs in a folder."""

    def __init__(self, folder: Path, mpi: Mpi) -> None:
        self.folder = folder
        self.mpi = mpi
        self._first: dict[str, Decisions] = {}

    def outcome(self, program: Spelled, run: bool) -> Outcome:
        """``run``: run the original, the program, and the transformed program, too."""
        names = tuple(step.name for step in program.steps)
        case = program.case
        if case.name not in self._first:
            self._first[case.name], _ = self._decided(case, marked(case), "first")
        first = self._first[case.name]
        sites = sum(decision == "convert" for decision in first.values())
        now, failed = self._decided(case, program.texts, "now")
        lost, gained = _differences(first, now)
        # The tool tells what clang refuses; the compiler is asked where more depends on it: starting it takes long.
        invalid = failed or (self._refused(case, program.texts) if lost or run else "")
        if invalid:
            return Outcome(program.name, "invalid", names, sites, problem=invalid)
        reasons = self._blamed(program, lost, True) if lost else ()
        surplus = self._blamed(program, gained, False) if gained else ()
        out = Outcome(
            program.name,
            "lost" if lost else "same",
            names,
            sites,
            tuple((site, name, now.get(site, "is gone")) for site, name in reasons),
            tuple(surplus),
        )
        return self._ran(program, out) if run else out

    # --- deciding ---------------------------------------------------------------------------------------------------

    def _decided(self, case: Case, texts: Texts, what: str) -> tuple[Decisions, str]:
        """What is decided of each site, ``convert`` or why not, and what is wrong with the program."""
        with TemporaryDirectory(prefix=what, dir=self.folder) as name:
            return decided(case, texts, Path(name))

    def _refused(self, case: Case, texts: Texts) -> str:
        with TemporaryDirectory(prefix="check", dir=self.folder) as name:
            folder = Path(name)
            write(texts, folder)
            sources = [str(folder / file) for file in texts if file.endswith(".c")]
            done = captured([str(self.mpi.mpicc), *CHECKS, *case.flags, *sources], self.mpi, timeout_s=60)
            return done.stderr[-1500:] if done.returncode else ""

    def _blamed(self, program: Spelled, sites: Sequence[Site], lost: bool) -> tuple[tuple[Site, str], ...]:
        """For each site the rewriting after which its decision is another."""
        blamed: dict[Site, str] = {}
        for step in program.steps[:-1]:
            now, _ = self._decided(program.case, step.texts, "step")
            for site in sites:
                if site not in blamed and (now.get(site) == "convert") != lost:
                    blamed[site] = step.name
        return tuple((site, blamed.get(site, program.steps[-1].name)) for site in sites)

    # --- running ----------------------------------------------------------------------------------------------------

    def _ran(self, program: Spelled, out: Outcome) -> Outcome:
        with TemporaryDirectory(prefix="run", dir=self.folder) as name:
            try:
                verdict, problem = self._compared(program, Path(name))
            except LaunchError as error:
                verdict, problem = "invalid", str(error)[-1500:]
        if verdict:
            return Outcome(out.name, verdict, out.applied, out.sites, out.lost, out.gained, problem, True)
        return Outcome(out.name, out.verdict, out.applied, out.sites, out.lost, out.gained, ran=True)

    def _compared(self, program: Spelled, folder: Path) -> tuple[str, str]:
        case, flags = program.case, (*FLAGS, *program.case.flags)
        plain = (str(self.mpi.mpicc),)
        printed = []
        for what, texts in (("first", marked(case)), ("before", program.texts)):
            write(texts, folder / what)
            sources = [str(folder / what / file) for file in texts if file.endswith(".c")]
            printed.append(output(compile_with(plain, sources, folder / f"{what}.exe", self.mpi, flags), self.mpi))
        if printed[0] != printed[1]:
            return "invalid", f"printed {printed[0]}\nand in other words {printed[1]}"[:1500]
        after = folder / "after"
        decided(case, program.texts, folder / "before", "-o", str(after))
        for file, text in program.texts.items():
            if not (after / file).exists():
                write({file: text}, after)
        poison = folder / "poison.c"
        poison.write_text(POISON, encoding="ascii")
        sources = [str(after / file) for file in program.texts if file.endswith(".c")]
        more = (*flags, *POISONED)
        built = compile_with(OPICC, [*sources, str(poison)], folder / "after.exe", self.mpi, more)
        last = output(built, self.mpi)
        return ("wrong", f"printed {printed[0]}\nand transformed {last}"[:1500]) if last != printed[0] else ("", "")


def decided(case: Case, texts: Texts, folder: Path, *more: str) -> tuple[Decisions, str]:
    """Of each marked site whether it converts (all copies of it do) or why it does not; and what went wrong."""
    write(texts, folder)
    analysed = [name for name in texts if name in case.analysed or (name.endswith(".c") and name not in case.files)]
    arguments = [str(folder / name) for name in analysed]
    code, out, said = run_tool([*arguments, "--output-format", "json", "-j", "1", *more, "--", *case.flags])
    if code != 0:
        return {}, f"opi-xform: exit code {code}\n{said[-1500:]}"
    found: dict[Site, str] = {}
    for site in json.loads(out)["sites"]:
        lines = texts[Path(site["file"]).name].splitlines(keepends=True)
        before = "".join(lines[: site["line"] - 1]) + lines[site["line"] - 1][: site["column"] - 1]
        numbers = MARK.findall(before)
        if numbers:
            key = (int(numbers[-1]), site["side"])
            decision = "convert" if site["decision"] == "convert" else f"{site['code']} {site['message']}"
            if found.get(key, "convert") == "convert":
                found[key] = decision
    return found, ""


def write(texts: Texts, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="latin-1")


def _differences(first: Decisions, now: Decisions) -> tuple[list[Site], list[Site]]:
    """Sites that convert no more, and those that did not before."""
    lost = [site for site in sorted(first) if first[site] == "convert" and now.get(site) != "convert"]
    gained = [site for site in sorted(first) if first[site] != "convert" and now.get(site) == "convert"]
    return lost, gained
