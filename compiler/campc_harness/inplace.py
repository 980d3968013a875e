"""Which tensors a checkpoint may be read into where they lie, which saves memory that nobody has touched yet."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch

from campc_harness.pages import LARGE
from campc_harness.state import Tracked, unwrap

_LOADS = ("load_state_dict", "_load_from_state_dict")
_HOOKS = ("_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")


def targets(tracked: Tracked, prefix: str = "") -> dict[str, torch.Tensor]:
    """Large parameters and buffers, by their dotted names in a checkpoint: those whose loading would be a plain copy.

    Args:
        tracked: the objects that will be given the restored state.
        prefix: what comes before their names in a checkpoint's manifest.
    """
    found: dict[str, torch.Tensor] = {}
    for name, value in tracked.objects.items():
        module = unwrap(value)
        if isinstance(module, torch.nn.Module) and all(map(_loads_plainly, module.modules())):
            found |= {f"{prefix}{name}.{key}": tensor for key, tensor in _named(module) if _is_plain(tensor)}
    return _apart(found)


def refusing(tracked: Tracked) -> str | None:
    """The first parameter or buffer that nothing can be loaded into, by its dotted name; None where there is none.

    That of an expanded tensor, several of whose elements are one place in memory, where the module loads by plain copying.
    """
    for name, value in tracked.objects.items():
        module = unwrap(value)
        if isinstance(module, torch.nn.Module) and all(map(_loads_plainly, module.modules())):
            for key, tensor in module.state_dict().items():
                if isinstance(tensor, torch.Tensor) and _is_expanded(tensor):
                    return f"{name}.{key}"
    return None


def _is_expanded(tensor: torch.Tensor) -> bool:
    if tensor.layout is not torch.strided or tensor.is_nested or not tensor.numel():
        return False
    return any(size > 1 and not stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def _named(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    return itertools.chain(
        module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False)
    )


def _loads_plainly(module: torch.nn.Module) -> bool:
    """Whether it copies what it is given, and looks at nothing of its own before."""
    own = [getattr(getattr(module, name), "__func__", None) is getattr(torch.nn.Module, name) for name in _LOADS]
    return all(own) and not any(getattr(module, hooks) for hooks in _HOOKS)


def _is_plain(tensor: torch.Tensor) -> bool:
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.device.type == "cpu"
        and tensor.layout is torch.strided
        and tensor.is_contiguous()
        and not (tensor.is_conj() or tensor.is_neg() or tensor.is_quantized)
        and _size(tensor) >= LARGE
    )


def _size(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _apart(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Those that share no memory with another one, or the same one under another name: a checkpoint may hold both."""
    ranges = sorted((tensor.data_ptr(), tensor.data_ptr() + _size(tensor), name) for name, tensor in tensors.items())
    shared: set[str] = set()
    furthest, owner = -1, ""
    for start, end, name in ranges:
        if start < furthest:
            shared |= {name, owner}
        if end > furthest:
            furthest, owner = end, name
    return {name: tensor for name, tensor in tensors.items() if name not in shared}
