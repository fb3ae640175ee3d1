"""Signals: files are tidied up; Ctrl-C first asks work that can be kept to stop, then ends it.

Python runs a handler of a signal between two instructions of the main thread, so not while that is
in a long computation in C. A thread therefore watches, too: it acknowledges at once, and ends the
program if the main thread does not.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

_tidying: list[Callable[[], object]] = []


@contextmanager
def tidying(clean: Callable[[], object]) -> Iterator[None]:
    """Call ``clean`` after this code, and before a signal ends the process in it.

    A request to end (SIGTERM, SIGHUP) ends a process at once, without clean-up, unless somebody
    handles it. It is handled in the main thread, for as long as there is something to clean up.

    Parameters
    ----------
    clean : callable
        May be called twice, and at any time. Its OSErrors are ignored.
    """
    handled = _handle_requests()
    _tidying.append(clean)
    try:
        yield
    finally:
        with suppress(OSError):
            clean()
        _tidying.remove(clean)
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def _handle_requests() -> list[signal.Signals]:
    """Handle the requests to end that nobody handles yet; which these are."""
    if threading.current_thread() is not threading.main_thread():
        return []
    names = ("SIGTERM", "SIGHUP")
    requests = [getattr(signal, name) for name in names if hasattr(signal, name)]
    free = [number for number in requests if signal.getsignal(number) is signal.SIG_DFL]
    for number in free:
        signal.signal(number, _on_request)
    return free


def _on_request(number: int, frame: Any) -> None:
    end_by(number)


def clean_up() -> None:
    """Do all clean-ups that are due, in a process that ends."""
    for clean in reversed(_tidying):
        with suppress(OSError):
            clean()


def end_by(number: int) -> NoReturn:
    """Clean up, and die by a signal, so that a shell sees it: its loops end with Ctrl-C.

    Only for the main thread. Where signals do not end processes, the exit code is 128 + number.
    """
    clean_up()
    if os.name == "posix":
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        signal.raise_signal(number)
    os._exit(128 + number)


ACKNOWLEDGED = b"\nStopping after the present fit. Press Ctrl-C again to end now.\n"

# Seconds that the main thread has to notice that it is to end.
PATIENCE = 0.5


class Interrupts:
    """Handles Ctrl-C from :meth:`start` to :meth:`close`, both called in the main thread.

    Parameters
    ----------
    program : bool, default False
        Whether the process is the command line's own, which ends at the third Ctrl-C whatever it is
        doing, and at the second where it is in C. In other programs each one after the first raises
        KeyboardInterrupt.
    """

    def __init__(self, *, program: bool = False) -> None:
        self._program = program
        self._stop: Callable[[], None] | None = None
        self._untold = [ACKNOWLEDGED]
        self._handled = self._seen = 0
        self._messages = descriptor_of(sys.stderr)
        self._writer = -1

    def start(self) -> None:
        """Handle Ctrl-C from now on."""
        if os.name == "posix":  # elsewhere the handler alone must do
            reader, writer = os.pipe()
            os.set_blocking(writer, False)
            other = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
            if other == -1:
                self._writer = writer
                threading.Thread(target=self._watch, args=(reader,), daemon=True).start()
            else:  # an event loop of the program watches
                signal.set_wakeup_fd(other)
                os.close(reader)
                os.close(writer)
        signal.signal(signal.SIGINT, self._handle)

    def close(self) -> None:
        """Leave Ctrl-C to Python again."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._writer >= 0:
            signal.set_wakeup_fd(-1)
            os.close(self._writer)  # the thread ends
            self._writer = -1

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Have the first Ctrl-C call ``stop``; the work then ends soon, and its result is kept."""
        if self._stop is not None:
            yield  # what is around this stops all of it
            return
        self._stop = stop
        try:
            yield
        finally:
            self._stop = None

    @property
    def _presses(self) -> int:
        """How often it was pressed; where nothing can be kept the first counts as the second."""
        return max(self._handled, self._seen) + (self._stop is None and bool(self._untold))

    def _handle(self, number: int, frame: Any) -> None:
        self._handled = max(self._handled + 1, self._seen)  # quick ones come as one
        if self._presses == 1:
            self._acknowledge()
        elif self._presses == 2 or not self._program:
            raise KeyboardInterrupt
        else:
            end_by(signal.SIGINT)

    def _acknowledge(self) -> None:
        stop = self._stop
        if stop is not None:
            stop()
            # By one of the two threads; not with print, which may be what was interrupted.
            with suppress(OSError, IndexError):
                os.write(self._messages, self._untold.pop())

    def _watch(self, reader: int) -> None:
        while numbers := os.read(reader, 64):
            presses = numbers.count(signal.SIGINT)
            self._seen += presses
            if presses and self._presses == 1:
                self._acknowledge()
            elif presses and self._program and not self._noticed():
                # Two that are too quick for the main thread are one for it, and one that comes just
                # before it waits for a lock does not wake it: this is the other, and does.
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                self._seen += os.read(reader, 64).count(signal.SIGINT) - 1
                if not self._noticed():
                    _die()
        os.close(reader)

    def _noticed(self) -> bool:
        """Whether the main thread notices within PATIENCE all that this thread has seen."""
        end = time.monotonic() + PATIENCE
        while self._handled < self._seen and time.monotonic() < end:
            time.sleep(0.02)
        return self._handled >= self._seen


_of_program: Interrupts | None = None


def own() -> None:
    """Handle Ctrl-C for the rest of the process, which is the command line's own."""
    global _of_program
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is to be ignored
        _of_program = Interrupts(program=True)
        _of_program.start()


def disown() -> None:
    """Let Ctrl-C end the process from now on: all work is done, and Python tidies up."""
    if _of_program is not None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def stopping(stop: Callable[[], None]) -> Iterator[None]:
    """Have the first Ctrl-C in here call ``stop``, unless somebody else handles Ctrl-C already.

    Only in the main thread, where Python handles signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
    elif _of_program is not None:
        with _of_program.stopping(stop):
            yield
    elif signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        interrupts = Interrupts()
        interrupts.start()
        try:
            with interrupts.stopping(stop):
                yield
        finally:
            interrupts.close()
    else:
        yield


def descriptor_of(stream: Any) -> int:
    """That of a stream; -1 if it has none, as in a notebook or where a program stands in for it."""
    try:
        return int(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return -1


def _die() -> None:
    """End the process by SIGINT from a thread, where Python does not change handlers."""
    import ctypes

    clean_up()
    python = ctypes.pythonapi
    python.PyOS_setsig.argtypes = ctypes.c_int, ctypes.c_void_p
    python.PyOS_setsig.restype = ctypes.c_void_p
    python.PyOS_setsig(signal.SIGINT, None)  # SIG_DFL
    signal.raise_signal(signal.SIGINT)
