"""`python -m opi_xform.bindings [--check] [MPICC...]`: writes names.c and names_windows.c, or says what is old.

Every function of the table has to be in one of the headers, so an MPI 4 is needed among the compilers named.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from opi_xform.bindings.generate import generate
from opi_xform.bindings.header import HeaderError, read_header
from opi_xform.bindings.table import TableError, read_table, unclassified
from opi_xform.launch.mpi import LaunchError, find_mpicc
from opi_xform.resources import IncompleteInstallError, runtime_dir


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m opi_xform.bindings", description="The MPI's names in libopi.")
    parser.add_argument("mpicc", nargs="*", type=Path, help="compilers of the MPIs whose mpi.h is read")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when something is out of date")
    options = parser.parse_args(arguments)
    try:
        table = read_table()
        headers = [read_header(mpicc) for mpicc in options.mpicc or [find_mpicc()]]
        unknown = sorted({name for header in headers for name in unclassified(header.values(), table)})
        if unknown:
            print(f"the table does not say whose these are: {', '.join(unknown)}", file=sys.stderr)
            return 1
        folder = runtime_dir() / "process" / "mpi"
        texts = {folder / file: text for file, text in generate(headers, table).items()}
        if options.check:
            old = [
                path for path, text in texts.items() if not path.is_file() or path.read_text(encoding="utf-8") != text
            ]
            for path in old:
                print(f"{path} is out of date", file=sys.stderr)
            return int(bool(old))
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except (HeaderError, TableError, LaunchError, IncompleteInstallError) as error:
        print(f"bindings: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
