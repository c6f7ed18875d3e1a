"""What the front end raises."""

from __future__ import annotations

from collections.abc import Sequence


class FrontendError(Exception):
    """An input that cannot be analysed: missing, unreadable, or not valid C.

    ``file`` is the place as the user would name it, ``line`` and ``column`` start at 1 (0: the file as a whole).
    """

    code = ""  # that of the report, where it is not the one of the place that raises it

    def __init__(self, file: str, line: int, column: int, message: str, others: Sequence[FrontendError] = ()) -> None:
        """others: what else is wrong with the file, in its order."""
        super().__init__(file, line, column, message)
        self.file = file
        self.line = line
        self.column = column
        self.message = message
        self.others = tuple(others)

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        return f"{place}: {self.message}"

    def __reduce__(self) -> tuple[type[FrontendError], tuple[str, int, int, str, tuple[FrontendError, ...]]]:
        return (type(self), (self.file, self.line, self.column, self.message, self.others))


class SeveralFlagsError(FrontendError):
    """A file is compiled more than once, with flags that differ."""

    code = "OPI909"
