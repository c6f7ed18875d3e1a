"""A job and the processes that it has started: who they are, how they are ended, and a run that ends in time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.launch.mpi import LaunchError


def children() -> dict[int, list[int]]:
    """The processes of the machine by their parents."""
    found: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            text = Path(f"/proc/{entry}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it ended meanwhile
        # The name stands in parentheses and may hold anything; what follows the last one are letters and numbers.
        found.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(entry))
    return found


def descendants(pid: int) -> Iterator[int]:
    """A process and all that it has started, and those these have started."""
    by_parent, worklist = children(), [pid]
    while worklist:
        one = worklist.pop()
        yield one
        worklist += by_parent.get(one, [])


def end(pid: int) -> None:
    """Kills a job and all its processes."""
    for one in [*descendants(pid)][::-1]:
        try:
            os.kill(one, signal.SIGKILL)
        except OSError:
            continue


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended."""

    code: int
    out: str
    err: str
    seconds: float
    in_time: bool = True


def run_job(
    command: Sequence[str], environment: Mapping[str, str], cwd: Path | None, timeout_s: float, work: Path
) -> Ended:
    """Runs a job without input. One that does not end in time is killed, with every process it has started.

    Its output goes through files in ``work``: a pipe is held open by a rank that outlives its launcher.
    Raises LaunchError when it cannot be started.
    """
    out, err = work / "stdout", work / "stderr"
    begun = time.monotonic()
    with out.open("wb") as to, err.open("wb") as errors:
        try:
            process = subprocess.Popen(
                command, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=to, stderr=errors
            )
        except OSError as error:
            raise LaunchError(f"{error.filename or command[0]}: cannot be run: {error.strerror}") from error
        in_time = True
        try:
            process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            in_time = False
        finally:
            if process.poll() is None:
                end(process.pid)
                process.wait()
    said = [file.read_text(encoding="utf-8", errors="replace") for file in (out, err)]
    return Ended(process.returncode, said[0], said[1], time.monotonic() - begun, in_time)
