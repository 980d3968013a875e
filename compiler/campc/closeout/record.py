"""The ledgers of all lots and machines as one story, with what is damaged in them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import define, evolve, frozen

from campc.closeout.bundle import Bundle, refuse_other_plan
from campc.closeout.model import LedgerCheck
from campc_harness import ledger
from campc_harness.clock import Reading, Steady
from campc_harness.ledger import Record

__all__ = ["Story", "money_of", "read_story"]

MOST_BYTES = 1 << 30


@frozen
class Story:
    """Every record, in the order of time; of equal times in the order of its ledger."""

    records: tuple[Record, ...]
    checks: tuple[LedgerCheck, ...]
    remarks: tuple[str, ...]

    def of(self, *events: str) -> Iterator[Record]:
        """The records of these events."""
        return (record for record in self.records if record.event in events)

    @property
    def first(self) -> float | None:
        """When the campaign was first launched; where no launch is recorded, when its record begins."""
        launches = [record.time for record in self.of("launch")]
        return min(launches or [record.time for record in self.records], default=None)

    @property
    def last(self) -> float | None:
        """When the record ends."""
        return max((record.time for record in self.records), default=None)


def read_story(bundle: Bundle, *, as_written: bool = False) -> Story:
    """Read and verify every ledger. Damage is reported, never fatal.

    Args:
        as_written: whether times are those that the wall clock showed; else, within a boot, those of the clock that runs on,
            so that no length of time is wrong where the wall clock was set. The order is that of the latter either way.

    Raises:
        Refused: a ledger was written under another plan.
    """
    chains: list[_Chain] = []
    checks: list[LedgerCheck] = []
    remarks: list[str] = []
    for lot, path in bundle.ledgers:
        try:
            if path.stat().st_size > MOST_BYTES:
                raise OSError(f"it is larger than {MOST_BYTES:,} bytes")
            chain = _Chain(lot, path, path.read_bytes())
        except OSError as fault:
            damage = (f"it can't be read: {fault.strerror or fault}",)
            checks.append(LedgerCheck(lot=lot, lines=0, intact=False, damage=damage))
            continue
        known = next(
            (index for index, other in enumerate(chains) if other.lot == lot and other.begins_like(chain)), None
        )
        if known is None:
            chains.append(chain)
        elif chains[known].goes_on(chain):
            continue
        elif chain.goes_on(chains[known]):
            chains[known] = chain
        else:
            remarks.append(f"The ledger of {lot} differs from its copy in the package: one of the two was changed.")
            # The whole one is believed, and what is wrong with the other one is shown.
            believed, other = sorted((chains[known], chain), key=lambda one: not one.check.intact)
            chains[known] = believed
            checks.append(evolve(other.check, lot=f"{lot}, another copy"))
    timed: list[tuple[float, Record]] = []
    for chain in chains:
        timed.extend(_timed(chain.records))
    checks = [*(chain.check for chain in chains), *checks]
    timed.sort(key=lambda one: one[0])
    records = [record if as_written else replace(record, time=time) for time, record in timed]
    for record in records:
        plan_hash = record.more.get("plan_hash")
        if record.event == "launch" and isinstance(plan_hash, str):
            refuse_other_plan(bundle, plan_hash, "the campaign was launched under")
    return Story(tuple(records), tuple(checks), (*remarks, *_remarks(checks)))


def money_of(value: Any) -> tuple[str, str] | None:
    """Amount and currency of a record's money: an object, or text such as ``8.00 EUR``."""
    if isinstance(value, dict) and isinstance(value.get("currency"), str):
        return str(value.get("amount")), value["currency"]
    if isinstance(value, str) and len(words := value.split()) == 2:
        return words[0], words[1]
    return None


@define(slots=False)
class _Chain:
    """One ledger file. It is parsed when somebody asks what it says: of two copies one is enough."""

    lot: str
    path: Path
    data: bytes

    def begins_like(self, other: _Chain) -> bool:
        """Whether the two are of one machine: their first lines are equal, or one was changed elsewhere at the same length."""
        first, second = (data[: data.find(b"\n")] for data in (self.data, other.data))
        return first == second or len(self.data) == len(other.data)

    def goes_on(self, older: _Chain) -> bool:
        """Whether it holds the other one's finished lines, and perhaps more."""
        return self.data.startswith(older.data[: older.data.rfind(b"\n") + 1])

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """Its usable records."""
        return tuple(_plain(record, self.lot) for record in self._reading.records if _usable(record))

    @cached_property
    def check(self) -> LedgerCheck:
        """What is wrong with it."""
        lines = self.data.count(b"\n")
        finished = self.data[: self.data.rfind(b"\n")] if lines else b""
        return LedgerCheck(
            lot=self.lot,
            lines=lines,
            intact=not self._reading.damage,
            torn_tail=self._reading.torn,
            damage=tuple(f"line {damage.line} {damage.text}" for damage in self._reading.damage),
            head=hashlib.sha256(finished[finished.rfind(b"\n") + 1 :]).hexdigest() if lines else None,
        )

    @cached_property
    def _reading(self) -> ledger.Reading:
        return ledger.read(self.path)


def _timed(records: Iterable[Record]) -> Iterator[tuple[float, Record]]:
    steady = Steady()
    for record in records:
        if record.event == "launch":
            boot = record.more.get("boot")
            steady.begin(Reading(record.time, record.mono or 0.0, boot if isinstance(boot, str) else ""))
        time = steady.at(record.time, record.mono)
        yield time if _possible(time) else record.time, record


def _usable(record: Record) -> bool:
    return isinstance(record.event, str) and _possible(record.time)


def _possible(time: float) -> bool:
    return -1e11 < time < 1e11


def _plain(record: Record, lot: str) -> Record:
    """The record with every field of the type that its name promises; a hostile one must not reach the rest."""
    return Record(
        seq=record.seq,
        time=record.time,
        event=record.event,
        mono=record.mono if isinstance(record.mono, (int, float)) else None,
        lot=_text(record.lot) or lot,
        machine=_text(record.machine),
        run_id=_text(record.run_id),
        window=_text(record.window),
        attempt=_whole(record.attempt),
        step=_whole(record.step),
        reason=_text(record.reason),
        more=record.more,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62 else None


def _remarks(checks: Iterable[LedgerCheck]) -> Iterator[str]:
    for check in checks:
        if not check.intact:
            more = f", and {len(check.damage) - 1} more" if len(check.damage) > 1 else ""
            yield f"The ledger of {check.lot} is damaged: {check.damage[0]}{more}. What it says is shown; it is no proof."
        if check.torn_tail:
            yield f"The last line of the ledger of {check.lot} is torn: what was being written when the machine stopped is lost."
