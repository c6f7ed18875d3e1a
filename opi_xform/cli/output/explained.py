"""What is found out for reports: the lives of buffers, the bytes of sites, runs of the program."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import fail
from opi_xform.cli.output.facts import Facts
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Plan
from opi_xform.report.advice import weights
from opi_xform.report.page.lives import functions, lives
from opi_xform.report.profile import ProfileError, Run, read_profile


def load_profiles(options: Options) -> tuple[Run, ...]:
    """The files of --profile.  Raises Failure."""
    found = []
    for file in options.profiles:
        try:
            with open(file, "rb") as stream:
                found.append(read_profile(shown(file), stream.read()))
        except OSError as error:
            advice = "OPI_PROFILE=FILE.json writes one"
            raise fail(f"cannot be read ({error.strerror}); {advice}", shown(file), code="OPI902") from error
        except ProfileError as error:
            raise fail(str(error), shown(file), code="OPI902") from error
    return tuple(found)


def explained(program: Program, plan: Plan, options: Options, runs: Sequence[Run]) -> Facts:
    """What is known of a program beside what is decided."""
    if options.report is None:
        return Facts(tuple(runs), weights=weights(program))
    return Facts(tuple(runs), lives(program, plan, options.strict), functions(program), weights(program))
