"""``python -m tests.audit``: what the docs say of conditions and codes, written anew; ``--check`` only compares.

The table of conditions in docs/soundness.md: a row is a condition, or the parts of one, which are of one name: what is
required, the functions that enforce it, the codes, the cases that must stay and the planted bugs that such a case
catches.  A row without one of these, but for the codes, is an error.  The table of codes, docs/codes/README.md.  Of
each code's page the head, its title and what it means, and the end: a buffer of a message's own where that helps, what
its conditions require, some of its cases.
And the lines of opi_xform/ownership/README.md.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import re
import sys
import textwrap
from collections.abc import Callable
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parent))

from case_tools import Case, load_cases

from opi_xform.ownership.conditions.table import TABLE
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.record import dataclass
from opi_xform.report.codes import CODES
from tests.advice.own_buffer import HEADING, section
from tests.machines.planted.bug import Bug
from tests.machines.planted.bugs import BUGS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "soundness.md"
FOLDER = PAGE.parent / "codes"
OWNERSHIP = PAGE.parent.parent / "opi_xform" / "ownership"
BEGIN, END = "<!-- conditions: python -m tests.audit -->", "<!-- end of conditions -->"
SHOWN = 3
"""Names of cases and bugs that a row shows."""
TESTED = "## What is required, and tested"
"""The heading of what is written anew at the end of a code's page."""
TOLD, WIDTH = 5, 98
"""Cases that a code's page tells, and columns of its text."""


@dataclass(frozen=True, slots=True)
class Row:
    """All that the parts of a condition say; of ``enforced`` the checks come first."""

    name: str
    requires: str
    enforced: tuple[str, ...]
    codes: tuple[str, ...]
    cases: tuple[str, ...]


def rows() -> list[Row]:
    """The table's conditions by name, without those that keep what would be right."""
    parts: dict[str, list[Condition]] = {}
    for condition in TABLE:
        if condition.sound:
            parts.setdefault(condition.name, []).append(condition)
    return [
        Row(
            name,
            " ".join(c.requires for c in mine),
            tuple(dict.fromkeys(place for c in mine for place in (*map(_place, c.checks()), *c.enforced))),
            tuple(dict.fromkeys(code.code for c in mine for code in c.codes)),
            tuple(dict.fromkeys(pattern for c in mine for pattern in c.cases)),
        )
        for name, mine in parts.items()
    ]


def _place(check: Callable[..., object]) -> str:
    return f"{check.__module__.removeprefix('opi_xform.')}:{check.__name__}"


def cases_of(condition: Row, keep: tuple[Case, ...]) -> list[str]:
    """The cases that must stay because of a condition, by name."""
    named = set(condition.codes)
    return [
        case.name
        for case in keep
        if any(fnmatch(case.name, pattern) for pattern in condition.cases)
        or any(wish.must and wish.code in named for wish in case.wishes)
    ]


def bugs_of(condition: Row) -> list[Bug]:
    return [bug for bug in BUGS if bug.condition == condition.name]


def problems() -> list[str]:
    """What is wrong with the table: names that are not there, empty columns, bugs of no condition."""
    keep = load_cases("keep")
    out: list[str] = []
    for condition in rows():
        for place in condition.enforced:
            module, _, name = place.partition(":")
            if not hasattr(importlib.import_module(f"opi_xform.{module}"), name):
                out.append(f"{condition.name}: there is no {place}")
        out += [
            f"{condition.name}: no {what}"
            for what, there in (
                ("requirement", condition.requires),
                ("function", condition.enforced),
                ("case", cases_of(condition, keep)),
                ("planted bug", bugs_of(condition)),
            )
            if not there
        ]
        out += [
            f"{condition.name}: no case matches {pattern}"
            for pattern in condition.cases
            if not any(fnmatch(case.name, pattern) for case in keep)
        ]
    names = {condition.name for condition in rows()}
    out += [f"planted bug '{bug.name}': no condition '{bug.condition}'" for bug in BUGS if bug.condition not in names]
    return out


def table() -> str:
    """The rows as Markdown."""
    keep = load_cases("keep")
    lines = [
        "| condition | requires | enforced by | codes | cases that stay | planted bugs |",
        "|---|---|---|---|---|---|",
    ]
    for condition in rows():
        enforced = ", ".join(f"`{place.replace(':', '.')}`" for place in condition.enforced)
        cases = cases_of(condition, keep)
        bugs = bugs_of(condition)
        row = (
            condition.name,
            condition.requires,
            enforced,
            ", ".join(condition.codes),
            _some([f"`{name}`" for name in cases]),
            _some([bug.name for bug in bugs], "; "),
        )
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _some(names: list[str], between: str = ", ") -> str:
    shown = between.join(names[:SHOWN])
    return f"{len(names)}: {shown}" + (f"{between}…" if len(names) > SHOWN else "")


