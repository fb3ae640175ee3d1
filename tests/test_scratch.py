"""Files of a scratch folder: written whole, and gone at the end of the run, however that comes."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from textreg.blocks import scratch as scratch_module
from textreg.blocks.scratch import LOCK, PREFIX, Scratch
from textreg.errors import UsageError
from textreg.records.store import ArrayStore, Memory

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and signals of POSIX")

RUN = """
import sys, numpy as np
from textreg.blocks.scratch import Scratch
with Scratch(sys.argv[1]) as scratch:
    scratch.put("a", np.arange(3))
    print(scratch.folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["memory", "scratch"])
def arrays(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ArrayStore]:
    if request.param == "memory":
        yield Memory()
    else:
        with Scratch(tmp_path) as scratch:
            yield scratch


def started(folder: Path) -> tuple[subprocess.Popen[str], Path]:
    """Another run that uses a folder inside of this one."""
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    return run, Path(run.stdout.readline().strip())


def folders(parent: Path) -> list[Path]:
    return list(parent.glob(f"{PREFIX}*"))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5, dtype=np.int32),
        np.arange(6.0).reshape(2, 3),
        np.arange(10)[::2],
        np.array([True, False]),
        np.empty(0),
        np.empty((0, 2), dtype=np.int32),
    ],
    ids=str,
)
def test_what_is_put_is_there(arrays: ArrayStore, array: np.ndarray) -> None:
    arrays.put("3-ids", array)
    found = arrays.get("3-ids")
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert np.array_equal(found, array)
    assert not found.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        found[:] = 0
    arrays.drop("3-ids")
    assert np.array_equal(found, array)
    for forgotten in (arrays.get, arrays.drop):
        with pytest.raises(KeyError):
            forgotten("3-ids")


def test_an_array_takes_the_place_of_another(arrays: ArrayStore) -> None:
    arrays.put("a", np.arange(100_000))
    before = arrays.get("a")
    arrays.put("a", np.zeros(2))
    assert arrays.get("a").tolist() == [0.0, 0.0]
    assert before[-1] == 99_999


def test_files_are_mapped(tmp_path: Path) -> None:
    with Scratch(tmp_path) as scratch:
        scratch.put("a", np.arange(4))
        scratch.put("b", np.empty(0))
        assert isinstance(scratch.get("a"), np.memmap)
        assert scratch.folder.parent == tmp_path
        assert {path.name for path in scratch.folder.iterdir()} == {LOCK, "a", "b"}
    assert not folders(tmp_path)


def test_the_folder_of_the_system_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Scratch() as scratch:
        assert scratch.folder.parent == tmp_path


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_nothing_stays_after_an_error(error: type[BaseException], tmp_path: Path) -> None:
    def interrupted() -> None:
        with Scratch(tmp_path) as scratch:
            scratch.put("a", np.arange(4))
            raise error

    with pytest.raises(error):
        interrupted()
    assert not folders(tmp_path)


def test_an_interrupt_while_writing_leaves_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with Scratch(tmp_path) as scratch:
        monkeypatch.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            scratch.put("a", np.arange(4))
        assert [path.name for path in scratch.folder.iterdir()] == [LOCK]
        with pytest.raises(KeyError):
            scratch.get("a")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_stays_after_a_signal(number: signal.Signals, tmp_path: Path) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests run under nohup, and so does what they start")
    run, folder = started(tmp_path)
    assert folder.is_dir()
    run.send_signal(number)
    run.communicate()
    assert run.returncode == -number
    assert not folders(tmp_path)


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    killed, left = started(tmp_path)
    running, used = started(tmp_path)
    assert left.is_dir()
    killed.kill()
    killed.communicate()
    assert left.is_dir()
    with Scratch(tmp_path) as scratch:
        assert set(folders(tmp_path)) == {used, scratch.folder}
        assert (used / "a").is_file()
    running.communicate("")
    assert running.returncode == 0
    assert not folders(tmp_path)


