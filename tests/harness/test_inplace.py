"""Restoring into the model's own tensors: which ones, and that a damaged checkpoint never leaves its bytes in a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from campc_harness import inplace, state
from campc_harness.checkpoint import Checkpoints
from campc_harness.context import Policy, by_hand
from campc_harness.inplace import targets
from campc_harness.ranks import Ranks
from campc_harness.state import Tracked
from campc_harness.storage import LocalStorage


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors of a few bytes count as large."""
    monkeypatch.setattr(inplace, "LARGE", 8)


def tracked(**objects: Any) -> Tracked:
    found = Tracked()
    found.add(objects, exact=True)
    return found


def network(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.LayerNorm(3), torch.nn.Linear(3, 2))


def test_plain_parameters_and_buffers_are_targets() -> None:
    model = network(1)
    model.register_buffer("mask", torch.ones(5))
    model.register_buffer("count", torch.tensor(1, dtype=torch.int8))  # too small to be worth it
    model.register_buffer("turned", torch.ones(4, 5).t())
    optimizer = torch.optim.AdamW(model.parameters())
    found = targets(tracked(model=model, optimizer=optimizer), "objects.")
    assert set(found) == {
        f"objects.model.{name}" for name in (*dict(model.named_parameters()), "mask") if name != "count"
    }
    assert found["objects.model.0.weight"] is model[0].weight  # type: ignore[index]


class Resets(torch.nn.Linear):
    def _load_from_state_dict(self, *arguments: Any) -> None:
        self.reset_parameters()
        super()._load_from_state_dict(*arguments)


class Overrides(torch.nn.Linear):
    def load_state_dict(self, *arguments: Any, **more: Any) -> Any:
        return super().load_state_dict(*arguments, **more)


def with_hook() -> torch.nn.Module:
    model = torch.nn.Linear(4, 3)
    model.register_load_state_dict_pre_hook(lambda *_: None)
    return model


@pytest.mark.parametrize(
    "inner", [Resets(4, 3), Overrides(4, 3), with_hook(), torch.nn.BatchNorm1d(8)], ids=lambda one: type(one).__name__
)
def test_modules_that_load_in_a_way_of_their_own_are_left_alone(inner: torch.nn.Module) -> None:
    assert targets(tracked(model=torch.nn.Sequential(torch.nn.Linear(9, 9), inner))) == {}
    assert targets(tracked(model=torch.nn.Linear(9, 9), other=inner)).keys() == {"model.weight", "model.bias"}


def test_tensors_that_share_memory_are_left_alone() -> None:
    flat = torch.zeros(100)
    model = torch.nn.Module()
    for name, part in (("all", flat[:60]), ("first", flat[:20]), ("next", flat[20:40]), ("apart", flat[60:])):
        model.register_parameter(name, torch.nn.Parameter(part))
    tied = torch.nn.Module()
    tied.a = torch.nn.Linear(5, 5, bias=False)
    tied.b = torch.nn.Linear(5, 5, bias=False)
    tied.b.weight = tied.a.weight
    found = targets(tracked(model=model, tied=tied))
    assert found.keys() == {"model.apart"}


