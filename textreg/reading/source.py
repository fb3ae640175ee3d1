"""The files that are named, and their bytes as lines of text; and what is wrong with them."""

from __future__ import annotations

import codecs
import glob
import io
import os
import re
import select
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, tee
from pathlib import PurePath
from typing import IO, Any, TypeAlias

from textreg.errors import DataError, TextregError, UsageError, did_you_mean
from textreg.files import MAX_LINE, PACKINGS, kind_of_special, limit, packing_of, too_long, unpacked
from textreg.records import SkippedRow, SkippedRows
from textreg.terminal import logger

# Codecs between str and bytes that no file of text is written in, or that differ by machine.
_NOT_OF_FILES = {
    *("charmap", "idna", "mbcs", "oem", "punycode", "raw_unicode_escape", "undefined"),
    "unicode_escape",
}

_WESTERN = "cp1252"
# The encodings that are guessed; among all of them, short texts look like rare ones.
_LIKELY = [_WESTERN, "cp1251", "koi8_r", "cp932", "euc_jp", "gb18030", "big5", "euc_kr"]

_SAMPLE = 16_384

# What users call the encoding that is guessed from the bytes of a file.
GUESS = "guess"

# Bytes at the beginning of a file that a guess looks at.
GUESSED_FROM = 16_000_000


def check_encoding(encoding: str | None) -> None:
    """Raise UsageError unless this is None, "guess" or the name of an encoding of text files."""
    if encoding is None or encoding == GUESS:
        return
    try:
        codec = codecs.lookup(encoding)
        known = codec.name.replace("-", "_") not in _NOT_OF_FILES
        "a".encode(encoding)  # refuses codecs that are not of text, such as base64 and rot13
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError):  # ValueError: a zero byte or a surrogate in the name
        known = False
    if not known:
        raise UsageError(
            f"no text encoding is called '{encoding}'. Common ones: utf-8, utf-16, cp1252, "
            f"latin-1; or {GUESS}."
        )


def keeps_ascii(encoding: str) -> bool:
    """Whether line ends are the same bytes in ``encoding`` as in ASCII."""
    return "\n".encode(encoding) == b"\n"


def guessed_encoding(data: bytes) -> str:
    """The likely encoding of the beginning of a file; UTF-8 if nothing else is likelier."""
    if b"\0" in data and (likely := likely_utf16(data[:_SAMPLE])):
        return likely
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)  # the last character may be cut
    except UnicodeDecodeError:
        return likely_encoding(data.split(b"\n")) or "utf-8"
    return "utf-8"


def likely_encoding(lines: list[bytes]) -> str | None:
    """The likely encoding of lines, some of which are not UTF-8.

    None if it is UTF-8 with damaged lines, or cannot be told.
    """
    foreign: list[bytes] = []
    utf8 = size = 0
    for line in lines:
        if line.isascii():
            continue
        try:
            line.decode()
        except UnicodeDecodeError:
            if size < _SAMPLE:
                foreign.append(line[:_SAMPLE])
                size += len(line)
        else:
            utf8 += 1  # hardly ever by chance
    if utf8 >= len(foreign):
        return None
    from charset_normalizer import from_bytes

    sample = b"\n".join(foreign)[:_SAMPLE]
    tries = [[_WESTERN], _LIKELY] if _accents(sample) else [_LIKELY]
    matches = (from_bytes(sample, cp_isolation=among).best() for among in tries)
    return next((best.encoding.replace("_", "-") for best in matches if best is not None), None)


def likely_utf16(data: bytes) -> str | None:
    """``utf-16-le`` or ``utf-16-be`` if data with zero bytes is one of them, without a mark."""
    even, odd = data[0::2].count(0), data[1::2].count(0)
    name = "utf-16-le" if odd > even else "utf-16-be"
    # In text, zeros are the high bytes of ASCII.
    if max(even, odd) < 3 or 10 * min(even, odd) > max(even, odd):
        return None
    try:
        text = codecs.getincrementaldecoder(name)().decode(data)
    except UnicodeDecodeError:
        return None
    return name if all(char.isprintable() or char.isspace() for char in text) else None