def test_a_folder_without_a_lock_is_left_behind(tmp_path: Path) -> None:
    left = tmp_path / f"{PREFIX}early"  # killed before there was a lock
    left.mkdir()
    other = tmp_path / "others"
    other.mkdir()
    file = tmp_path / f"{PREFIX}file"
    file.touch()
    link = tmp_path / f"{PREFIX}link"
    link.symlink_to(other)
    with Scratch(tmp_path):
        assert not left.exists()
        assert file.exists()
        assert link.is_symlink()
        assert not list(other.iterdir())


def test_two_in_one_folder(tmp_path: Path) -> None:
    with Scratch(tmp_path) as one, Scratch(tmp_path) as other:
        one.put("a", np.arange(4))
        other.put("a", np.arange(5))
        assert len(one.get("a")) == 4
        assert len(other.get("a")) == 5
        assert len(folders(tmp_path)) == 2
    assert not folders(tmp_path)


def test_a_new_folder_that_another_run_removes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other finds it before it is locked; then a new one is made."""
    locks = scratch_module.lock
    taken: list[Path] = []

    def late(folder: Path) -> int | None:
        if not taken:
            taken.append(folder)
            (folder / LOCK).unlink(missing_ok=True)
            folder.rmdir()
        return locks(folder)

    monkeypatch.setattr(scratch_module, "lock", late)
    with Scratch(tmp_path) as scratch:
        assert [scratch.folder] == folders(tmp_path)
        assert scratch.folder != taken[0]


@pytest.mark.parametrize("folder", ["missing", "file"])
def test_no_folder(folder: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=rf"{folder} (does not exist|is no folder).*TMPDIR"):
        Scratch(tmp_path / folder).__enter__()


def test_a_folder_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("tempfile.mkdtemp", refuse)  # the superuser is refused nothing
    with pytest.raises(UsageError, match=r"cannot be used: Permission denied\..*TMPDIR"):
        Scratch(tmp_path).__enter__()


def test_a_disk_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(UsageError, match=r"cannot be used: No locks available\..*TMPDIR"):
        Scratch(tmp_path).__enter__()
    assert not folders(tmp_path)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_disk(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        """A file that takes a few bytes and no more."""

        def __init__(self, file: IO[bytes]) -> None:
            self.file = file
            self.left = 10

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def write(self, data: memoryview) -> int:
            if not self.left:
                raise OSError(code, os.strerror(code))
            size, self.left = self.left, 0
            return self.file.write(data[:size])

    opened = Path.open
    with Scratch(tmp_path) as scratch:
        scratch.put("a", np.arange(4))
        monkeypatch.setattr(Path, "open", lambda *how, **more: Full(opened(*how, **more)))
        for name in ("a", "b"):
            with pytest.raises(UsageError, match=rf"{os.strerror(code)}\. Free .*TMPDIR") as e:
                scratch.put(name, np.zeros(1000))
            assert f"8.0 kB cannot be written to {tmp_path}" in str(e.value)
        assert {path.name for path in scratch.folder.iterdir()} == {LOCK, "a"}
        assert scratch.get("a").tolist() == [0, 1, 2, 3]


def test_a_limit_on_the_size_of_files(tmp_path: Path) -> None:
    code = """
import resource, sys, numpy as np
from textreg.blocks.scratch import Scratch
from textreg.errors import UsageError
from textreg.records.store import ArrayStore, Memory
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
with Scratch(sys.argv[1]) as scratch:
    scratch.put("a", np.zeros(100))
    try:
        scratch.put("b", np.zeros(200))
    except UsageError as error:
        print(error, sorted(path.name for path in scratch.folder.iterdir()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "cannot be written to" in done.stdout
    assert "File too large. Free some space there" in done.stdout
    assert done.stdout.endswith("['a', 'lock']\n")
    assert not folders(tmp_path)


def test_space_that_is_needed(tmp_path: Path) -> None:
    with Scratch(tmp_path) as scratch:
        scratch.require(1)
        message = rf"3,000,000.0 GB are needed .* {tmp_path} has only .* left\. .*TMPDIR"
        with pytest.raises(UsageError, match=message):
            scratch.require(3 * 10**15)
