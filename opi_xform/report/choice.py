"""Which codes are shown and counted (``--select``, ``--ignore``).  What is converted does not depend on it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from opi_xform.ownership.model.plan import Decision, Plan
from opi_xform.record import dataclass
from opi_xform.report.codes import CODES
from opi_xform.report.finding import Finding

ALL = "ALL"
ALWAYS = frozenset(("OPI906",))
"""Output that is out of date: one that is not what the sources give is never a matter of choice."""
_NEAREST, _LIKE = 3, 0.7


class UnknownCodeError(ValueError):
    """There is no such code; the message says which is meant, perhaps."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Beginnings of codes: ``OPI101``, ``OPI2``.  A code counts that is selected (None: each is) and not ignored."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()

    @property
    def all(self) -> bool:
        """Nothing is hidden."""
        return self.select is None and not self.ignore

    def counts(self, code: str) -> bool:
        """Whether a code is shown."""
        return code in ALWAYS or (
            (self.select is None or code.startswith(self.select)) and not (self.ignore and code.startswith(self.ignore))
        )

    def shows(self, site: Decision) -> bool:
        """Whether a site is shown: one that converts has no code, and is not what was selected."""
        return self.counts(site.code) if site.decision == "keep" else self.select is None

    def plan(self, plan: Plan) -> Plan:
        """The plan as it is shown."""
        if self.all:
            return plan
        return replace(
            plan,
            decisions=tuple(d for d in plan.decisions if self.shows(d)),
            diagnostics=tuple(d for d in plan.diagnostics if self.counts(d.code)),
        )

    def findings(self, findings: Iterable[Finding]) -> list[Finding]:
        """Those that count."""
        return [finding for finding in findings if self.counts(finding.code)]

    def hidden(self, plan: Plan) -> int:
        """How many sites are not shown."""
        return sum(not self.shows(d) for d in plan.decisions)


def codes_of(words: Iterable[str]) -> tuple[str, ...]:
    """What an option or opi.toml names: codes or their beginnings, several with commas between.

    Raises UnknownCodeError.
    """
    found = []
    for word in (part.strip().upper() for text in words for part in text.split(",")):
        if word == ALL:
            found.append("OPI")
        elif not word.startswith("OPI") or not any(code.startswith(word) for code in CODES):
            raise UnknownCodeError(unknown(word))
        else:
            found.append(word)
    return tuple(found)


def unknown(code: str) -> str:
    """What is said of a code that there is not, with those that may be meant."""
    known = code.upper()
    begun = [other for other in CODES if known.startswith("OPI") and other.startswith(known)]
    advice = f"{_listed(begun)} begin with it" if len(begun) > 1 else meant(known, CODES)
    return f"there is no code {code or repr('')}; {advice or '`opi-xform --explain all` lists them'}"


def meant(word: str, known: Collection[str]) -> str:
    """``did you mean --explain?``, or '' where nothing is near."""
    near = difflib.get_close_matches(word, known, _NEAREST, _LIKE)
    return f"did you mean {_listed(near, 'or')}?" if near else ""


def _listed(words: Sequence[str], last: str = "and") -> str:
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else words[0]
