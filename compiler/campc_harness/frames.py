"""What the integrations share: a loop that a framework drives, and the framework's own checkpoint files inside ours."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from campc_harness.loop import Loop
from campc_harness.memory import memory

if TYPE_CHECKING:
    from campc_harness.context import Context
    from campc_harness.ranks import Ranks
    from campc_harness.session import Session

ENDLESS = 2**62


class Files:
    """A folder's files as state: a framework that can only save to disk is kept through these.

    Args:
        folder: the framework's; it belongs to this attempt alone.
        mine: whether a file, by its relative path, is this rank's to keep.
    """

    def __init__(self, folder: Path, mine: Callable[[str], bool] = lambda path: True) -> None:
        self.folder = folder
        self._mine = mine

    def empty(self) -> None:
        """Begin with no files."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Relative path → bytes."""
        return {name: _content(path) for name, path in self._paths()}

    def staged_bytes(self) -> int:
        """How much they hold now."""
        return sum(path.stat().st_size for _, path in self._paths())

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Write the files."""
        for name, tensor in state.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(memory(tensor))

    def share(self, ranks: Ranks, context: Context) -> None:
        """Give each machine of the attempt the first rank's files, and wait until all have theirs."""
        if context.local_world < context.world:
            mine = dict(self._paths()) if ranks.rank == 0 else {}
            for name in ranks.from_first(list(mine)):
                content = ranks.bytes_from_first(_content(mine[name]) if ranks.rank == 0 else None)
                if context.local_rank == 0 and ranks.rank != 0:
                    self.load_state_dict({name: content})
        ranks.barrier()

    def _paths(self) -> list[tuple[str, Path]]:
        found = [(path.relative_to(self.folder).as_posix(), path) for path in sorted(self.folder.rglob("*"))]
        return [(name, path) for name, path in found if path.is_file() and self._mine(name)]


def _content(path: Path) -> torch.Tensor:
    tensor = torch.empty(path.stat().st_size, dtype=torch.uint8)
    with open(path, "rb", buffering=0) as stream:
        view = memory(tensor)
        while view:
            count = stream.readinto(view)
            if not count:
                break
            view = view[count:]
    return tensor


class Frame(Loop):
    """A loop that a framework drives; it tells the steps, and is told when to save and when to end.

    Args:
        session: the attempt.
        kept: what a rehearsal compares as the state.
    """

    def __init__(self, session: Session, kept: Callable[[], dict[str, Any]]) -> None:
        super().__init__(session, ENDLESS)
        self._kept = kept
        self.save_asked = False
        self.owes_evaluation = False
        self._told_restored = False
        self._seen: list[Any] = []
        self._samples: list[Any] = []

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "owes_evaluation": self.owes_evaluation}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.owes_evaluation = state["owes_evaluation"]

    def kept(self) -> dict[str, Any]:
        return self._kept()

    def saw(self, batch: Any, samples: Sequence[tuple[int, int]] = ()) -> None:
        """A batch is about to be trained on; `samples` are (epoch, index), where they are known."""
        if self._session.rehearsal.active:
            self._seen.append(batch)
            self._samples.extend(samples)

    def digest(self) -> dict[str, Any]:
        seen, self._seen = self._seen, []
        samples, self._samples = self._samples, []
        return {"samples": samples or None, "batch": seen or None}

    def restored(self) -> None:
        """Nothing yet: the framework reads its files later, and `begun` is called then."""

    def flush(self) -> None:
        self.save_asked = True

    def sized(self, total: int) -> None:
        """The framework knows how many steps there are."""
        self.total = self._session.rehearsal.limited(total)
        self._session.reporter.total = self.total

    def begun(self) -> None:
        """The framework has restored, and the first step begins."""
        if not self._told_restored:
            self._told_restored = True
            super().restored()

    @property
    def over(self) -> bool:
        """Whether no step is left to take."""
        return self.step >= self.total or self._session.finished is not None

    def end_step(self, step: int) -> tuple[bool, bool]:
        """A step ended; whether to end the attempt, and whether to save first."""
        self.step = step
        asked, save = self._session.judge(self)
        asked = asked and step < self.total
        save = save or asked or self.save_asked or (self.over and self._session.rehearsal.saves_end)
        return asked, save and self._session.rehearsal.saves
