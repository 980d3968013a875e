"""State keeps its types and bits through a checkpoint, whatever it holds; the order of data is what was promised."""

from __future__ import annotations

import collections
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from campc_harness import codec, rng, state
from campc_harness.checkpoint import Checkpoints
from campc_harness.context import Policy, by_hand
from campc_harness.errors import Misconfigured, Unsaveable
from campc_harness.memory import Buffers, memory
from campc_harness.order import Plan, seed_sample
from campc_harness.ranks import Ranks
from campc_harness.storage import LocalStorage

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(max_size=20),
    st.complex_numbers(),
    st.sampled_from([torch.float32, torch.bfloat16, torch.device("cpu"), torch.Size([2, 3]), Path("a/b")]),
)
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool, torch.complex64]


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    dtype = draw(st.sampled_from(DTYPES))
    size = math.prod(shape) * torch.empty((), dtype=dtype).element_size()
    raw = draw(st.binary(min_size=size, max_size=size))
    if dtype is torch.bool:
        raw = bytes(byte & 1 for byte in raw)
    tensor = torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape) if size else torch.empty(shape, dtype=dtype)
    return tensor.transpose(0, -1) if draw(st.booleans()) and tensor.dim() > 1 else tensor


KEYS = st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.tuples(st.integers(), st.text()))
STATES = st.recursive(
    st.one_of(SCALARS, tensors()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text(), inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=4),
        st.dictionaries(st.text(), inner, max_size=4).map(collections.OrderedDict),
        st.lists(inner, max_size=3).map(lambda items: collections.deque(items, 5)),
        st.frozensets(st.integers(), max_size=4),
        st.sets(st.text(), max_size=4),
    ),
    max_leaves=12,
)


