"""The console script.  What it needs first takes tens of milliseconds to load: Ctrl-C is one line meanwhile, too."""

from __future__ import annotations

from opi_xform.cli.interrupt import stop  # needs nothing that is not there already


def script() -> None:
    """Runs opi-xform and ends the process."""
    import _signal as signal  # type: ignore[import-not-found]  # `signal` without its enumerations: it is there already

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored, as below nohup
        signal.signal(signal.SIGINT, stop)
    from opi_xform.cli.main import script as run

    run()
