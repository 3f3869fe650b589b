"""The first bytes of files of text: what DuckDB would misread without a word is refused."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, cast

MARK = b"\xef\xbb\xbf"  # of UTF-8, which Windows puts in front
WIDE = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16 and UTF-32
ENOUGH, CHUNK = 1 << 16, 1 << 22
TO_UTF8 = "convert it by: iconv -f {encoding} -t utf-8 IN > OUT"


def check(kind: str, files: Sequence[Path]) -> None:
    """Refuse files of text that are not UTF-8 at their head, or that are all empty."""
    if kind not in ("csv", "json"):
        return
    empty = [_begins_with_nothing(kind, file) for file in files]
    if all(empty):
        raise ValueError(f"{files[0]} must have rows, but is empty")


def binary(file: Path) -> IO[bytes]:
    """Open a file to read its bytes, unpacked."""
    ending = file.suffix.lower()
    if ending == ".gz":  # pyarrow does not tell where one is cut off
        return cast("IO[bytes]", gzip.open(file))
    import pyarrow as pa

    found: IO[bytes] = pa.input_stream(str(file), compression="zstd" if ending == ".zst" else None)
    return found


def _begins_with_nothing(kind: str, file: Path) -> bool:
    """Tell whether a file is empty; refuse one that begins with what cannot be read."""
    try:
        with binary(file) as stream:
            head = stream.read(ENOUGH)
    except (OSError, EOFError, zlib.error):  # packed wrongly or cut off, of which DuckDB tells
        return False
    if head.startswith(WIDE):
        remedy = TO_UTF8.format(encoding="utf-16")
        raise ValueError(f"{file} must be in UTF-8, not in UTF-16: {remedy}")
    if kind == "json" and head.startswith(MARK):
        remedy = "take it away by: tail -c +4 IN > OUT"
        raise ValueError(f"{file} must begin with an object, not with a byte order mark: {remedy}")
    if kind == "csv" and not _decodes(_header(head)):
        remedy = TO_UTF8.format(encoding="latin1")
        raise ValueError(f"line 1 of {file} must be in UTF-8: {remedy}")
    return not head.strip()


def refuse_twice(files: Sequence[Path], used: Collection[str]) -> None:
    """Refuse a header of CSV that has a name twice which is used: DuckDB would take the first."""
    for file in files:
        with binary(file) as stream:
            header = _header(stream.read(ENOUGH)).decode("utf-8")
        counts = Counter(name.strip(' "') for name in re.split("[,;|\t]", header))
        for name in used:
            if counts[name] > 1:
                raise ValueError(f"{file} must have one column {name!r}, not {counts[name]}")


def refuse_bytes(files: Sequence[Path]) -> None:
    """Refuse files with bytes that are not UTF-8, by the line of the first of them."""
    for file in files:
        with binary(file) as stream:
            for line in _spoiled(stream):
                remedy = TO_UTF8.format(encoding="latin1")
                raise ValueError(f"line {line} of {file} must be in UTF-8: {remedy}")


def _spoiled(stream: IO[bytes]) -> Iterator[int]:
    """Yield the number of the first line that is not UTF-8."""
    decoder, lines = codecs.getincrementaldecoder("utf-8")(), 1
    while chunk := stream.read(CHUNK):
        try:
            decoder.decode(chunk)
        except (
            UnicodeDecodeError
        ) as error:  # what was left of the chunk before has no end of a line
            yield lines + error.object[: error.start].count(b"\n")
            return
        lines += chunk.count(b"\n")


def _header(head: bytes) -> bytes:
    """Return the first line that is not empty."""
    lines = head.removeprefix(MARK).lstrip().splitlines()
    return lines[0] if lines else b""


def _decodes(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
