"""Folders of scratch files that are in use, and those that were left behind."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path

PREFIX = "textreg-scratch-"
"""What the names of the folders begin with."""

LOCK = "lock"
"""The file in a folder that is locked as long as the folder is in use."""


def lock(folder: Path) -> int | None:
    """Lock a folder until the result, a file descriptor, is closed, or the process ends.

    None if somebody else has it, or has removed it meanwhile.
    """
    path = folder / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileNotFoundError:
        return None
    try:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever had it before may have removed the file, and a new one may have its name.
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def remove_leftovers(parent: Path) -> None:
    """Remove the folders in ``parent`` that nobody has locked, of this user.

    They are those of processes that were killed without notice. What cannot be removed stays; so
    does everything on Windows, which has no such locks.
    """
    if sys.platform == "win32":
        return
    with suppress(OSError):  # of a folder that cannot be read
        for folder in [path for path in parent.iterdir() if path.name.startswith(PREFIX)]:
            with suppress(OSError):
                _remove_unlocked(folder)


def _remove_unlocked(folder: Path) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return
    descriptor = lock(folder)
    if descriptor is not None:
        try:
            shutil.rmtree(folder)
        finally:
            os.close(descriptor)
