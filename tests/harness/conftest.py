"""Bundles that are cleaned up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.attempts import Bundle
from tests.harness.zygote import Zygote


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """The process that attempts are forked from."""
    one = Zygote()
    yield one
    one.close()


@pytest.fixture
def bundle(tmp_path: Path, zygote: Zygote) -> Iterator[Callable[..., Bundle]]:
    """Makes bundles; what still runs in them at the end is killed."""
    made: list[Bundle] = []

    def make(script: str = "trainer.py", name: str = "bundle", **run: Any) -> Bundle:
        made.append(Bundle(zygote, tmp_path / name, script, **run))
        return made[-1]

    yield make
    for one in made:
        one.close()
