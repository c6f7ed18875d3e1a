"""``make oracle``: every annotated case against the accesses of its original program.

A site that should convert must have no violating access.  One that must stay for a dynamic reason (its bytes are read
after it) has one; ``//~ silent: why`` in its text says why there is none to be seen, and must be true.  Reasons of
names, requests and text (all conditions but those of contents) leave no trace in an execution.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from case_tools import Case, load_cases

from opi_xform.launch.mpi import Mpi, find_mpi
from tests.machines.oracle.oracle import Spoilt, forbidding, violations

DIVIDED = ("parts_", "starts_", "summed_")
"""Cases with messages that get memory of their own in a larger buffer: only bytes of messages count."""
DYNAMIC = ("send_", "pack_", "recv_", "rows_", "flag_", "f_")


def spoilt(case: Case, mpi: Mpi) -> Spoilt:
    """What the oracle finds in one case."""
    with tempfile.TemporaryDirectory() as folder:
        divided = case.folder.name == "convert" and case.name.startswith(DIVIDED)
        return violations([case.folder / name for name in case.files], Path(folder), mpi, parts=divided)


def wrong_wishes(case: Case, found: Spoilt) -> list[str]:
    """Sites that are said to convert and have a violating access.

    Of a case with `//~ replaces: why` the receives become calls that leave what is there where the source is
    MPI_PROC_NULL.
    """
    side = {"give": "send", "take": "recv"}
    replaces = bool(re.search(r"^//~ replaces: ", "\n".join(case.texts.values()), re.MULTILINE))
    return [
        f"{wish.file}:{wish.line}: {wish.kind}({wish.buffer}) is forbidden by the access at {sorted(reads)}"
        for wish in case.wishes
        if wish.kind in side and (reads := forbidding(found, (wish.file, wish.line, side[wish.kind]), replaces))
    ]


def exhibited(case: Case, found: Spoilt) -> bool:
    """Some access forbids a site that is said to stay."""
    lines = {(wish.file, wish.line) for wish in case.wishes if wish.kind == "keep"}
    return any((file, line) in lines for file, line, _ in found)


def silent_for(case: Case) -> str:
    """Why no access can be shown for a case that stays; '' when one has to be."""
    found = re.search(r"^//~ silent: (.*)$", "\n".join(case.texts.values()), re.MULTILINE)
    return found[1] if found else ""


def main() -> int:
    mpi = find_mpi()
    wrong: list[str] = []
    for case in load_cases("convert"):
        wrong += wrong_wishes(case, spoilt(case, mpi))
    print(f"sites said to convert with a violating access: {len(wrong)}", *wrong, sep="\n  ")
    dynamic = [case for case in load_cases("keep") if case.name.startswith(DYNAMIC)]
    shown = {case.name: exhibited(case, spoilt(case, mpi)) for case in dynamic}
    print(f"keep cases with a dynamic reason: {len(dynamic)}, exhibited: {sum(shown.values())}")
    for case in dynamic:
        if silent_for(case) and not shown[case.name]:
            print(f"  {case.name}, not exhibited: {silent_for(case)}")
    mute = [case.name for case in dynamic if not shown[case.name] and not silent_for(case)]
    told = [case.name for case in dynamic if shown[case.name] and silent_for(case)]
    print(f"not exhibited, and no reason given: {', '.join(mute) or 'none'}")
    print(f"said to be silent, and exhibited: {', '.join(told) or 'none'}")
    return 1 if wrong or mute or told else 0


if __name__ == "__main__":
    sys.exit(main())