class Holder:
    """Something with a state."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def state_dict(self) -> dict[str, Any]:
        return {"value": self.value}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        self.value = saved["value"]


def same(left: Any, right: Any) -> bool:
    if isinstance(left, (collections.deque, dict)) and type(left) is not type(right):
        return False
    if isinstance(left, collections.deque):
        return left.maxlen == right.maxlen and same(list(left), list(right))
    if isinstance(left, dict):
        if [(type(key), key) for key in left] != [(type(key), key) for key in right]:
            return False
        return all(same(item, right[key]) for key, item in left.items())
    if isinstance(left, complex):
        return type(right) is complex and repr(left) == repr(right)
    return state.first_difference(left, right, "state") is None


@settings(max_examples=150, deadline=None)
@given(STATES)
def test_any_state_comes_back(value: Any) -> None:
    snapshot = state.stage({"value": value}, 1, {}, Buffers(pinned=False))
    assert snapshot.buffer is not None
    copies = [torch.empty(slot.shape, dtype=getattr(torch, slot.dtype)) for slot in snapshot.slots]
    for slot, copy in zip(snapshot.slots, copies, strict=True):
        if slot.bytes:
            copy.copy_(slot.view(snapshot.buffer))
    back = state.decode(json.loads(snapshot.tree), copies)
    assert same(value, back["value"])


def test_pieces_are_the_bytes_that_a_buffer_would_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    base = torch.arange(6_000_003, dtype=torch.float32)
    value = {
        "large": base,
        "turned": base[:6_000_000].view(2000, 3000).t(),
        "every other": base[1::2],
        "scalar": torch.tensor(7),
        "none": torch.empty(0, 3),
        "flags": torch.tensor([True, False, True]),
        "conjugated": torch.tensor([1 + 2j, 3 - 4j]).conj(),
    }
    whole = state.stage(value, 1, {}, Buffers(pinned=False))
    monkeypatch.setattr("campc_harness.memory.available_memory", lambda: whole.size)
    live = state.stage(value, 1, {}, Buffers(pinned=False))
    assert whole.buffer is not None and live.buffer is None and live.slots == whole.slots
    pieces = [bytes(piece) for piece in live.content()]
    assert max(map(len, pieces)) <= 8 * 2**20 < whole.size
    assert b"".join(pieces) == bytes(whole.content())
    assert state.stage(value, 1, {}, Buffers(pinned=False, always=True)).buffer is not None


def checkpoints(folder: Path, keep: int = 2) -> Checkpoints:
    context = by_hand({}, seed=0, folder=folder, policy=Policy(keep=keep))
    one = Checkpoints(LocalStorage(folder / "checkpoints"), context, Ranks(0, 1), lambda *_, **__: None)
    one.claim()
    return one


def save(one: Checkpoints, value: Any, step: int) -> None:
    one.submit(state.stage({"value": value}, step, {}, one.buffers))
    one.wait()


def test_steps_are_compared_as_numbers(tmp_path: Path) -> None:
    one = checkpoints(tmp_path)
    for step in (9_900, 10_000, 999_999_999, 1_000_000_000):
        save(one, step, step)
    restored = one.restore()
    assert restored is not None and restored.state["value"] == 1_000_000_000
    assert one.storage.committed() == ["step-1000000000", "step-999999999"]


def test_a_difference_is_found_in_any_part_of_a_long_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "PART", 100)
    monkeypatch.setattr(state, "workers", lambda most: min(most, 3))
    left = torch.arange(1001, dtype=torch.float32)
    assert state.first_difference(left, left.clone(), "w") is None
    for at in (0, 333, 334, 700, 1000):
        right = left.clone()
        right[at] = -1.0
        assert state.first_difference(left, right, "w") in {
            f"w differs in {count} of 4004 bytes" for count in (1, 2, 3, 4)
        }


def test_a_place_that_is_away_while_old_checkpoints_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = checkpoints(tmp_path, keep=1)
    notes: list[str] = []
    monkeypatch.setattr(one, "_report", lambda event, **fields: notes.append(f"{event} {fields.get('text', '')}"))
    save(one, 1, 1)

    def away() -> list[str]:
        raise OSError("connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(one.storage, "committed", away)
        save(one, 2, 2)
    assert one.storage.committed() == ["step-000000002", "step-000000001"]
    assert notes[-1] == "note older checkpoints are not removed yet: connection refused"
    save(one, 3, 3)
    assert one.storage.committed() == ["step-000000003"]


def test_numpy_state_comes_back(tmp_path: Path) -> None:
    arrays = {"a": numpy.arange(6, dtype=">i4").reshape(2, 3), "b": numpy.float32(0.1), "c": numpy.zeros((0, 2))}
    one = checkpoints(tmp_path)
    save(one, arrays, 1)
    restored = one.restore()
    assert restored is not None
    for name, array in arrays.items():
        back = restored.state["value"][name]
        assert type(back) is type(array) and back.dtype == array.dtype and back.tobytes() == array.tobytes()


def _dtypes() -> list[torch.dtype]:
    found = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    # Quantised types, and those of parts of a byte, which torch has by name alone.
    return sorted((kind for kind in found if not re.match(r"torch\.(q|quint|u?int[1-7]$|bits)", str(kind))), key=str)


def content(tensor: torch.Tensor) -> bytes:
    whole = tensor.resolve_conj().resolve_neg().contiguous()
    return bytes(memory(whole))


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("pieces", [False, True], ids=["staged", "in pieces"])
def test_tensors_of_every_type_and_form_come_back(tmp_path: Path, pieces: bool) -> None:
    draw = torch.Generator().manual_seed(1)
    raw = torch.randint(0, 256, (16 * 7,), dtype=torch.uint8, generator=draw)
    whole = {str(kind): raw.view(kind) if kind is not torch.bool else raw > 100 for kind in _dtypes()}
    assert len(whole) > 18
    waves = torch.view_as_complex(torch.randn(4, 3, 2, generator=draw))
    forms = {name: [tensor, tensor[::2], tensor[:0], tensor[1], tensor[1:3]] for name, tensor in whole.items()}
    forms["more"] = [
        waves.conj(),
        waves.conj().imag,
        waves.conj().t(),
        waves.real.expand(2, 4, 3),
        torch.empty(0, 5, 0),
    ]
    one = checkpoints(tmp_path)
    if pieces:
        one.buffers.renounce()
    save(one, forms, 1)
    restored = one.restore()
    assert restored is not None
    back = restored.state["value"]
    for name, tensors in forms.items():
        for tensor, found in zip(tensors, back[name], strict=True):
            assert found.dtype == tensor.dtype and found.shape == tensor.shape
            assert content(found) == content(tensor)
    assert state.first_difference(forms, back, "value") is None
    assert state.first_difference(back, forms, "value") is None


def test_tensors_are_compared_wherever_they_begin() -> None:
    whole = torch.arange(9.0)
    for start in range(4):
        part, apart = whole[start : start + 4], whole[start : start + 4].clone()
        assert state.first_difference(part, apart, "w") is None and state.first_difference(apart, part, "w") is None
        apart[2] += 1
        assert "of 16 bytes" in str(state.first_difference(part, apart, "w"))
    waves = torch.randn(4, dtype=torch.cfloat)
    assert state.first_difference(waves.conj(), waves.conj().resolve_conj(), "w") is None
    assert state.first_difference(waves, waves.conj(), "w") is not None, "of one memory, and yet others"


@pytest.mark.parametrize(
    "value",
    [
        {float("nan"): 1, 2: float("nan")},
        {float("nan"), 1.0},
        frozenset({float("nan")}),
        [float("nan"), -0.0, 1e-320],
        # Python writes at most 4,300 decimal digits.
        [sign * (10**digits + 1) for sign in (1, -1) for digits in (300, 700, 4299, 4300, 9000)],
        {10**5000: {10**5001}},
    ],
    ids=range(6),
)
def test_what_is_not_equal_to_itself_comes_back(tmp_path: Path, value: Any) -> None:
    one = checkpoints(tmp_path)
    save(one, value, 1)
    restored = one.restore()
    assert restored is not None and state.first_difference(value, restored.state["value"], "value") is None
    assert state.first_difference({float("nan"): 1}, {float("nan"): 2}, "v") == "v.nan is 2, not 1"
    assert state.first_difference({1: 1}, {2: 1}, "v") == "v has other keys: 1, 2"
    assert state.first_difference({0.0}, {1.0}, "v") is not None
    assert state.first_difference(10**5000, 1, "v") == "v is 1, not a int too long to show"


def test_shared_storage_is_stored_once() -> None:
    encoder = codec.Encoder()
    weight = torch.randn(8, 8)
    encoder.encode({"a": weight, "b": weight, "c": weight[:4], "d": weight.t()}, "model")
    assert len(encoder.leaves) == 3


NARROW = [getattr(torch, f"{sign}int{bits}") for sign in ("", "u") for bits in range(1, 8)]


class Kind(torch.Tensor):
    """A tensor of a type that loading would lose."""


@pytest.mark.parametrize(
    "value",
    [
        object(),
        lambda: 0,
        torch.eye(3).to_sparse(),
        torch.empty(3, device="meta"),
        torch.nested.as_nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        torch.Tensor._make_subclass(Kind, torch.ones(2)),
        torch.nn.parameter.UninitializedParameter(),
        *(torch.empty(2, dtype=kind) for kind in NARROW),
        numpy.array([object()]),
        numpy.zeros(2, dtype=[("a", "i4"), ("b", "f8")]),
        numpy.zeros(2, dtype=[("a", "i4"), ("b", "f8")])[0],
        numpy.ma.array([1, 2], mask=[0, 1]),
        numpy.zeros((1, 1)).view(numpy.matrix),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_kept_is_named(value: Any) -> None:
    with pytest.raises(Unsaveable, match=r"^tracked\.deep\.1 "):
        codec.Encoder().encode({"deep": [0, value]}, "tracked")


def test_an_object_that_alters_its_state_is_found_out() -> None:
    class Rounding(Holder):
        def load_state_dict(self, saved: dict[str, Any]) -> None:
            self.value = saved["value"].half().float()

    tracked = state.Tracked()
    tracked.add({"average": Rounding(torch.zeros(3))}, exact=True)
    saved = {"average": {"value": torch.tensor([0.1, 0.2, 0.3])}}
    with pytest.raises(Misconfigured, match=r"after loading, average\.value differs in \d of 12 bytes"):
        state.load(tracked, saved)
    inexact = state.Tracked()
    inexact.add({"average": Rounding(torch.zeros(3))}, exact=False)
    state.load(inexact, saved)


def turned(kind: str, optimizer: torch.optim.Optimizer) -> Any:
    """A schedule of torch's own."""
    lr = torch.optim.lr_scheduler
    made = {
        "lambda": lambda: lr.LambdaLR(optimizer, lambda step: 1 / (1 + step)),
        "multiplicative": lambda: lr.MultiplicativeLR(optimizer, lambda step: 0.9),
        "step": lambda: lr.StepLR(optimizer, 2),
        "milestones": lambda: lr.MultiStepLR(optimizer, [1, 3]),
        "constant": lambda: lr.ConstantLR(optimizer),
        "linear": lambda: lr.LinearLR(optimizer),
        "exponential": lambda: lr.ExponentialLR(optimizer, 0.9),
        "polynomial": lambda: lr.PolynomialLR(optimizer, 9),
        "cosine": lambda: lr.CosineAnnealingLR(optimizer, 9),
        "restarts": lambda: lr.CosineAnnealingWarmRestarts(optimizer, 2),
        "cyclic": lambda: lr.CyclicLR(optimizer, 1e-4, 1e-2, step_size_up=3, mode="exp_range", gamma=0.9),
        "custom cycle": lambda: lr.CyclicLR(optimizer, 1e-4, 1e-2, step_size_up=3, scale_fn=lambda step: 0.5),
        "one cycle": lambda: lr.OneCycleLR(optimizer, 1e-2, total_steps=20),
        "plateau": lambda: lr.ReduceLROnPlateau(optimizer, patience=1),
        "averaging": lambda: torch.optim.swa_utils.SWALR(optimizer, 1e-3),
        "one after another": lambda: lr.SequentialLR(
            optimizer, [lr.LinearLR(optimizer), lr.CyclicLR(optimizer, 1e-4, 1e-2, step_size_up=3)], milestones=[2]
        ),
        "together": lambda: lr.ChainedScheduler([lr.ConstantLR(optimizer), lr.ExponentialLR(optimizer, 0.9)]),
    }
    return made[kind]()


