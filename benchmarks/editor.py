"""How long an author waits: from a keystroke to the diagnostics, and for completion, asked of the real server over its pipe."""

import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

ROOT = Path(__file__).resolve().parent.parent
URI = "file:///bench/long.campaign"
KEYSTROKES = 60


def spec(lines: int) -> str:
    """A sound spec of about so many lines: runs, variants and windows, one line each."""
    head = [
        "campaign long {",
        '  question = "Which?"; decision = "Adopt the best."; if_negative = "Keep the control."',
        "  currency = USD",
        "}",
        'package year { gpu = "RTX 4090"; gpus = 4; duration = 2000d; price = 47.14 USD }',
        'checkpoint { every = 30min; to = "s3://lab/long"; may_lose = 1h }',
        "lot box { package = year; starts = 2026-12-01 09:00 }",
        'run control { script = "train.py"; params = { lr = 1e-3, rank = 8 }; metrics = [loss, eval.accuracy] }',
    ]
    count = max(1, (lines - len(head) - 3) // 2)
    runs = [f"run v{i} {{ variant_of = control; change = {{ lr = {i + 2}e-5 }} }}" for i in range(count)]
    windows = [
        f"  window w{i} {{ kind = train; on = box[{i % 4}]; takes = 2h; run = v{i}"
        + (f"; after = w{i - 4} }}" if i >= 4 else " }")
        for i in range(count)
    ]
    names = ", ".join(["control", *(f"v{i}" for i in range(count))])
    results = f'deliverable scores {{ of = [{names}]; path = "scores.csv"; accept = rows > 0 }}'
    return "\n".join([*head, results, *runs, "tier essential {", *windows, "}"]) + "\n"


@define
class Wire:
    """The client's end of the server's pipe."""

    process: subprocess.Popen[bytes]
    serial: int = field(default=0)

    def send(self, method: str, params: Any, *, answered: bool = False) -> int:
        """Send a request (``answered``) or a notification; its number."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if answered:
            self.serial += 1
            message["id"] = self.serial
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        return self.serial

    def receive(self) -> Any:
        """The next message."""
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def wait(self, *, method: str | None = None, number: int | None = None) -> Any:
        """Read until a notification of that method, or the answer to that request."""
        while True:
            message = self.receive()
            if (method is not None and message.get("method") == method) or (
                number is not None and message.get("id") == number
            ):
                return message


def started() -> Wire:
    """A server that was greeted."""
    command = [sys.executable, "-m", "campc", "lsp"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    wire = Wire(process)
    wire.wait(number=wire.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, answered=True))
    wire.send("initialized", {})
    return wire


@frozen
class Keystroke:
    """What is put in at a place, for what stood there: a line and a column, from 0."""

    line: int
    column: int
    gone: str
    come: str


def indenting(text: str) -> Iterator[Keystroke]:
    """Blanks before a window near the end."""
    row = text.count("\n") - 3
    for _ in range(KEYSTROKES):
        yield Keystroke(row, 2, "", " ")


def changing(text: str) -> Iterator[Keystroke]:
    """A digit of the time that a window takes, in the middle, and its removal."""
    lines = text.split("\n")
    row = next(i for i in range(len(lines) * 3 // 4, len(lines)) if "takes = 2h" in lines[i])
    column = lines[row].index("2h")
    for stroke in range(KEYSTROKES):
        yield Keystroke(row, column, "1" if stroke % 2 else "", "" if stroke % 2 else "1")


def writing(text: str) -> Iterator[Keystroke]:
    """A window, letter by letter, its closing brace last: most of the time something is at fault."""
    lines = text.split("\n")
    row = next(i for i in range(len(lines) * 3 // 4, len(lines)) if "window" in lines[i])
    yield Keystroke(row, 0, "", "\n")
    for column, letter in enumerate("  window more { kind = train; on = box[0]; takes = 2h; run = v1 }"):
        yield Keystroke(row, column, "", letter)


@frozen
class Measured:
    """Seconds from each keystroke to its diagnostics, for each completion right behind one, and of the server's processor for both."""

    diagnostics: list[float]
    completions: list[float]
    processor: list[float]


def measure(lines: int, typed: Callable[[str], Iterator[Keystroke]]) -> Measured:
    """Type into a spec of so many lines."""
    wire = started()
    text = spec(lines)
    document = {"uri": URI, "languageId": "campaign", "version": 1, "text": text}
    wire.send("textDocument/didOpen", {"textDocument": document})
    wire.wait(method="textDocument/publishDiagnostics")
    found = Measured([], [], [])
    for number, stroke in enumerate(typed(text)):
        used = processor_time(wire.process.pid)
        start = {"line": stroke.line, "character": stroke.column}
        end = {"line": stroke.line, "character": stroke.column + len(stroke.gone)}
        edit = {"range": {"start": start, "end": end}, "text": stroke.come}
        began = time.perf_counter()
        wire.send(
            "textDocument/didChange", {"textDocument": {"uri": URI, "version": number + 2}, "contentChanges": [edit]}
        )
        wire.wait(method="textDocument/publishDiagnostics")
        found.diagnostics.append(time.perf_counter() - began)
        began = time.perf_counter()
        place = {"line": stroke.line, "character": stroke.column + len(stroke.come)}
        wire.wait(
            number=wire.send(
                "textDocument/completion", {"textDocument": {"uri": URI}, "position": place}, answered=True
            )
        )
        found.completions.append(time.perf_counter() - began)
        found.processor.append(processor_time(wire.process.pid) - used)
    wire.process.kill()
    wire.process.wait()
    return found


def processor_time(process: int) -> float:
    """Seconds of processor time that a process has used so far; not a number where the system doesn't say."""
    try:
        fields = Path(f"/proc/{process}/schedstat").read_text().split()
    except OSError:
        return math.nan
    return int(fields[0]) / 1e9


def percentile(values: list[float], share: float) -> float:
    """The value that so many of the values do not exceed."""
    return statistics.quantiles(values, n=100)[round(share * 100) - 1]


def main() -> None:
    """Print the table."""
    print(f"The language server, some {KEYSTROKES} keystrokes each; milliseconds")
    columns = f"{'diagnostics p50':>15}  {'p95':>6}  {'completion p50':>14}  {'p95':>6}  {'processor, mean':>15}"
    print(f"{'lines':>6}  {'typed':>9}  {columns}")
    for lines in (100, 500, 5000):
        for typed in (indenting, changing, writing):
            found = measure(lines, typed)
            times = (found.diagnostics, found.completions)
            figures = [percentile(values, share) * 1000 for values in times for share in (0.5, 0.95)]
            used = statistics.mean(found.processor) * 1000
            print(
                f"{lines:>6}  {typed.__name__:>9}  {figures[0]:>15.1f}  {figures[1]:>6.1f}  {figures[2]:>14.1f}  {figures[3]:>6.1f}"
                f"  {used:>15.1f}"
            )


if __name__ == "__main__":
    main()
