"""Gates while a campaign runs: judged when they are due, waiting for people where the metrics don't decide."""

from __future__ import annotations

from collections.abc import Callable

from campc_harness import agenda, gates
from campc_harness.bundle import Bundle
from campc_harness.ledger import Ledger
from campc_harness.plan import Gate
from campc_harness.progress import Progress


class Gatekeeper:
    """Judges the gates that windows of this lot wait for, and records what was decided.

    Args:
        progress: the records so far.
        say: prints one line for people.
    """

    def __init__(
        self, bundle: Bundle, ledger: Ledger, progress: Callable[[], Progress], say: Callable[[str], None]
    ) -> None:
        self._bundle = bundle
        self._plan = bundle.plan
        self._ledger = ledger
        self._progress = progress
        self._say = say

    def look(self, over: frozenset[str]) -> None:
        """Judge every gate that is due, given the windows that are over."""
        own = {window.name for window in self._bundle.windows}
        for gate in self._plan.gates:
            state = self._progress().gate(gate.name)
            if state.result or not (gates.follows(self._plan, gate.after) & own):
                continue
            before = {gate.after} | gates.comes_before(self._plan, gate.after)
            if (before & own) - over:
                continue
            self._gate(gate)

    def _gate(self, gate: Gate) -> None:
        state = self._progress().gate(gate.name)
        after = self._progress().window(gate.after)
        if after.state == "skipped" and after.by in ("gate", "time", "failure"):
            self._decided(gate, "continue", "the window before it was given up", "")
            return
        verdict = gates.judge(gate, gates.facts_of(self._plan, [self._progress()]))
        if verdict.result:
            self._decided(gate, verdict.result, None, verdict.values)
        elif state.waiting_since is None:
            fields = {"gate": gate.name, "result": "wait", "values": verdict.values}
            wait = f"waits {agenda.hours(gate.wait_s)} for `decide {gate.name} …`, then: {gate.if_silent}"
            self._ledger.append("gate", **fields, window=gate.after, reason=wait, if_silent=gate.if_silent)
            self._say(f"gate {gate.name}: {verdict.values or 'nothing was measured'}; {wait}")
        elif self._progress().clock.now() - state.waiting_since >= gate.wait_s:
            reason = f"nobody decided within {agenda.hours(gate.wait_s)}"
            self._decided(gate, gate.if_silent, reason, verdict.values)

    def _decided(self, gate: Gate, result: str, reason: str | None, values: str) -> None:
        dropped = sorted(gates.drops(self._plan, gate, result))
        self._ledger.append(
            "gate", window=gate.after, gate=gate.name, result=result, values=values, dropped=dropped, reason=reason
        )
        self._say(f"gate {gate.name}: {result}" + (f" ({values})" if values else ""))