def trained(kind: str, schedule: str, steps: range, saved: Any = None) -> tuple[state.Tracked, list[Any]]:
    """Some steps, beginning from what was saved; what is tracked, and the weights after each step."""
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))
    optimizer: Any = getattr(torch.optim, kind)(model.parameters(), lr=0.01)
    scheduler = turned(schedule, optimizer)
    tracked = state.Tracked()
    tracked.add({"model": model, "optimizer": optimizer, "scheduler": scheduler}, exact=True)
    if saved is not None:
        state.load(tracked, saved)
    seen = []
    for step in steps:
        batch = torch.randn(8, 3, generator=torch.Generator().manual_seed(step))

        def loss(batch: torch.Tensor = batch) -> torch.Tensor:
            optimizer.zero_grad()
            value = model(batch).square().mean()
            value.backward()
            return value

        optimizer.step(loss)
        scheduler.step(*([1.0] if schedule == "plateau" else []))
        seen.append([parameter.detach().clone() for parameter in model.parameters()])
    return tracked, seen


STOCK = "Adadelta Adafactor Adagrad Adam AdamW Adamax ASGD LBFGS NAdam RAdam RMSprop Rprop SGD".split()
TURNS = (
    "lambda,multiplicative,step,milestones,constant,linear,exponential,polynomial,cosine,restarts,cyclic,custom cycle,"
    "one cycle,plateau,averaging,one after another,together"
).split(",")


