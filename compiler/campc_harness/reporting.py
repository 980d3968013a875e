"""What an attempt tells its supervisor: one JSON object a line through a pipe, written by a thread of its own."""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import math
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

LIMIT = 4000
METRIC_INTERVAL_S = 0.25
# So many values of a set of names go out as they come: of a short run there is a curve, too.
METRICS_WHOLE = 100
BEAT_INTERVAL_S = 1.0
LINE_INTERVAL_S = 30.0

Number = float | int
_Metric = tuple[int, tuple[str, ...], tuple[Number, ...]]
_Held = tuple[float, "_Metric | None"]
_NEVER: _Held = (0.0, None)


class Reporter:
    """Queues reports; a thread writes them, so that a slow reader never stalls a training step.

    After the first `METRICS_WHOLE`, metrics with the same names are thinned to one in `METRIC_INTERVAL_S`, the last one
    never lost; all of them stand in `metrics-RANK.jsonl` in the attempt's folder. A beat is sent while the training thread makes progress, not otherwise.

    Args:
        handle: write end of the pipe, or None by hand.
        rank: this process.
        folder: the attempt's folder for `metrics-RANK.jsonl`, or None.
        console: whether to show progress on standard error.
    """

    def __init__(self, handle: int | None, rank: int, folder: Path | None, *, console: bool) -> None:
        self._handle = handle
        self._rank = rank
        self._console = console and rank == 0
        self._terminal = sys.stderr.isatty()
        self._queue: collections.deque[tuple[Any, ...]] = collections.deque()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._held: dict[tuple[str, ...], _Held] = {}
        self._whole: collections.Counter[tuple[str, ...]] = collections.Counter()
        self._raw = open(folder / f"metrics-{rank}.jsonl", "a", encoding="utf-8") if folder is not None else None
        self._last_line = 0.0
        self._beat_at = 0.0
        self._beat_seen = -1
        self.step = 0
        self.total: int | None = None
        self.phase = "load"
        self.progress = 0

    def send(self, event: str, **fields: Any) -> None:
        """Queue a report."""
        self._queue.append((event, fields))
        if self._thread is None:
            self._start()
        self._wake.set()

    def metric(self, step: int, values: Mapping[str, Number]) -> None:
        """Queue the metrics of a step."""
        # A flat tuple of plain values, which the garbage collector stops looking at: in a tight loop many wait here.
        self._queue.append((step, *values, *values.values()))
        if self._thread is None:
            self._start()

    def flush(self, timeout: float = 10.0) -> None:
        """Wait until everything queued is written, held metrics too; gives up after `timeout` seconds."""
        if self._thread is None:
            return
        done = threading.Event()
        self.send("flush", done=done)
        done.wait(timeout)

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="campc-reporter", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            self._wake.wait(METRIC_INTERVAL_S)
            self._wake.clear()
            while self._queue:
                entry = self._queue.popleft()
                if isinstance(entry[0], int):
                    count = len(entry) // 2
                    self._metric(entry[0], entry[1 : count + 1], entry[count + 1 :])
                    continue
                event, fields = entry
                # What comes before another report is on disk before it is told.
                self._flush_raw()
                if event == "flush":
                    self._release(everything=True)
                    fields["done"].set()
                else:
                    self._write(event, fields)
            self._flush_raw()
            self._release(everything=False)
            self._beat()

    def _flush_raw(self) -> None:
        if self._raw is not None:
            with self._losing_raw():
                self._raw.flush()

    @contextlib.contextmanager
    def _losing_raw(self) -> Iterator[None]:
        # A full disk costs measurements, not the run: what is reported still arrives.
        try:
            yield
        except OSError as error:
            lost, self._raw = self._raw, None
            if lost is not None:
                with contextlib.suppress(OSError):
                    lost.close()
            self._write("note", {"text": f"raw metrics are no longer written: {error}"})

    def _metric(self, step: int, names: tuple[str, ...], numbers: tuple[Number, ...]) -> None:
        if self._raw is not None:
            with self._losing_raw():
                self._raw.write(_raw_line(step, names, numbers))
        now = time.monotonic()
        if self._console and now - self._last_line >= (0.2 if self._terminal else LINE_INTERVAL_S):
            self._last_line = now
            self._show(step, names, numbers)
        sent_at, _ = self._held.get(names, _NEVER)
        if now - sent_at >= METRIC_INTERVAL_S or self._whole[names] < METRICS_WHOLE:
            self._whole[names] += 1
            self._held[names] = (now, None)
            self._write_metric(step, names, numbers)
        else:
            self._held[names] = (sent_at, (step, names, numbers))

    def _release(self, *, everything: bool) -> None:
        now = time.monotonic()
        for key, (sent_at, held) in list(self._held.items()):
            if held is not None and (everything or now - sent_at >= METRIC_INTERVAL_S):
                self._held[key] = (now, None)
                self._write_metric(*held)

    def _write_metric(self, step: int, names: tuple[str, ...], numbers: tuple[Number, ...]) -> None:
        self._write("metric", {"step": step, "values": dict(zip(names, map(spelled, numbers), strict=True))})

    def _beat(self) -> None:
        now = time.monotonic()
        if self.progress != self._beat_seen and now - self._beat_at >= BEAT_INTERVAL_S:
            self._beat_at, self._beat_seen = now, self.progress
            self._write("beat", {"step": self.step, "phase": self.phase})

    def _write(self, event: str, fields: Mapping[str, Any]) -> None:
        if self._handle is None:
            if event in ("note", "quarantine", "checkpoint_failed", "watch"):
                self._say(f"{event}: " + ", ".join(f"{key} {value}" for key, value in fields.items()))
            return
        line = _json({"event": event, "rank": self._rank, **fields})
        if len(line) >= LIMIT:
            line = _json({"event": event, "rank": self._rank, **_shortened(fields)})
        try:
            os.write(self._handle, (line + "\n").encode())
        except OSError:
            self._handle = None  # the supervisor is gone; the life pipe decides what follows

    def _show(self, step: int, names: tuple[str, ...], numbers: tuple[Number, ...]) -> None:
        shown = "  ".join(f"{name} {value:.4g}" for name, value in zip(names, numbers, strict=True))
        of = f" of {self.total}" if self.total else ""
        self._say(f"step {step}{of}  {shown}", again=self._terminal)

    def _say(self, text: str, *, again: bool = False) -> None:
        sys.stderr.write(f"\r\x1b[K{text}" if again else f"{text}\n")
        sys.stderr.flush()