def _accents(sample: bytes) -> bool:
    """Whether the letters beyond ASCII stand alone among others, as in Western languages."""
    runs = re.findall(rb"[\x80-\xff]+", sample)
    letters = b"".join(runs)
    # In cp1252, these are letters, and the quotes, dashes and dots of word processors.
    usual = re.findall(rb"[\x80\x85\x91-\x97\x99\xa0-\xff]", letters)
    return len(letters) < 2 * len(runs) and 4 * len(usual) > 3 * len(letters)


class UnusableRow(Exception):  # noqa: N818 - not a failure but a finding
    """What is wrong with a row, and how to fix it.

    Parameters
    ----------
    problem : str
        A sentence.
    fix : str, default "Fix the row"
        What to do, without a period.
    reason : str, optional
        The problem without details such as values, to count rows by. By default ``problem``.

    Attributes
    ----------
    line : int
        The line where the row begins, from 1; 0 for a file of its own.
    error : TextregError or None
        What to raise where reading stops at this row, if not DataError.
    record : mapping
        The fields of the row by their columns, as many as could be read.
    """

    def __init__(self, problem: str, fix: str = "Fix the row", reason: str = "") -> None:
        super().__init__(problem)
        self.fix = fix
        self.reason = reason or problem.rstrip(".")
        self.line = 0
        self.error: TextregError | None = None
        self.record: Mapping[str, Any] = {}

    def at(self, line: int, record: Mapping[str, Any] | None = None) -> UnusableRow:
        """This row, which begins at ``line``, with the fields of it that could be read."""
        self.line, self.record = line, record or self.record
        return self

    @property
    def remedy(self) -> str:
        """What to do, without a period."""
        return self.fix


class NotDecodable(UnusableRow):
    """A row whose bytes are not text in the encoding of the file.

    Parameters
    ----------
    encoding : str
        The encoding of the file.
    line : int
        Its number in the file.
    beside : list of bytes
        Lines of the file, and itself; None for lines that are too long.
    error : UnicodeDecodeError
        What is wrong with it.
    unit : str, default "line"
        What is numbered.
    """

    def __init__(
        self,
        encoding: str,
        line: int,
        beside: Sequence[bytes | None],
        error: UnicodeDecodeError,
        unit: str = "line",
    ) -> None:
        what = f"not valid {encoding.upper()}"
        byte = f"0x{error.object[error.start]:02x}"
        super().__init__(
            f"byte {error.start + 1} of {unit} {line}, {byte}, is {what}.", reason=what
        )
        self._beside = beside
        self._encoding = encoding

    @cached_property
    def likely(self) -> str | None:
        """The likely encoding, if it is another one; the guess is made only when somebody asks."""
        likely = likely_encoding([line for line in self._beside if line is not None])
        return None if likely == self._encoding else likely

    @property
    def remedy(self) -> str:
        """What to do."""
        likely = self.likely
        if likely is None:
            return "Save the file as UTF-8, or name its encoding with --encoding (cp1252 is common)"
        return (
            f"The text may be in {likely}: pass --encoding {likely} if it is, or save the file as "
            "UTF-8"
        )


LOG = logger("reading")

# The share of rows that may be left out where nothing else is asked for.
MAX_SKIPPED = 0.05


def check_max_skipped(max_skipped: float) -> None:
    """Raise UsageError unless this is a share from 0.0 to 1.0, or a number of rows."""
    whole = isinstance(max_skipped, int) and not isinstance(max_skipped, bool)
    share = isinstance(max_skipped, float) and 0 <= max_skipped <= 1
    if not (share or (whole and max_skipped >= 0)):
        raise UsageError(
            f"max_skipped must be a share from 0.0 to 1.0 or a whole number of rows, "
            f"not {max_skipped!r}."
        )


