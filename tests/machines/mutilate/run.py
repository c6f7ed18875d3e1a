"""``python -m tests.machines.mutilate.run --seeds N``: mutilated programs through opi-xform.

It must end with exit code 2, or with 0 and a result that prints what the original prints; ``--keep`` names a folder for
the programs of seeds that fail.  Only a program whose own output means something is compared: one that goes wrong by
itself, whose output changes with what lies in memory that it never wrote or with the order of its ranks, or that the
sanitizers object to, is counted as undefined.  One whose output changes with how its messages travel (a receive that it
never completes) is counted apart and named.  One whose output changes only by what a named assumption allows is
transformed again with --strict, which rests on none, and must then agree: it is counted as assumed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from case_tools import run_tool

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi
from opi_xform.launch.tools import OPICC, captured, compile_with
from tests.machines.mutilate.generate import Mutilated, mutilated

FLAGS = ("-O1", "-w")
RANKS = 2
SECONDS = 10
SANITIZED = ("-O0", "-g", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_ALONE = f"ulimit -t {SECONDS} -f 4096 -c 0; " + 'exec "$0" > "$1.${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}"'

Output = tuple[int, tuple[bytes, ...]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """``problem``: '' where all is well; ``kind``: refused, kept, same, assumed, undefined, travels or failed.

    travels: the untransformed program, too, prints something else when libopi carries its messages.  It depends on how
    they travel, or libopi is wrong: a person has to look, so its seed is named.
    compiles: the MPI's own compiler takes every file.
    """

    kind: str
    problem: str = ""
    compiles: bool = False


def judged(seed: int, folder: Path, mpi: Mpi) -> Outcome:
    """One program, transformed and, where that changed it, run both ways."""
    program = mutilated(seed)
    before = folder / "before"
    write(program, before)
    code, changed, said = transformed(program, before, folder / "after")
    compiles = all(_compiles(before / name, folder, mpi) for name in program.sources)
    if code not in (0, 2) or "Traceback" in said:
        return Outcome("failed", f"opi-xform: exit code {code}\n{said[-3000:]}", compiles)
    if code == 2:
        return Outcome("refused", compiles=compiles)
    if not changed or not compiles:
        return Outcome("kept", compiles=compiles)
    try:
        original = _built((str(mpi.mpicc),), program, before, folder / "original.exe", mpi)
    except LaunchError:  # main is not in what is left of it
        return Outcome("kept", compiles=True)
    expected = _defined_output(original, mpi)
    if expected is None:
        return Outcome("undefined", compiles=True)
    try:
        found = _printed(_built(OPICC, program, folder / "after", folder / "transformed.exe", mpi), mpi)
    except LaunchError as error:
        return Outcome("failed", f"the result does not build: {error}", True)
    if found == expected:
        return Outcome("same", compiles=True)
    if not _clean(program, before, folder / "sanitized.exe", mpi):
        return Outcome("undefined", compiles=True)
    if _printed(_built(OPICC, program, before, folder / "carried.exe", mpi), mpi, "165") != expected:
        return Outcome("travels", compiles=True)
    strict = folder / "strict"
    code, _, said = transformed(program, before, strict, "--strict")
    if code != 0:
        return Outcome("failed", f"opi-xform --strict: exit code {code}\n{said[-3000:]}", True)
    if _printed(_built(OPICC, program, strict, folder / "strict.exe", mpi), mpi) == expected:
        return Outcome("assumed", compiles=True)
    return Outcome("failed", f"printed {expected}\nand now {found}"[:1500], True)


def write(program: Mutilated, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in program.texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def transformed(program: Mutilated, folder: Path, out: Path, *more: str) -> tuple[int, bool, str]:
    """Exit code, whether any site converted, and what was said on stderr; the result is put into ``out``."""
    sources = [str(folder / name) for name in program.sources]
    code, report, said = run_tool([*sources, "--output-format", "json", "-v", "-j", "1", "-o", str(out), *more])
    if code != 0:
        return code, False, said
    for name, text in program.texts.items():
        if not (out / name).exists():
            (out / name).write_text(text, encoding="utf-8")
    return 0, any(site["decision"] == "convert" for site in json.loads(report)["sites"]), said


def _compiles(source: Path, folder: Path, mpi: Mpi) -> bool:
    command = [str(mpi.mpicc), "-w", "-fsyntax-only", str(source)]
    return captured(command, mpi, cwd=folder, timeout_s=60).returncode == 0


def _built(compiler: tuple[str, ...], program: Mutilated, folder: Path, out: Path, mpi: Mpi) -> Path:
    return compile_with(compiler, [str(folder / name) for name in program.sources], out, mpi, FLAGS)


def _printed(program: Path, mpi: Mpi, fill: str = "") -> Output:
    """Exit code and what each rank printed; a program that does not end by itself is ended, and so are its ranks."""
    for old in program.parent.glob(f"{program.name}.out.*"):
        old.unlink()
    out = str(program) + ".out"
    command = ["timeout", "-k", "5", str(3 * SECONDS), *mpi.run_command(RANKS), "sh", "-c", _ALONE, str(program), out]
    extra = {"MPIEXEC_TIMEOUT": str(2 * SECONDS), "ASAN_OPTIONS": "detect_leaks=0", "MALLOC_PERTURB_": fill or "0"}
    done = captured(command, mpi, timeout_s=6 * SECONDS, extra=extra)
    texts = tuple(file.read_bytes() for file in sorted(program.parent.glob(f"{program.name}.out.*")))
    return done.returncode, texts


def _defined_output(program: Path, mpi: Mpi) -> Output | None:
    """What it prints; None where that is nothing to hold a result to."""
    first = _printed(program, mpi)
    return first if first[0] == 0 and first == _printed(program, mpi, "165") else None


def _clean(program: Mutilated, folder: Path, out: Path, mpi: Mpi) -> bool:
    """The sanitizers find nothing in the original, and memory that is never written does not show in its output."""
    sources = [str(folder / name) for name in program.sources]
    outputs = []
    for number, flags in enumerate(
        (SANITIZED, *((*FLAGS, f"-ftrivial-auto-var-init={x}") for x in ("zero", "pattern")))
    ):
        try:
            built = compile_with((str(mpi.mpicc),), sources, out.with_suffix(f".{number}"), mpi, flags)
        except LaunchError:  # a compiler without the option
            continue
        outputs += [_printed(built, mpi, fill) for fill in ("0", "165")]
    return all(output == outputs[0] and output[0] == 0 for output in outputs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the programs of seeds that fail")
    arguments = parser.parse_args()
    mpi = find_mpi()
    kinds: Counter[str] = Counter()
    compile_too, failed, travels = 0, [], []
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        with tempfile.TemporaryDirectory() as scratch:
            outcome = judged(seed, Path(scratch), mpi)
        kinds[outcome.kind] += 1
        compile_too += outcome.compiles
        if outcome.kind == "travels":
            travels.append(seed)
        if outcome.problem:
            failed.append(seed)
            program = mutilated(seed)
            print(f"seed {seed} ({program.origin}, {program.file}: {program.way}): {outcome.problem}", flush=True)
            if arguments.keep is not None:
                write(program, arguments.keep / f"seed{seed}")
    shares = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    print(f"{arguments.seeds} mutilated programs, {compile_too} of which compile: {shares}; failed: {failed or 'none'}")
    if travels:
        print(f"print something else as soon as libopi carries their messages, look at them: {travels}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
