"""``python -m tests.corpus``: what the annotated cases cover; with ``--sites``, how many convertible sites convert.

A case may end with a line ``//~ points 4, 9``: the numbered observations on real codes that it is about.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from case_tools import Case, analyse, load_cases

POINTS = {
    1: "fresh memory needs no coverage proof, zeroed and static memory does",
    2: "a posted count is an upper bound",
    3: "live ranges, not allocations: roles change between phases",
    4: "one allocation, several messages",
    5: "how coverage shows: counters, cursors, tiles, index tables",
    6: "correlated guards around pack, send and wait",
    7: "completion elsewhere",
    8: "names taken before the receive",
    9: "paths without a message",
    10: "shared helpers for messages, memory and free",
    11: "mixed pairs: one side converts",
}
CONDITIONS = "abcdefg"


def points_of(case: Case) -> tuple[int, ...]:
    """The observations that a case says it is about."""
    found = re.findall(r"^//~ points ([\d, ]+)$", "\n".join(case.texts.values()), re.MULTILINE)
    return tuple(int(number) for text in found for number in text.split(","))


def by_point() -> dict[int, list[str]]:
    """The cases of each observation, as folder/name."""
    out: dict[int, list[str]] = {point: [] for point in POINTS}
    for group in ("keep", "convert", "either"):
        for case in load_cases(group):
            for point in points_of(case):
                out[point].append(f"{group}/{case.name}")
    return out


def print_inventory() -> None:
    keep, convert, either = (load_cases(group) for group in ("keep", "convert", "either"))
    print(f"cases: {len(keep)} that stay, {len(convert)} that convert, {len(either)} either way")
    print("constructs that convert:")
    for construct, number in sorted(Counter(case.construct for case in convert).items()):
        print(f"  {construct}: {number}")
    print("reasons to stay, by the first word of the name:")
    for reason, number in sorted(Counter(case.name.partition("_")[0] for case in keep).items()):
        what = "condition " if reason in CONDITIONS else ""
        print(f"  {what}{reason}: {number}")
    print("observations on real codes:")
    for point, names in by_point().items():
        print(f"  {point} {POINTS[point]}: {', '.join(names)}")


def print_sites() -> None:
    """Of the sites that are said to convert (the oracle finds no access against one), those that do."""
    total = converted = 0
    rest: list[str] = []
    for case in load_cases("convert"):
        sites = analyse(case, case.folder)
        for wish in case.wishes:
            for site in sites if wish.kind in ("give", "take") else ():
                if wish.meets(site):
                    total += 1
                    converted += site.decision == "convert"
                    if site.decision != "convert":
                        rest.append(f"{case.name}:{site.line} {site.side} of {site.buffer}: {site.why}")
    print(f"sites that can convert: {total}, that do: {converted} ({100 * converted / max(total, 1):.1f} %)")
    print(*rest, sep="\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", action="store_true")
    print_sites() if parser.parse_args().sites else print_inventory()
    return 0


if __name__ == "__main__":
    sys.exit(main())