class Place:
    """Checkpoints of one model in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: list[str] = []
        context = by_hand({}, seed=0, folder=folder, policy=Policy(keep=4))
        self.checkpoints = Checkpoints(LocalStorage(folder / "there"), context, Ranks(0, 1), self.hear)
        self.checkpoints.claim()

    def hear(self, event: str, **fields: Any) -> None:
        self.told.append(event)

    def save(self, model: torch.nn.Module, step: int) -> None:
        self.checkpoints.submit(state.stage(tracked(model=model).state(), step, {}, self.checkpoints.buffers))
        self.checkpoints.wait()

    def restore(self, model: torch.nn.Module) -> int | None:
        objects = tracked(model=model)
        restored = self.checkpoints.restore(targets(objects))
        if restored is None:
            return None
        state.load(objects, restored.state)
        return restored.manifest.step

    def flip(self, step: int) -> None:
        path = self.folder / "there" / f"step-{step:09d}" / "rank-00000.bin"
        content = bytearray(path.read_bytes())
        content[5] ^= 1
        path.write_bytes(content)


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    return state.first_difference(one.state_dict(), other.state_dict(), "model") is None


def test_the_newest_is_read_where_the_model_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, model = Place(tmp_path), network(9)
    place.save(network(1), 10)
    place.save(network(2), 20)
    before = {name: tensor.data_ptr() for name, tensor in model.state_dict().items()}
    copied: list[object] = []
    plain = torch.nn.Parameter.copy_
    monkeypatch.setattr(torch.nn.Parameter, "copy_", lambda self, other: copied.append(self) or plain(self, other))
    objects = tracked(model=model)
    restored = place.checkpoints.restore(targets(objects))
    assert restored is not None and restored.state["model"]["0.weight"] is model[0].weight  # type: ignore[index]
    assert same(model, network(2)), "it is there before load_state_dict is called"
    state.load(objects, restored.state)
    assert same(model, network(2)) and restored.manifest.step == 20
    assert before == {name: tensor.data_ptr() for name, tensor in model.state_dict().items()}
    assert all(parameter.requires_grad and parameter.is_leaf for parameter in model.parameters())


def test_a_damaged_newest_gives_way_to_the_one_before(tmp_path: Path) -> None:
    place, model = Place(tmp_path), network(9)
    for step in (10, 20, 30):
        place.save(network(step), step)
    place.flip(30)
    place.flip(20)
    assert place.restore(model) == 10 and same(model, network(10))
    assert place.told.count("quarantine") == 2


def test_a_single_damaged_one_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    place, model = Place(tmp_path), network(9)
    place.save(network(1), 10)
    place.flip(10)
    assert place.restore(model) is None
    assert same(model, network(9))


def test_when_all_are_damaged_nobody_trains_on_what_was_read(tmp_path: Path) -> None:
    place, model = Place(tmp_path), network(9)
    for step in (10, 20):
        place.save(network(step), step)
        place.flip(step)
    with pytest.raises(RuntimeError, match="start again"):
        place.restore(model)
    assert place.told.count("quarantine") == 2
    model = network(9)
    assert place.restore(model) is None and same(model, network(9)), "the next attempt begins afresh"


def test_a_tensor_of_another_shape_or_type_is_not_read_into(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for step in (10, 20):
        place.save(torch.nn.Linear(4, 3), step)
    other = torch.nn.Linear(3, 4)
    kept = {name: tensor.clone() for name, tensor in other.state_dict().items()}
    assert place.checkpoints.restore(targets(tracked(model=other))) is not None
    assert torch.equal(other.weight, kept["weight"])
    double = torch.nn.Linear(4, 3).double()
    kept = {name: tensor.clone() for name, tensor in double.state_dict().items()}
    assert place.checkpoints.restore(targets(tracked(model=double))) is not None
    assert torch.equal(double.weight, kept["weight"])


def test_ranks_that_restore_together_read_into_memory_of_their_own(tmp_path: Path) -> None:
    place, model = Place(tmp_path), network(9)
    for step in (10, 20):
        place.save(network(step), step)
    place.checkpoints._ranks.world = 2
    place.checkpoints._ranks.any = lambda mine: mine  # type: ignore[method-assign]
    place.checkpoints._ranks.from_first = lambda value: value  # type: ignore[method-assign]
    assert place.checkpoints.restore(targets(tracked(model=model))) is not None
    assert same(model, network(9))


@pytest.mark.parametrize("swapped", [False, True])
def test_two_of_one_name_in_a_checkpoint_stay_apart(tmp_path: Path, swapped: bool) -> None:
    def objects(seed: int) -> Tracked:
        whole, part = network(seed), torch.nn.Linear(4, 3)
        pair = {"model": whole, "model.0": part}
        return tracked(**(dict(reversed(pair.items())) if swapped else pair))

    context = by_hand({}, seed=0, folder=tmp_path, policy=Policy(keep=4))
    one = Checkpoints(LocalStorage(tmp_path / "there"), context, Ranks(0, 1), lambda *_, **__: None)
    one.claim()
    saved, fresh = objects(1), objects(2)
    for step in (1, 2):
        one.submit(state.stage({"objects": saved.state()}, step, {}, one.buffers))
        one.wait()
    restored = one.restore(targets(fresh, "objects."))
    assert restored is not None
    state.load(fresh, restored.state["objects"])
    assert state.first_difference(saved.state(), fresh.state(), "objects") is None
