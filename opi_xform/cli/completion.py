"""Shell completion and the manual page of opi-xform, both made from its parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from opi_xform.record import dataclass
from opi_xform.report.codes import CODES

SHELLS = ("bash", "zsh", "fish")
_DIRECTORIES = frozenset(("output", "index", "build_dir", "root"))


@dataclass(frozen=True, slots=True)
class Flag:
    """One option.  takes: '' for nothing, ``file``, ``dir``, ``number``, or the words that may follow; repeated: it may
    be given several times."""

    names: tuple[str, ...]
    takes: str | tuple[str, ...]
    metavar: str
    help: str
    repeated: bool


def flags(parser: argparse.ArgumentParser) -> Iterator[Flag]:
    """The options of a parser, in its order."""
    for action in parser._actions:
        if not action.option_strings:
            continue
        takes: str | tuple[str, ...] = ""
        if action.nargs != 0:
            takes = "dir" if action.dest in _DIRECTORIES else "file"
            if action.choices:
                takes = tuple(str(choice) for choice in action.choices)
            elif action.dest in ("explain", "select", "ignore"):
                takes = (*CODES, *(("all",) if action.dest == "explain" else ()))
            elif action.dest in ("jobs", "min_bytes"):
                takes = "number"
        metavar = str(action.metavar or "|".join(takes if isinstance(takes, tuple) else ())) if takes else ""
        said = " ".join((action.help or "").split())
        yield Flag(tuple(action.option_strings), takes, metavar, said, isinstance(action.default, list))


def completion(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script that a shell reads: ``eval "$(opi-xform --completion bash)"``."""
    known = list(flags(parser))
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](known)


def _bash(known: list[Flag]) -> str:
    cases = []
    for flag in known:
        if flag.takes:
            words = {"file": "-f", "dir": "-d", "number": '-W "1 2 4 8"'}
            made = f'-W "{" ".join(flag.takes)}"' if isinstance(flag.takes, tuple) else words[flag.takes]
            cases.append(f'        {"|".join(flag.names)}) COMPREPLY=($(compgen {made} -- "$now")); return ;;')
    names = " ".join(name for flag in known for name in flag.names)
    body = "\n".join(cases)
    return f"""_opi_xform() {{
    local now=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    COMPREPLY=()
    case $before in
{body}
    esac
    case $now in
        -*) COMPREPLY=($(compgen -W "{names} --" -- "$now")) ;;
        *) COMPREPLY=($(compgen -d -- "$now") $(compgen -f -X '!*.c' -- "$now")) ;;
    esac
}}
complete -o filenames -F _opi_xform opi-xform
"""


def _zsh(known: list[Flag]) -> str:
    lines = []
    for flag in known:
        about = flag.help.replace("\\", "\\\\").replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]")
        about = about.replace(":", "\\:")
        kinds = {"file": ":file:_files", "dir": ":directory:_files -/", "number": ":number:", "": ""}
        after = f":value:({' '.join(flag.takes)})" if isinstance(flag.takes, tuple) else kinds[flag.takes]
        again = "*" if flag.repeated else ""
        lines += [f"    '{again}{name}[{about}]{after}' \\" for name in flag.names]
    body = "\n".join(lines)
    return f"""#compdef opi-xform
_opi_xform() {{
    _arguments -s \\
{body}
    '*:source:_files -g "*.c(-.)"'
}}
compdef _opi_xform opi-xform
"""


def _fish(known: list[Flag]) -> str:
    lines = ["complete -c opi-xform -f -a '(__fish_complete_suffix .c)'"]
    for flag in known:
        names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in flag.names)
        kinds = {"file": " -r -F", "dir": " -x -a '(__fish_complete_directories)'", "number": " -x", "": ""}
        after = f" -x -a '{' '.join(flag.takes)}'" if isinstance(flag.takes, tuple) else kinds[flag.takes]
        about = flag.help.replace("\\", "\\\\").replace("'", "\\'")
        lines.append(f"complete -c opi-xform {names}{after} -d '{about}'")
    return "\n".join(lines) + "\n"


# --- the manual page --------------------------------------------------------------------------------------------------


def manual(parser: argparse.ArgumentParser, version: str) -> str:
    """The page opi-xform(1), as troff."""
    options = []
    for flag in flags(parser):
        names = ", ".join(rf"\fB{_troff(name)}\fR" for name in flag.names)
        after = rf" \fI{_troff(flag.metavar)}\fR" if flag.metavar else ""
        options.append(f".TP\n{names}{after}\n{_troff(flag.help)}")
    listed = "\n".join(options)
    return rf""".TH OPI-XFORM 1 "" "opi-xform {version}" "User Commands"
.SH NAME
opi\-xform \- turn MPI programs in C into ownership passing programs
.SH SYNOPSIS
.B opi\-xform
.RI [ path " ...] [" options "] [\-\- " "compiler flags" ]
.SH DESCRIPTION
{_troff(parser.description or "")}
.PP
{_troff(" ".join((parser.epilog or "").split()))}
.SH OPTIONS
{listed}
.SH EXIT STATUS
.TP
0
clean
.TP
1
\fB\-\-check\fR found something
.TP
2
bad usage, unreadable input, a parse error, output that cannot be written
.TP
123
the result failed its self\-check: nothing was written
.SH FILES
.TP
opi.toml
of the working directory, or \fB[tool.opi\-xform]\fR of its pyproject.toml:
options, sites to keep, what external functions do
.TP
compile_commands.json
at or above the sources: the flags of the files that it lists
.SH ENVIRONMENT
.TP
OPI_MPICC
the compiler wrapper of the MPI whose mpi.h is meant
.TP
NO_COLOR
no colour on a terminal
.SH SEE ALSO
\fBopicc \-\-help\fR, \fBopirun \-\-help\fR, \fBopi\-bench \-\-help\fR
"""


def _troff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped[:1] in (".", "'") else escaped
