"""Small programs whose variables become private: decided, edited and read once more."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from opi_xform.frontend import parse_unit
from opi_xform.frontend.statics import collect
from opi_xform.ir.statics import Statics
from opi_xform.privatize.decide import decide
from opi_xform.privatize.edits.edits import edits
from opi_xform.privatize.edits.text import Text
from opi_xform.privatize.edits.verify import left_behind
from opi_xform.privatize.model import Decided, Settings, Variable
from opi_xform.privatize.names import Names
from opi_xform.rewrite.selfcheck import Rejected
from opi_xform.text.edit import apply_edits
from opi_xform.text.sources import Sources


@dataclass
class Private:
    """A program of the files f0.c, f1.c, …; ``root``: what may be edited."""

    folder: Path
    texts: tuple[str, ...]
    form: str
    root: str = ""
    units: list[Statics] = field(default_factory=list)

    def __post_init__(self) -> None:
        for i, text in enumerate(self.texts):
            (self.folder / f"f{i}.c").write_text(text)
        self.units = self.read()
        self.settings = Settings(self.form, self.root or str(self.folder), lambda f: f, lambda f: Path(f).name)
        self.text = Text(self.units, Sources(), self.settings, parse_unit)
        names: Names = self.text
        self.decided: Decided = decide(self.units, self.settings, names)

    def read(self) -> list[Statics]:
        return [collect(str(self.folder / f"f{i}.c")) for i in range(len(self.texts))]

    def verdicts(self) -> dict[str, str]:
        """By name: the decision, with its code where it has one."""
        found = self.decided.verdicts.items()
        return {self.decided.variables[key].name: f"{v.decision} {v.code}".strip() for key, v in found}

    def message(self, name: str) -> str:
        (key,) = (key for key, v in self.decided.variables.items() if v.name == name)
        return self.decided.verdicts[key].message

    def variable(self, name: str) -> Variable:
        (one,) = (v for v in self.text.whole.variables.values() if v.name == name)
        return one

    def text_after(self) -> str:
        """What the first file becomes."""
        path = self.folder / "f0.c"
        made = edits(self.text, self.decided, self.form)
        return apply_edits(path.read_bytes(), made.get(str(path), [])).decode()

    def rewritten(self) -> list[Rejected]:
        """The files as they become, written and read once more: what should not be there."""
        for file, ones in edits(self.text, self.decided, self.form).items():
            Path(file).write_bytes(apply_edits(Path(file).read_bytes(), ones))
        return self.again()

    def again(self) -> list[Rejected]:
        """The same of the files as they are now."""
        return left_behind(self.text.whole, self.decided, self.read(), self.form, str, str)
