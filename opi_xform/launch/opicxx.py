"""opicxx: the MPI's own C++ compiler plus libopi, for C++ programs and for linking C and C++ together."""

from __future__ import annotations

import sys

from opi_xform.launch import opicc


def main() -> int:
    """The console command."""
    return opicc.main(opicc.OPICXX)


if __name__ == "__main__":
    sys.exit(main())