def may_skip(skipped: int, documents: int, max_skipped: float) -> bool:
    """Whether so many rows may be left out beside so many documents."""
    share = isinstance(max_skipped, float)
    return skipped <= (max_skipped * (documents + skipped) if share else max_skipped)


def told_of(skipped: SkippedRows, documents: int, max_skipped: float, remedy: str) -> str:
    """What to tell of rows that were left out beside so many documents, empty if there are none.

    remedy: how to read them, if there is a way. Raises DataError if they are too many.
    """
    n_skipped, rows = len(skipped), documents + len(skipped)
    if not n_skipped:
        return ""
    message, hint = f"{skipped.told()}.", f" {remedy}" if remedy else ""
    if may_skip(n_skipped, documents, max_skipped):
        return f"{n_skipped:,} of {rows:,} rows cannot be read and are left out: {message}{hint}"
    share = f"{100 * n_skipped / rows:.2g} %"
    raise DataError(f"{n_skipped:,} of {rows:,} rows ({share}) cannot be read: {message}{hint}")


class Skipping:
    """What to do with unusable rows: stop at the first, or skip and list them.

    Attributes
    ----------
    offer : str
        What skipping would do, for the message where reading stops.
    stopped : DataError or None
        The error of the first row, where reading stops only after all rows are read.
    fault : str
        The same without the offer.
    """

    def __init__(self, *, skips: bool) -> None:
        self.offer = "to leave such rows out"
        self.stopped: DataError | None = None
        self.fault = ""
        self.to_the_end = False
        self._skips = skips
        self._rows = SkippedRows()
        self.undecodable: NotDecodable | None = None

    def add(self, source: str, problem: UnusableRow, position: int) -> None:
        """Skip a row that stands after ``position`` documents, or raise DataError."""
        row = SkippedRow(source, problem.line, problem.reason, str(problem), position)
        if not self._skips:
            if problem.error is not None:
                raise problem.error
            fault = f"{row.where}: {problem} {problem.remedy}"
            error = DataError(f"{fault}, or pass --on-error skip {self.offer}.")
            if not self.to_the_end:
                raise error
            if self.stopped is None:
                self.stopped, self.fault = error, f"{fault}."
        if self.undecodable is None and isinstance(problem, NotDecodable):
            self.undecodable = problem
        LOG.debug("%s: left out: %s", row.where, problem)
        self._rows.add(row)

    def taken(self) -> SkippedRows:
        """The rows skipped since the last call."""
        taken, self._rows = self._rows, SkippedRows()
        return taken

    @property
    def remedy(self) -> str:
        """How to read the rows that cannot be decoded, as a sentence; empty if there are none."""
        return "" if self.undecodable is None else f"{self.undecodable.remedy}."


