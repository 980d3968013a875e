"""Models whose weights are spread over ranks (FSDP): `torch.distributed.checkpoint`, inside a checkpoint of the run.

What it writes, each rank its own files, is kept in the ranks' parts like any other state, so that commit, verification and
retention are the same. A run may go on with another number of ranks: the files of all parts are laid together, and
`torch.distributed.checkpoint` deals them anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from campc_harness import dealt
from campc_harness.errors import Misconfigured
from campc_harness.frames import Files
from campc_harness.ranks import Ranks
from campc_harness.state import Tracked, first_difference

NAME = "sharded"


def is_sharded(value: Any) -> bool:
    """Whether it is a module with a parameter that is spread over ranks."""
    return isinstance(value, torch.nn.Module) and any(_spread(tensor) for tensor in value.parameters())


def gather(tracked: Tracked, folder: Path, ranks: Ranks, local_rank: int) -> Sharded | None:
    """Let sharded modules and their optimizers be kept together, as one tracked object; None where there are none.

    Raises:
        Misconfigured: an optimizer has parameters of several sharded modules.
    """
    modules = {name: value for name, value in tracked.objects.items() if is_sharded(value)}
    if not modules:
        return None
    owners = {id(tensor): name for name, module in modules.items() for tensor in module.parameters()}
    optimizers: dict[str, dict[str, torch.optim.Optimizer]] = {name: {} for name in modules}
    for name, value in tracked.objects.items():
        if isinstance(value, torch.optim.Optimizer):
            of = {owners.get(id(tensor)) for group in value.param_groups for tensor in group["params"]}
            if of <= {None}:
                continue
            if len(of) > 1:
                raise Misconfigured(f"the optimizer {name} has parameters of several sharded modules, or of others too")
            optimizers[str(of.pop())][name] = value
    sharded = Sharded(modules, optimizers, Files(folder, _mine(ranks.rank)), ranks, local_rank)
    for name in [*modules, *(name for owned in optimizers.values() for name in owned)]:
        del tracked.objects[name]
    tracked.objects[NAME] = sharded
    tracked.inexact.add(NAME)  # it compares itself: the files of another number of ranks are never equal
    return sharded


class Sharded:
    """Sharded modules and their optimizers. All ranks save and restore together.

    Args:
        modules: by name.
        optimizers: module's name → its optimizers by name.
        files: the folder that `torch.distributed.checkpoint` writes to and reads from, shared by the ranks of a machine.
        ranks: those who take part.
        local_rank: this process among those of its machine.
    """

    def __init__(
        self,
        modules: Mapping[str, torch.nn.Module],
        optimizers: Mapping[str, Mapping[str, torch.optim.Optimizer]],
        files: Files,
        ranks: Ranks,
        local_rank: int,
    ) -> None:
        self.modules = modules
        self._optimizers = optimizers
        self._files = files
        self._ranks = ranks
        self._first = local_rank == 0

    def state_dict(self) -> dict[str, torch.Tensor]:
        """This rank's files."""
        from torch.distributed.checkpoint.filesystem import FileSystemWriter
        from torch.distributed.checkpoint.state_dict_saver import save

        self._clear()
        writer = FileSystemWriter(self._files.folder, sync_files=False)
        save(self._state(), storage_writer=writer, process_group=self._ranks.group)
        self._ranks.barrier()
        return self._files.state_dict()

    def staged_bytes(self) -> int:
        """About as much as this rank's files hold."""
        tensors = [tensor for module in self.modules.values() for tensor in module.state_dict().values()]
        for owned in self._optimizers.values():
            for optimizer in owned.values():
                tensors += [item for state in optimizer.state.values() for item in state.values()]
        local = [_local_part(item) for item in tensors if isinstance(item, torch.Tensor)]
        return sum(tensor.numel() * tensor.element_size() for tensor in local)

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Write this rank's files; `assemble` reads them when all are there."""
        dealt.write(state, self._files.folder)

    def prepare(self) -> None:
        """Make the folder ready to be restored into."""
        self._clear()

    def assemble(self, others: Iterable[Mapping[str, torch.Tensor]]) -> None:
        """Restore, when `others`, the files of parts that no rank here has, are written too.

        Raises:
            Misconfigured: the modules or optimizers don't fit, or say another state than they were given.
        """
        from torch.distributed.checkpoint.state_dict import set_state_dict

        for files in others:
            dealt.write(files, self._files.folder)
        self._ranks.barrier()
        state = self._state()
        dealt.load(state, self._files.folder, self._ranks.group)
        for name, module in self.modules.items():
            # set_state_dict takes its arguments apart, and what is compared later must stay whole.
            given = _containers(state[name])
            set_state_dict(
                module,
                list(self._optimizers[name].values()),
                model_state_dict=given["model"],
                optim_state_dict=given["optimizer"],
            )
        difference = first_difference(_local(state), _local(self._state()), NAME)
        if difference:
            raise Misconfigured(f"after loading, {difference}")
        self._ranks.barrier()

    def _state(self) -> dict[str, Any]:
        from torch.distributed.checkpoint.state_dict import get_state_dict

        found: dict[str, Any] = {}
        for name, module in self.modules.items():
            model, optimizer = get_state_dict(module, list(self._optimizers[name].values()))
            found[name] = {"model": model, "optimizer": optimizer}
        return found

    def _clear(self) -> None:
        self._ranks.barrier()
        if self._first:
            shutil.rmtree(self._files.folder, ignore_errors=True)
            self._files.folder.mkdir(parents=True)
        self._ranks.barrier()


def _mine(rank: int) -> Any:
    def mine(path: str) -> bool:
        return path.startswith(f"__{rank}_") or (rank == 0 and path == ".metadata")

    return mine


def _spread(tensor: torch.Tensor) -> bool:
    return hasattr(tensor, "to_local") and hasattr(tensor, "placements")


def _containers(value: Any) -> Any:
    """`value` with mappings and lists of its own, and the same tensors."""
    if isinstance(value, Mapping):
        return {key: _containers(item) for key, item in value.items()}
    return [_containers(item) for item in value] if isinstance(value, list) else value


def _local_part(tensor: torch.Tensor) -> torch.Tensor:
    whole: Any = tensor
    part: torch.Tensor = whole.to_local() if _spread(tensor) else whole
    return part


def _local(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _local_part(value).clone()
    if isinstance(value, Mapping):
        return {key: _local(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_local(item) for item in value)
    return value