_json = json.JSONEncoder(separators=(",", ":"), default=str).encode
_quoted = functools.lru_cache(maxsize=1024)(json.dumps)


def _raw_line(step: int, names: tuple[str, ...], numbers: tuple[Number, ...]) -> str:
    # Written out by hand: an encoder costs each step thrice as much.
    pairs = [f"{_quoted(name)}:{_number(value)}" for name, value in zip(names, numbers, strict=True)]
    return f'{{"step":{step},"values":{{{",".join(pairs)}}}}}\n'


def _number(value: Number) -> str:
    if isinstance(value, int):
        return int.__repr__(value)
    return float.__repr__(value) if math.isfinite(value) else f'"{float(value)}"'


def _shortened(fields: Mapping[str, Any]) -> dict[str, Any]:
    """`fields` with long texts and mappings cut, so that a line stays below what a pipe writes at once."""
    short: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, str):
            short[key] = value[:1500]
        elif isinstance(value, dict):
            kept: dict[str, Any] = {}
            for name, item in value.items():
                if len(_json(kept)) + len(_json({name: item})) > 2000:
                    break
                kept[name] = item
            short[key] = kept
        else:
            short[key] = value
    return short


def spelled(value: Number) -> Number | str:
    """`value` for JSON, which has no words for what isn't finite: `"nan"`, `"inf"`, `"-inf"`."""
    return value if math.isfinite(value) else str(float(value))


def plain(value: Any) -> Number:
    """A metric as a number: tensors, NumPy scalars and booleans too.

    Raises:
        TypeError: it isn't one number.
    """
    if type(value) in (int, float):
        return value  # type: ignore[no-any-return]
    if isinstance(value, bool):
        return int(value)
    item = getattr(value, "item", None)
    if callable(item):
        try:
            value = item()
        except (RuntimeError, ValueError) as error:
            raise TypeError(f"a metric must be one number, not {type(value).__name__} of several") from error
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, bool) else value
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"a metric must be a number, not {value!r}") from error