@pytest.mark.filterwarnings("ignore::UserWarning")  # of torch about its own schedules
@pytest.mark.parametrize(
    ("kind", "schedule"), [*((kind, "step") for kind in STOCK), *(("SGD", schedule) for schedule in TURNS)]
)
def test_torchs_own_optimizers_and_schedules_go_on_as_if_nothing_had_happened(kind: str, schedule: str) -> None:
    twin, whole = trained(kind, schedule, range(4))
    tracked, _ = trained(kind, schedule, range(2))
    snapshot = state.stage(tracked.state(), 2, {}, Buffers(pinned=False))
    assert snapshot.buffer is not None
    tensors = [slot.view(snapshot.buffer).clone() for slot in snapshot.slots]
    again, rest = trained(kind, schedule, range(2, 4), state.decode(json.loads(snapshot.tree), tensors))
    assert state.first_difference(whole[2:], rest, "weights") is None
    assert state.first_difference(twin.state(), again.state(), "state") is None


def test_tracking_what_has_no_state() -> None:
    with pytest.raises(Misconfigured, match="a list has no state_dict"):
        state.Tracked().add({"losses": []}, exact=True)


def test_generators_come_back() -> None:
    import random

    before = rng.capture()
    drawn = (random.random(), torch.rand(2).tolist(), numpy.random.rand())
    rng.restore(before)
    assert (random.random(), torch.rand(2).tolist(), numpy.random.rand()) == drawn