def page() -> str:
    """docs/soundness.md with the table as it should be."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def codes_table() -> str:
    """docs/codes/README.md with the table of codes as it should be."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    head, line, _ = text.partition("|---|---|---|\n")
    found = (f"| [{c.code}]({c.code}.md) | {c.title} | {c.meaning} |\n" for c in CODES.values())
    return head + line + "".join(found)


@cache
def cases_by_code() -> dict[str, list[Case]]:
    """The cases that must stay with a code: those that a page tells do not change with others that come or go."""
    out: dict[str, list[Case]] = {}
    for case in load_cases("keep"):
        for code in sorted({wish.code for wish in case.wishes if wish.must and wish.code}):
            out.setdefault(code, []).append(case)
    return {code: sorted(found, key=lambda case: crc32(case.name.encode())) for code, found in out.items()}


def said_of(case: Case) -> str:
    """The first sentence of the comment with which a case begins."""
    comment = re.match(r"/\*(.*?)\*/", case.texts[case.analysed[0]], re.S)
    words = " ".join((comment[1] if comment else "").replace("\n *", "\n").split())
    return re.split(r"(?<=[.:;])\s", words)[0].rstrip(".:;") + "." if words else ""


def tested(code: str) -> str:
    """The end of a code's page; '' where no condition has it and no case stays for it."""
    required = dict.fromkeys(c.requires for c in TABLE if c.sound and code in {one.code for one in c.codes})
    found = cases_by_code().get(code, [])
    told = [f"`{case.name}`: {said}" for case in found if (said := said_of(case))][:TOLD]
    if not required and not told:
        return ""
    lines = [*required, *([""] if required and told else [])]
    if told:
        many = (
            f"{len(found)} programs of the tests stay with it"
            if len(found) > 1
            else "A program of the tests stays with it"
        )
        lines += [f"{many}{', such as' if len(found) > len(told) else ''}:", "", *(f"- {one}" for one in told)]
    text = "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  " * line.startswith("- ")) for line in lines)
    return f"\n{TESTED}\n\n{text}\n"


def code_page(code: str) -> str:
    """The page of a code with its head and its end as they should be; what is between is a person's."""
    text = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    _, _, rest = text.partition("\n\n")
    _, _, rest = rest.partition("\n\n")
    own = rest.partition(f"\n{TESTED}\n")[0].partition(f"\n{HEADING}\n")[0]
    return f"# {code}: {CODES[code].title}\n\n{CODES[code].meaning}\n\n{own}{section(code)}{tested(code)}"


def ownership_page() -> str:
    """opi_xform/ownership/README.md: its head is a person's, the rest has what each file says first of itself."""
    head, line, _ = (OWNERSHIP / "README.md").read_text(encoding="utf-8").partition("holds these lines to them.\n")
    lines = [head + line]
    for folder in (OWNERSHIP, *sorted(path.parent for path in OWNERSHIP.rglob("*/__init__.py"))):
        name = "" if folder == OWNERSHIP else f"{folder.relative_to(OWNERSHIP).as_posix()}/"
        lines += [f"## `{name}`", "", _said(folder / "__init__.py"), ""] if name else []
        files = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
        lines += [*(f"- `{name}{path.name}`: {_said(path)}" for path in files), ""]
    return "\n".join(lines)


def _said(path: Path) -> str:
    """The first paragraph of a module's docstring."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(said.split("\n\n")[0].split())


def pages() -> dict[Path, str]:
    """All that is written anew."""
    codes = {FOLDER / f"{c}.md": code_page(c) for c in CODES}
    return {PAGE: page(), FOLDER / "README.md": codes_table(), OWNERSHIP / "README.md": ownership_page(), **codes}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where the page differs")
    arguments = parser.parse_args()
    found = problems()
    print(*found, sep="\n", end="\n" if found else "")
    stale = {path: text for path, text in pages().items() if text != path.read_text(encoding="utf-8")}
    if arguments.check:
        print(
            *(f"{path.relative_to(PAGE.parent.parent)} is not what the code says" for path in stale), sep="\n", end=""
        )
        return int(bool(found or stale))
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
