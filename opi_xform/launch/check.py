"""Compiles the runtime, libopi_ranks too, warnings being errors: ``python -m opi_xform.launch.check``, for lint."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from opi_xform.launch import ranks
from opi_xform.launch.mpi import LaunchError, find_mpi
from opi_xform.launch.runtime import BASE_FLAGS, compile_command, malloc_sources, sources

WARNINGS = ("-Wall", "-Wextra", "-Werror")


def main() -> int:
    """Exit code 0 when every source of libopi and of libopi_ranks compiles without a warning."""
    try:
        mpi = find_mpi()
    except LaunchError as error:
        print(f"runtime check: {error}", file=sys.stderr)
        return error.code
    failed, files = 0, [*sources(), *malloc_sources()]
    with tempfile.TemporaryDirectory() as scratch:
        for source in files:
            command = compile_command(mpi, source, Path(scratch) / "check.o", (*BASE_FLAGS, *WARNINGS))
            failed += subprocess.run(command, check=False).returncode != 0
        of_ranks = [*ranks.ranks_sources(), *ranks.generate(mpi, Path(scratch))]
        for source in of_ranks:
            flags = (*BASE_FLAGS, *WARNINGS)
            command = ranks.compile_command(mpi, source, Path(scratch) / "check.o", flags, Path(scratch))
            failed += subprocess.run(command, check=False).returncode != 0
        files += of_ranks
    print(f"runtime check: {len(files)} files, {failed} with warnings or errors")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
