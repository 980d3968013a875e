"""Tells people of events: the plan's command is run with the event as JSON on its standard input."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from campc_harness.ledger import Record
from campc_harness.plan import Notify


class Notifier:
    """Runs the commands without waiting for them; one that fails or hangs changes nothing."""

    def __init__(self, rules: tuple[Notify, ...], cwd: Path, environment: Mapping[str, str]) -> None:
        self._rules = rules
        self._cwd = cwd
        self._environment = dict(environment)
        self._running: list[subprocess.Popen[bytes]] = []

    def tell(self, record: Record, everyone: bool = False) -> None:
        """Run each command that asked for this event, or every command."""
        self._running = [process for process in self._running if process.poll() is None]
        for rule in self._rules:
            if everyone or record.event in rule.on:
                self._run(rule.command, record)

    def wait(self, seconds: float) -> None:
        """Give those that still run a moment."""
        for process in self._running:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()

    def _run(self, command: str, record: Record) -> None:
        event = {key: value for key, value in asdict(record).items() if key != "more" and value is not None}
        try:
            with tempfile.TemporaryFile() as stream:
                stream.write(json.dumps({**event, **record.more}, ensure_ascii=False).encode() + b"\n")
                stream.seek(0)
                self._running.append(
                    subprocess.Popen(
                        ["/bin/sh", "-c", command],
                        cwd=self._cwd,
                        env=self._environment,
                        stdin=stream,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        start_new_session=True,
                    )
                )
        except OSError:
            return