@settings(max_examples=200, deadline=None)
@given(
    size=st.integers(1, 60),
    batch=st.integers(1, 7),
    world=st.integers(1, 4),
    seed=st.integers(0, 3),
    drop=st.booleans(),
)
def test_an_epoch_takes_every_sample_once(size: int, batch: int, world: int, seed: int, drop: bool) -> None:
    plan = Plan(seed, size, batch, world, drop_last=drop)
    assume(plan.per_epoch())
    taken: list[int] = []
    for rank in range(world):
        walk = plan.walk(0, 0, rank)
        batches = [next(walk) for _ in range(plan.per_epoch())]
        assert all(epoch == 0 for epoch, _, _ in batches)
        assert all(0 < len(indices) <= batch for _, _, indices in batches)
        taken += [index for _, _, indices in batches for index in indices]
        assert next(walk)[0] == 1
    extra = len(taken) - len(set(taken))
    if drop:
        assert extra == 0 and len(taken) == size - size % plan.stride
    else:
        assert set(taken) == set(range(size)) and extra < world


@settings(max_examples=100, deadline=None)
@given(size=st.integers(1, 40), batch=st.integers(1, 5), skip=st.integers(0, 30), epoch=st.integers(0, 2))
def test_going_on_from_any_place_is_the_same_order(size: int, batch: int, skip: int, epoch: int) -> None:
    plan = Plan(5, size, batch)
    whole = plan.walk(epoch, 0, 0)
    for _ in range(skip):
        last = next(whole)
    place = plan.after(last[0], last[1]) if skip else (epoch, 0)
    again = plan.walk(*place, 0)
    assert [next(whole) for _ in range(10)] == [next(again) for _ in range(10)]


def test_orders_differ_between_epochs_and_seeds() -> None:
    orders = {tuple(next(Plan(seed, 50, 50).walk(epoch, 0, 0))[2]) for seed in range(3) for epoch in range(3)}
    assert len(orders) == 9


def test_each_sample_has_random_numbers_of_its_own() -> None:
    before = rng.capture()
    drawn = set()
    for place in ((0, 0), (0, 1), (1, 0)):
        seed_sample(7, *place)
        drawn.add(float(torch.rand(())))
    seed_sample(7, 0, 1)
    assert float(torch.rand(())) in drawn and len(drawn) == 3
    rng.restore(before)
