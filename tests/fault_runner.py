"""Runs a job that is to fail, and tells what is left of it: ``fault_runner.py SCRATCH [--namespace] [--tiny-shm]
[--kill-launcher] [--visible DIR]... [--limit S] -- COMMAND... [--and COMMAND...]``, one JSON object on stdout. A job
that does not end is told on stderr, with what each of its threads does; the exit code is then 3 where it has not come
to its fault, else 1.

With ``--namespace`` it has to be the first process of namespaces of its own (``unshare -rmpif --mount-proc``): /tmp and
/dev/shm are then empty at the start, and whatever is there at the end, and every process, and every object of System V,
is the job's. Without, the machine is shared with others: only what bears libopi's name or runs from SCRATCH counts.

The job gets the name of a file, ``SCRATCH/stamp``, into which it writes the time of its fault. The times that are
printed count from there, on the same clock.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

LIMIT_S = 60
"""A job that is still there after this time is given up."""
NEVER_FAULTY = 3
"""The exit code where a job neither ended nor came to its fault."""


def own_temporary_files(scratch: Path, visible: list[Path], tiny_shm: bool) -> None:
    """Gives this mount namespace an empty /tmp and /dev/shm; directories of `visible` that lie in them stay where they
    are."""

    def mount(*arguments: str | Path) -> None:
        subprocess.run(["mount", *map(str, arguments)], check=True)

    empty = {"/tmp": scratch / "tmp", "/dev/shm": scratch / "shm"}
    for root, place in empty.items():
        place.mkdir(exist_ok=True)
        mount("-t", "tmpfs", *(("-o", "size=64k") if tiny_shm and root == "/dev/shm" else ()), "tmpfs", place)
        for path in sorted({scratch, *visible}):
            if path.is_relative_to(root) and not (place / path.relative_to(root)).exists():
                kept = place / path.relative_to(root)
                kept.mkdir(parents=True)
                mount("--bind", path, kept)
    for root, place in empty.items():
        mount("--rbind", place, root)
    os.environ["TMPDIR"] = "/tmp"
    os.chdir("/")


def files(everything: bool) -> list[str]:
    """Files in the places for temporary ones, what differs between runs taken out of their names."""
    found = set()
    for root in ("/dev/shm", "/tmp"):
        device = os.stat(root).st_dev
        for directory, below, names in os.walk(root):
            below[:] = [
                d for d in below if everything and os.lstat(os.path.join(directory, d)).st_dev == device
            ]  # not into `visible`
            for name in names:
                if everything or ("opi" in name.lower() and "openmpi" not in name.lower()):
                    known = re.sub(r"(hydra_hwloc_xmlfile_)\w{6}$", r"\1#", name)  # MPICH's mpiexec uses mkstemp
                    found.add(re.sub(r"[0-9a-f]{4,}|\d+", "#", os.path.join(directory, known)))
    return sorted(found)


def processes(everything: bool, scratch: Path) -> list[str]:
    """What runs besides this script, and every memfd of libopi that is still open; the dead are buried."""
    with contextlib.suppress(ChildProcessError):
        while everything and os.waitpid(-1, os.WNOHANG)[0]:
            pass
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in (1, os.getpid(), os.getppid()):
            continue
        with contextlib.suppress(OSError):
            program = os.readlink(entry / "exe")
            if everything or program.startswith(str(scratch)):
                found.append((entry / "comm").read_text().strip())
                found += [
                    link for fd in (entry / "fd").iterdir() if "memfd:opi" in (link := os.readlink(fd)) and fd.exists()
                ]
    return sorted(found)


def waiting_places(everything: bool, scratch: Path) -> list[str]:
    """Of a job that does not end: each process besides this script, and where in the kernel each of its threads is."""
    found = []
    for entry in sorted(Path("/proc").iterdir()):
        if not entry.name.isdigit() or int(entry.name) in (1, os.getpid(), os.getppid()):
            continue
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if not everything and str(scratch).encode() not in b" ".join(words):
                continue
            threads = []
            for task in sorted((entry / "task").iterdir()):
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                call = (task / "syscall").read_text().split()[0]
                threads.append(f"{state} {(task / 'wchan').read_text()} {call}")
            name = (entry / "comm").read_text().strip()
            found.append(f"{name} {entry.name}: {', '.join(threads)}")
    return found


def system_v() -> int:
    """Segments, semaphores and queues of System V."""
    return sum(len(Path(f"/proc/sysvipc/{kind}").read_text().splitlines()) - 1 for kind in ("shm", "sem", "msg"))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("scratch", type=Path)
    for flag in ("--namespace", "--tiny-shm", "--kill-launcher"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--visible", type=Path, action="append", default=[])
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="S")
    split = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:split])
    words = sys.argv[split + 1 :]
    second: list[str] = []
    if "--and" in words:
        words, second = words[: words.index("--and")], words[words.index("--and") + 1 :]
    if options.namespace:
        own_temporary_files(options.scratch, options.visible, options.tiny_shm)
    stamp = options.scratch / "stamp"
    started = time.monotonic()
    jobs, outputs = [], []
    for number, command in enumerate(filter(None, (words, second))):
        outputs.append(options.scratch / f"output{number}")
        with open(outputs[-1], "wb") as output:
            jobs.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT))
    if options.kill_launcher:
        while not (stamp.exists() and stamp.read_text()) and time.monotonic() < started + options.limit:
            time.sleep(0.005)
        jobs[0].send_signal(signal.SIGKILL)
    codes = []
    ended = started
    for job in jobs:
        try:
            codes.append(job.wait(timeout=options.limit))
        except subprocess.TimeoutExpired:
            faulty = stamp.exists() and stamp.read_text() != ""
            print(
                f"not ended after {options.limit:.0f} s, {'after' if faulty else 'before'} its fault;",
                f"processes: {waiting_places(options.namespace, options.scratch)};",
                f"outputs: {[output.read_text(errors='replace') for output in outputs]}",
                file=sys.stderr,
            )
            for other in jobs:
                other.kill()
            return 1 if faulty else NEVER_FAULTY
        if job is jobs[0]:
            ended = time.monotonic()
    while (left := processes(options.namespace, options.scratch)) and time.monotonic() < ended + options.limit / 4:
        time.sleep(0.01)
    gone = time.monotonic()
    told = stamp.read_text() if stamp.exists() else ""  # it is empty where the only rank that marks was ended meanwhile
    fault = int(told) * 1e-9 if told else started
    print(
        json.dumps(
            {
                "codes": codes,
                "outputs": [output.read_text(errors="replace") for output in outputs],
                "ended_s": ended - fault,
                "gone_s": gone - fault,
                "processes": left,
                "files": files(options.namespace),
                "system_v": system_v() if options.namespace else 0,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
