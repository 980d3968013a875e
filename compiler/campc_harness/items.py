"""Resumable inference: every id gets its row exactly once, across kills and other numbers of ranks.

Rows are committed in parts, beside the run's checkpoints. What is in a part is done; the rest is dealt anew to the ranks of
the next attempt. At the end rank 0 joins the parts, in the order of the ids, into one file of the outputs.
"""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from campc_harness.errors import Misconfigured
from campc_harness.loop import Loop
from campc_harness.phases import AFTER, LOAD, TRAIN

if TYPE_CHECKING:
    from campc_harness.session import Session

PART_INTERVAL_S = 60.0
Id = str | int


class Items(Loop):
    """Lists of ids that have no row yet; see `Run.items`."""

    def __init__(self, session: Session, ids: Sequence[Id], batch: int, output: str) -> None:
        self._ids = list(ids)
        if len(set(self._ids)) != len(self._ids):
            raise Misconfigured("run.items was given an id twice")
        for one in self._ids:
            if type(one) not in (str, int):
                raise Misconfigured(f"an id must be text or a whole number, not {one!r}")
        if not isinstance(batch, int) or batch < 1:
            raise Misconfigured(f"batch must be a whole number above zero, not {batch!r}")
        if Path(output).suffix not in (".jsonl", ".csv") or Path(output).is_absolute() or ".." in Path(output).parts:
            raise Misconfigured(f"output must be a .jsonl or .csv file below the outputs, not {output!r}")
        self._batch = batch
        self._output = output
        self._dealt: Iterator[list[Id]] = iter(())
        self._current: list[Id] = []
        self._rows: dict[Id, Any] = {}
        self._done: dict[Id, Any] = {}
        self._part = 0
        self._part_from: str | None = None
        self._part_at = time.monotonic()
        super().__init__(session, -(-len(self._ids) // (batch * session.context.world)) or 1, lockstep=False)

    def __iter__(self) -> Iterator[list[Id]]:
        session = self._session
        session.enter(LOAD)
        session.attach(self)
        self._restore()
        remaining = [one for one in self._ids if one not in self._done]
        mine = remaining[session.context.rank :: session.context.world]
        batches = [mine[start : start + self._batch] for start in range(0, len(mine), self._batch)]
        # Counted in batches of all ranks, so that a resumed attempt goes on counting.
        self.step = len(self._done) // (self._batch * session.context.world)
        self.total = session.rehearsal.limited(self.step + len(batches))
        session.reporter.total, session.reporter.step = self.total, self.step
        self._dealt = iter(batches[: max(0, self.total - self.step)])
        session.reporter.send("resume", step=self.step, items=len(self._done), **{"from": self._part_from})
        session.rehearsal.restored(session, self)
        session.arm()
        session.enter(TRAIN)
        return self

    def __next__(self) -> list[Id]:
        if self.open:
            self._close_batch()
        batch = next(self._dealt, None)
        if batch is None or self._session.finished is not None:
            self._end()
            raise StopIteration
        self._current, self.open = batch, True
        return batch

    def emit(self, one: Id, row: Any) -> None:
        """Take the row of an id of the current batch."""
        if not self.open or one not in self._current:
            raise ValueError(f"emit({one!r}, …): that id is not in the current batch")
        if one in self._rows:
            raise ValueError(f"emit({one!r}, …): it has a row already")
        if isinstance(row, dict) and row.get("id", one) != one:
            raise ValueError(f"emit({one!r}, …): its row says that its id is {row['id']!r}; leave `id` out")
        try:
            self._rows[one] = json.loads(json.dumps(row))
        except (TypeError, ValueError) as error:
            raise ValueError(f"emit({one!r}, …): a row must be plain JSON values: {error}") from error

    def kept(self) -> dict[str, Any]:
        """The rows of this rank's share of all ids, committed or about to be."""
        context = self._session.context
        rows = {**self._done, **self._rows}
        mine = self._ids[context.rank :: context.world]
        return {"rows": {json.dumps(one): rows[one] for one in mine if one in rows}}

    def digest(self) -> dict[str, Any]:
        return {"samples": [[0, one] for one in self._current]}

    def _restore(self) -> None:
        session = self._session
        session.ranks.connect()
        session.claim()
        if not session.rehearsal.restores:
            return
        storage = session.checkpoints.storage
        names = session.ranks.from_first(session.reach(storage.parts))
        known = set(self._ids)
        for name in names:
            for one, row in self._rows_of(name):
                if one in known:
                    # Of a row that two parts have, the first is the one that counts.
                    self._done.setdefault(one, row)
        self._part_from = names[-1] if names else None

    def _rows_of(self, name: str) -> list[tuple[Id, Any]]:
        """The rows of a committed part."""
        storage = self._session.checkpoints.storage
        text = self._session.reach(lambda: storage.read_part(name)).decode()
        return [(one, row) for one, row in map(json.loads, text.splitlines())]

    def _close_batch(self) -> None:
        missing = [one for one in self._current if one not in self._rows]
        if missing:
            raise RuntimeError(f"{len(missing)} ids of the batch got no row, first {missing[0]!r}; emit one for each")
        session = self._session
        self.open = False
        self.step += 1
        session.reporter.step = self.step
        session.reporter.progress += 1
        session.rehearsal.step(session, self)
        if session.latch.set:
            self.flush()
            session.leave()
        if session.rehearsal.active:
            return
        policy = session.context.policy
        steps = policy.every_steps
        interval = min(policy.every_s or PART_INTERVAL_S, PART_INTERVAL_S)
        if (steps and self.step % steps == 0) or time.monotonic() - self._part_at >= interval:
            self.flush()

    def flush(self) -> None:
        """Make the rows emitted so far durable."""
        self._part_at = time.monotonic()
        if not self._rows or not self._session.rehearsal.saves:
            self._done.update(self._rows)
            self._rows.clear()
            return
        self._part += 1
        text = "".join(json.dumps([one, row]) + "\n" for one, row in self._rows.items())
        begun = time.perf_counter()
        self._session.write_part(f"{self._session.context.rank:05d}-{self._part:06d}", text.encode())
        self._session.reporter.send(
            "checkpoint",
            step=self.step,
            bytes=len(text),
            stage_s=0.0,
            write_s=round(time.perf_counter() - begun, 6),
            verified=True,
        )
        self._done.update(self._rows)
        self._rows.clear()

    def _end(self) -> None:
        session = self._session
        # A rehearsal's first attempt waits in there to be killed: it commits nothing after its one save.
        session.rehearsal.end(session, self)
        self.flush()
        self.exhausted = True
        session.enter(AFTER)
        if session.context.rank == 0:
            self._join()

    def _join(self) -> None:
        """Wait for the other ranks' parts, then write the output whole or not at all."""
        session = self._session
        wanted = [one for one in self._ids if one in self._done] if session.rehearsal.active else self._ids
        storage = session.checkpoints.storage
        seen: set[str] = set()
        while any(one not in self._done for one in wanted) and session.finished is None:
            for name in session.reach(storage.parts):
                if name not in seen:
                    seen.add(name)
                    for one, row in self._rows_of(name):
                        self._done.setdefault(one, row)
            session.reporter.progress += 1
            time.sleep(0.2)
        path = session.context.outputs / self._output
        path.parent.mkdir(parents=True, exist_ok=True)
        text = _table(wanted, self._done) if path.suffix == ".csv" else _lines(wanted, self._done)
        temporary = path.with_name(f".{path.name}.part")
        with open(temporary, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)


def _lines(ids: Sequence[Id], rows: dict[Id, Any]) -> str:
    return "".join(json.dumps(_record(one, rows[one]), ensure_ascii=False) + "\n" for one in ids if one in rows)


def _table(ids: Sequence[Id], rows: dict[Id, Any]) -> str:
    records = [_record(one, rows[one]) for one in ids if one in rows]
    columns = list(dict.fromkeys(key for record in records for key in record)) or ["id"]
    text = io.StringIO()
    table = csv.DictWriter(text, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(records)
    return text.getvalue()


def _record(one: Id, row: Any) -> dict[str, Any]:
    return {"id": one, **row} if isinstance(row, dict) else {"id": one, "row": row}