class Lines:
    """The lines of a text, without their ``\\n``.

    A line that cannot be decoded is given with its bytes escaped, and one that is too long as an
    empty one; :meth:`damage` returns what is wrong with it.

    Attributes
    ----------
    number : int
        The number of the line given last, from 1.
    first : str
        The first line that is not blank, to recognize the format by; empty if there is none.
    empty : bool
        Whether the text is empty.
    waiting : int
        Number of lines that have arrived and have not been given yet.
    """

    def __init__(self, name: str, chunks: Iterator[bytes], encoding: str) -> None:
        self.name = name
        self.number = 0
        self.waiting = 0
        self._damaged: UnusableRow | None = None
        self._encoding = encoding
        # UTF-16 and its like cannot be cut into lines before they are decoded.
        if not keeps_ascii(encoding):
            chunks = _as_utf8(name, chunks, encoding)
            self._encoding = "utf-8"
        blocks = _blocks(chunks, limit(MAX_LINE))
        block: list[bytes | None] = []
        self.first = ""
        for lines in blocks:
            block += lines
            if filled := next((line for line in lines if line and not line.isspace()), b""):
                self.first = filled[:65536].decode(self._encoding, "replace")
                break
        if block and block[0] is not None and self._encoding == "utf-8":
            block[0] = block[0].removeprefix(codecs.BOM_UTF8)
            self.first = self.first.removeprefix("\ufeff")
        self._blocks: Iterator[list[bytes | None]] = chain([block], blocks)
        self.empty = not block

    def __iter__(self) -> Iterator[str]:
        for block in self._blocks:
            self.waiting = len(block)
            for line in block:
                self.waiting -= 1
                self.number += 1
                if line is None:
                    self._damaged = self._damaged or UnusableRow(*too_long("the line"))
                    yield ""
                    continue
                try:
                    text = line.decode(self._encoding)
                except UnicodeDecodeError as error:
                    self._damaged = self._damaged or NotDecodable(
                        self._encoding, self.number, block, error
                    )
                    text = line.decode(self._encoding, "backslashreplace")
                yield text

    def ahead(self) -> Iterator[str]:
        """The lines before any is given, which are given again later."""
        self._blocks, blocks = tee(self._blocks)
        for line in chain.from_iterable(blocks):
            yield (line or b"").decode(self._encoding, "replace").removesuffix("\r")

    def at(self, line: int) -> str:
        """``file:line``."""
        return f"{self.name}:{line}"

    def damage(self) -> UnusableRow | None:
        """What is wrong with the bytes of the lines given since the last call."""
        damaged, self._damaged = self._damaged, None
        return damaged


