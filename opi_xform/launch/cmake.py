"""What opi_transform of the CMake package runs when a target is built: opi-xform over the target's own sources.

Sources and flags are those of CMake's compile_commands.json, as far as they are compiled into the object directories of
the targets.  Beside the index lie files for the build system: a mark for each source, which changes when what is
compiled for it does, and the list of what was read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opi_xform.launch.mpi import LaunchError
from opi_xform.launch.runtime import locked
from opi_xform.launch.tools import XFORM
from opi_xform.launch.transform import Index, mark_of, output_of, read_index

_SUMMARY = re.compile(r"\d+ sites?: ")
DATABASE = "compile_commands.json"


def entries(database: Path, folders: Sequence[str], configuration: str) -> list[Mapping[str, Any]]:
    """The commands whose objects go to one of the folders, C only. Raises LaunchError."""
    try:
        listed = json.loads(database.read_bytes())
    except OSError as error:
        raise LaunchError(f"{database}: {error.strerror}; run cmake again") from error
    except ValueError as error:
        raise LaunchError(f"{database}: is not JSON; run cmake again") from error
    found: dict[str, list[Mapping[str, Any]]] = {}
    for entry in listed:
        words = shlex.split(entry.get("command", "")) or [str(word) for word in entry.get("arguments", ())]
        output = os.path.join(entry["directory"], output_of(words) or "")
        folder = next((f for f in folders if os.path.normpath(output).startswith(os.path.normpath(f) + "/")), None)
        if folder is not None and entry["file"].endswith(".c"):
            found.setdefault(entry["file"], []).append(entry)
            found[entry["file"]].sort(key=lambda e: f"/{configuration}/" not in str(e.get("command", "")))
    return [several[0] for several in found.values()]


def _marks(index: Index, to: Path) -> None:
    """One file for each source, a comment that tells what is compiled for it: its text and all headers'. Written where
    it changed."""
    headers = hashlib.sha256()
    for name in sorted(index.files):
        if name not in index.sources:
            headers.update(name.encode() + b"\0" + (index.tree / name).read_bytes())
    to.mkdir(parents=True, exist_ok=True)
    for name in index.sources:
        digest = hashlib.sha256((index.tree / name).read_bytes()).hexdigest()
        mark = mark_of(to.parent / "index", index.root / name)
        text = f"/* {digest} {headers.hexdigest()} */\n"
        if not mark.is_file() or mark.read_text(encoding="utf-8") != text:
            mark.write_text(text, encoding="utf-8")


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")


def make_index(build: Path, work: Path, configuration: str, folders: Sequence[str], options: Sequence[str]) -> int:
    """Makes ``work``/index of the targets; returns opi-xform's exit code. Raises LaunchError."""
    work.mkdir(parents=True, exist_ok=True)
    with locked(work / "lock"):  # two targets that share a source may want it at once
        found = entries(build / DATABASE, folders, configuration)
        if not found:
            raise LaunchError(f"{build / DATABASE}: lists no C source of this target; run cmake again")
        (work / DATABASE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        sources = list(dict.fromkeys(os.path.join(entry["directory"], entry["file"]) for entry in found))
        command = [*XFORM, *options, "-p", str(work), "--index", str(work / "index"), *sources]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        (work / "table").write_text(done.stdout, encoding="utf-8")
        sys.stderr.write(done.stderr)
        if done.returncode != 0:
            return done.returncode
        told = next((line for line in done.stdout.splitlines() if _SUMMARY.match(line)), None)
        if told is not None:
            print(f"{told}; {work / 'table'} tells which and why")
        index = read_index(work / "index")
        _marks(index, work / "marks")
        read = " ".join(_escaped(str(index.root / name)) for name in sorted(index.files))
        (work / "done.d").write_text(f"{_escaped(str(work / 'done'))}: {read}\n", encoding="utf-8")
        (work / "done").write_text("", encoding="utf-8")
    return 0


def main(arguments: Sequence[str]) -> int:
    """`opicc --cmake-index BUILD WORK config=NAME FOLDERS... -- OPTIONS`, for the CMake package alone."""
    at = list(arguments).index("--")
    build, work, configuration, *folders = arguments[:at]
    return make_index(Path(build), Path(work), configuration.partition("=")[2], folders, arguments[at + 1 :])
