"""The program ``textreg``, and ``python -m textreg``: the command line as a process of its own."""

import gc
import os
import sys


def run() -> int | str:
    """Run the command line; where a signal ends it, die by that signal. A text is an error."""
    try:
        try:
            code = _run()
        except KeyboardInterrupt:  # during imports, or once more while it was ending
            code = 130
        if code <= 128:
            return code
    except KeyboardInterrupt:
        code = 130
    except (OSError, RuntimeError, MemoryError) as error:  # of imports, or of the first thread
        return f"Error: textreg cannot start: {error}. Allow it more: ulimit -n, -u or -v."
    from textreg.interrupts import end_by

    return end_by(code - 128)


def _run() -> int:
    _open_standard_streams()
    from textreg.interrupts import disown, own

    own()
    gc.set_threshold(100_000)  # modules, documents and arrays are in no cycles
    from textreg.cli import main

    code = main()
    # What is left ends with the process. Python would look for cycles in it, for as long as a tenth
    # of a short command.
    gc.freeze()
    if code <= 128:
        disown()
    return code


def _open_standard_streams() -> None:
    """Open those that are closed: else the next file would be what is read or printed to.

    Standard input and output then fail when they are used, and messages go nowhere.
    """
    for number, name, use, mode in (
        (0, "stdin", os.O_WRONLY, "r"),
        (1, "stdout", os.O_RDONLY, "w"),
        (2, "stderr", os.O_WRONLY, "w"),
    ):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                opened = os.open(os.devnull, use)
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    sys.exit(run())
