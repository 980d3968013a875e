"""Standard streams that who started us made non-blocking: all is written, and read, however slow the other end is."""

import fcntl
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

COMPILER = Path(__file__).resolve().parents[2] / "compiler"
HEAD = 'campaign c { question = "q"; decision = "d"; if_negative = "n"; currency = USD }\n'
PIPE = 4096
"""How much the pipe holds here: far less than the commands write."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes whose size can be set")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A spec of which check, plan and fmt each write over a megabyte, or close to one."""
    made = tmp_path / "a.campaign"
    runs = "".join(f'run run_{i} {{ bogus = {i}; script = "{"x" * 300}.py" }}\n' for i in range(2500))
    made.write_text(HEAD + runs)
    return made


def started(
    *arguments: str | Path, stdin: int | None = None, unbuffered: bool = False
) -> tuple[subprocess.Popen[bytes], int, int]:
    """The process, and what to read its output and its errors from; both of its ends don't block."""
    reads, writes = zip(os.pipe(), os.pipe(), strict=True)
    for end in writes:
        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, PIPE)
        os.set_blocking(end, False)
    process = subprocess.Popen(
        [sys.executable, *(["-u"] if unbuffered else []), "-m", "campc", *map(str, arguments)],
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=writes[0],
        stderr=writes[1],
        env={**os.environ, "PYTHONPATH": str(COMPILER)},
    )
    for end in writes:
        assert not os.get_blocking(end)
        os.close(end)
    return process, reads[0], reads[1]


def everything(descriptor: int) -> bytes:
    """All that comes, in small pieces."""
    parts = []
    while part := os.read(descriptor, PIPE):
        parts.append(part)
    os.close(descriptor)
    return b"".join(parts)


def usual(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "campc", *map(str, arguments)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(COMPILER)},
        timeout=120,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",), ("check", "--format=json"), ("check", "--format", "sarif"), ("check", "--diff"), ("plan",), ("plan", "--format", "json"),
        ("fmt", "--diff"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_slow_reader_gets_everything(arguments: tuple[str, ...], spec: Path) -> None:
    wanted = usual(*arguments, spec)
    process, out, err = started(*arguments, spec)
    # The pipe is full, and the process has nobody who reads, until it was seen to be so.
    assert os.read(out, 1) == wanted.stdout[:1]
    said: list[bytes] = []
    reader = threading.Thread(target=lambda: said.append(everything(err)))
    reader.start()
    rest = everything(out)
    reader.join(120)
    assert process.wait(120) == wanted.returncode
    assert wanted.stdout[:1] + rest == wanted.stdout
    assert said == [wanted.stderr]


def test_a_megabyte_is_enough_to_fill_any_pipe(spec: Path) -> None:
    assert len(usual("check", "--format=json", spec).stdout) > 1_000_000


def test_unbuffered_output_comes_whole(spec: Path) -> None:
    process, out, err = started("check", "--format=json", spec, unbuffered=True)
    report = json.loads(everything(out))
    assert (process.wait(120), everything(err)) == (1, b"")
    assert report["errors"] >= 2500


@pytest.mark.parametrize("arguments", [("check",), ("check", "--format", "json"), ("fmt", "--diff")], ids=" ".join)
def test_a_reader_that_goes_in_the_middle_ends_it_quietly(arguments: tuple[str, ...], spec: Path) -> None:
    process, out, err = started(*arguments, spec)
    assert os.read(out, 1)
    os.close(out)
    assert everything(err) == b""
    assert process.wait(120) in (0, 1)


def test_input_that_comes_in_pieces_is_read_to_its_end(spec: Path) -> None:
    wanted = usual("check", "--format=json", spec)
    source, sink = os.pipe()
    os.set_blocking(source, False)
    process, out, err = started("check", "--format=json", "-", "--stdin-filename", spec, stdin=source)
    os.close(source)
    report: list[bytes] = []
    reader = threading.Thread(target=lambda: report.append(everything(out)))
    reader.start()
    with open(sink, "wb", buffering=0) as pieces:
        text = spec.read_bytes()
        for start in range(0, len(text), 50_000):
            pieces.write(text[start : start + 50_000])
    reader.join(120)
    assert (process.wait(120), everything(err)) == (wanted.returncode, b"")
    assert report == [wanted.stdout]