def _as_utf8(name: str, chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    seen = 0
    try:
        for chunk in chunks:
            seen += len(chunk)
            yield decoder.decode(chunk).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        offset = 1  # UTF-16 was asked for, and there is no byte order mark
        if isinstance(error, UnicodeDecodeError):
            offset = seen - len(error.object) + error.start + 1
        raise DataError(
            f"{name}: byte {offset:,} of the file is not valid {encoding.upper()}. "
            "Save the file as UTF-8, or name its encoding with --encoding."
        ) from None


def _blocks(chunks: Iterator[bytes], most: int) -> Iterator[list[bytes | None]]:
    """Complete lines without their ends, as many at a time as have arrived.

    None for a line of more than ``most`` bytes, as soon as that is known.
    """
    unfinished: list[bytes] = []  # joined once, so that a long line takes linear time
    size = 0
    dropping = False
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        if lines:
            if dropping:
                del lines[0]  # the end of a line that was too long
            else:
                lines[0] = b"".join([*unfinished, lines[0]])
            unfinished.clear()
            if size + len(chunk) > most:
                yield [None if len(line) > most else line for line in lines]
            elif lines:
                yield [*lines]
            size, dropping = 0, False
        if dropping:
            continue
        unfinished.append(rest)
        size += len(rest)
        if size > most:
            unfinished.clear()
            dropping = True
            yield [None]
    last = b"".join(unfinished)
    if last:
        yield [last]


CHUNK = 1 << 16

_MARKS = (  # the longer marks first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


_PACKED = tuple(packing.ending for packing in PACKINGS)


class Source:
    """A file or pipe that documents are read from.

    Compressed data is unpacked. The data can be read once: as bytes, by :meth:`chunks`, as a file,
    by :meth:`file`, or as text, by :attr:`lines`.

    Parameters
    ----------
    name, stream
        The name of the file, for messages, and its bytes.
    encoding : str, optional
        Its encoding, "guess" for the likely one, or None for what a byte order mark says.
    otherwise : str, default "utf-8"
        The encoding where there is no such mark.

    Attributes
    ----------
    name : str
        The name of the file, for messages.
    head : bytes
        The first bytes: enough for the magic number of a binary format.
    """

    def __init__(
        self, name: str, stream: IO[bytes], encoding: str | None = None, *, otherwise: str = "utf-8"
    ) -> None:
        self.name = name
        self._stream = stream
        self._lines: Lines | None = None
        self.head, self._chunks = _peek(self._read())
        packing = packing_of(self.head)
        self._packed = packing is not None
        if packing is not None:
            self.head, self._chunks = _peek(unpacked(packing, self._chunks, self._place))
        self._given, self._otherwise = encoding, otherwise

    @property
    def ending(self) -> str:
        """The ending of the file's name in lower case, such as ``.csv``, before a ``.gz``."""
        path = PurePath(self.name.lower())
        return PurePath(path.stem if path.suffix in _PACKED else path).suffix

    @cached_property
    def encoding(self) -> str:
        """The encoding of the text: as given, from a byte order mark, guessed if that is asked for,
        or UTF-8. A guess reads ahead."""
        encoding = self._given
        if encoding is None or encoding == GUESS:
            marked = next((name for mark, name in _MARKS if self.head.startswith(mark)), None)
            usual = self._otherwise if encoding is None else guessed_encoding(self._ahead())
            encoding = marked or usual
        return codecs.lookup(encoding).name.removesuffix("-sig")

    def _ahead(self) -> bytes:
        """The bytes that a guess looks at, which are read again."""
        chunks, size = list[bytes](), 0
        for chunk in self._chunks:
            chunks.append(chunk)
            size += len(chunk)
            if size > GUESSED_FROM:
                break
        self._chunks = chain(chunks, self._chunks)
        return b"".join(chunks)

    @property
    def lines(self) -> Lines:
        """The lines of the text."""
        if self._lines is None:
            encoding = self.encoding
            self._lines = Lines(self.name, self._chunks, encoding)
        return self._lines

    def chunks(self) -> Iterator[bytes]:
        """All the bytes, piece by piece as they arrive."""
        return self._chunks

    @contextmanager
    def file(self) -> Iterator[IO[bytes]]:
        """All the bytes as a file with places to go to; a temporary one for a pipe."""
        if (
            not self._packed
            and self._stream is not getattr(sys.stdin, "buffer", None)
            and self._stream.seekable()
        ):
            self._stream.seek(0)
            yield self._stream
            return
        from tempfile import TemporaryFile  # few files need one, and its import takes a while

        with TemporaryFile() as temporary:
            for chunk in self._chunks:
                temporary.write(chunk)
            temporary.seek(0)
            yield temporary

    def ready(self) -> bool:
        """Whether more is at hand, or arrives within a twentieth of a second."""
        if self._lines is not None and self._lines.waiting:
            return True
        if sys.platform == "win32":  # pipes cannot be polled there
            return True
        try:
            descriptor = self._stream.fileno()
        except OSError:  # a stream in memory
            return True
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(50))

    def _read(self) -> Iterator[bytes]:
        # read1 returns what has arrived; read would wait until a chunk is full.
        read = getattr(self._stream, "read1", self._stream.read)
        while True:
            try:
                chunk = read(CHUNK)
            except OSError as error:
                raise DataError(f"{self.name}: cannot be read: {error.strerror}.") from None
            if not chunk:
                return
            yield chunk

    def _place(self) -> str:
        """The file, and the line that is read, for messages."""
        return self.name if self._lines is None else self._lines.at(self._lines.number + 1)


def _peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, enough for any mark if there are as many, and all the chunks again."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= 8 or head.endswith(b"\n"):  # do not wait for more than a short line
            break
    return head, chain([head], chunks) if head else chunks


_TABLE = re.compile(r"\.(csv|tsv|tab|jsonl?|ndjson|txt|parquet|pq|arrow|feather|gz|bz2|xz|zst)$")

Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = Path | Sequence[Path]


def listed(paths: Paths) -> list[str]:
    """The files and folders that ``paths`` name, with patterns replaced by what they match.

    Raises UsageError for one that does not exist or is named twice.
    """
    names = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    files: list[str] = []
    for path in [os.fspath(path) for path in names]:
        if path == "-" or os.path.exists(path):
            files.append(path)
            continue
        matches = sorted(matching(path)) if glob.has_magic(path) else []
        if not matches:
            raise _not_there(path)
        for match in matches:
            if kind := kind_of_special(match):  # reading it might wait for ever
                raise UsageError(f"{match} is {kind}: name it itself, not by the pattern {path}.")
        files.extend(matches)
    if not files:
        raise UsageError("no file to read was named: name one, or - for standard input.")
    seen: set[str] = set()
    for path in files:
        real = path if path == "-" else os.path.realpath(path)
        if real in seen:
            raise UsageError(
                f"{path} is named twice, so its documents would count twice: leave one out."
            )
        seen.add(real)
    return files


def name_of(path: str) -> str:
    """The name of a file in messages."""
    return "<stdin>" if path == "-" else path


class FileChangedError(DataError):
    """A file was written to or removed while it was read."""


class _OpenFile(io.FileIO):
    """A file as it is now: :meth:`refuse_change` tells whether it still is."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "rb")
        self._path = path
        self._opened = os.fstat(self.fileno())

    def refuse_change(self) -> None:
        """Raise FileChangedError if others wrote to a regular file since, or removed it."""
        before = self._opened
        if not stat.S_ISREG(before.st_mode):
            return
        try:
            now = os.stat(self._path)
        except OSError:
            how = "removed"
        else:
            if (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
                return
            sizes = f", from {before.st_size:,} to {now.st_size:,} bytes,"
            how = f"changed{sizes if now.st_size != before.st_size else ''}"
        raise FileChangedError(
            f"{self._path}: this file was {how} while it was read. Read it again when nothing "
            "writes to it."
        )


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, or of standard input for ``-``.

    Raises DataError if it cannot be opened, and FileChangedError if it changes before the end.
    """
    if path == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = _OpenFile(path)  # unbuffered, because Source asks for large pieces itself
    except OSError as error:
        raise DataError(f"{path}: cannot be opened: {error.strerror}. Check the path.") from None
    with stream:
        try:
            yield stream
        except (DataError, UnusableRow):  # which may come of the change
            stream.refuse_change()
            raise
        stream.refuse_change()


def refuse_change(stream: IO[bytes]) -> None:
    """Raise FileChangedError if a file that was :func:`opened` has changed since."""
    if isinstance(stream, _OpenFile):
        stream.refuse_change()


def meant_as_path(source: str) -> bool:
    """Whether an argument that may be a text or a file is rather the name of one.

    It is if it exists, is a pattern that matches, ends as files do, or, without blanks, has a
    separator of folders or is nearly the name of a file that is there.
    """
    if source == "-" or os.path.exists(source) or _TABLE.search(source):
        return True
    if re.search(r"\s", source):
        return False
    if re.search(r"[/\\*]|[^.]\.[A-Za-z]\w{0,7}$", source, re.ASCII):
        return True
    return bool(did_you_mean(source, os.listdir()))


def matching(pattern: str) -> set[str]:
    """What a pattern matches. ``**`` stands for folders below, and follows no links, which may
    lead in circles."""
    before, deep, after = pattern.partition(f"**{os.sep}")
    if not deep or (before and not before.endswith(os.sep)):
        return set(glob.glob(pattern))
    matches: set[str] = set()
    for start in glob.glob(before) if before else [os.curdir]:
        for folder, folders, _ in os.walk(start):
            folders[:] = [name for name in folders if not name.startswith(".")]
            below = os.path.join(glob.escape(folder), after)
            matches |= matching(below if before else below.removeprefix(os.curdir + os.sep))
    return matches


def _not_there(path: str) -> UsageError:
    if "://" in path:
        return UsageError(f"{path}: an address, and textreg loads nothing. Name a file.")
    if glob.has_magic(path):
        return UsageError(f"{path}: no file matches this pattern.")
    folder, name = os.path.split(path)
    try:
        beside = os.listdir(folder or ".")
    except OSError:
        return UsageError(f"{path}: there is no folder '{folder}'.")
    close = " It is a link to no file." if name in beside else did_you_mean(name, beside)
    return UsageError(f"{path}: no such file.{close or ' Check the name, and the folder.'}")
