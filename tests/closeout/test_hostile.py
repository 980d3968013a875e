"""What nobody would write: whatever comes back of a machine, closing out answers or refuses in one message."""

import contextlib
import io
import json
import random
from argparse import Namespace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campc.closeout.as_json import to_json
from campc.closeout.bundle import Refused
from campc.closeout.closing import close
from campc.closeout.summary import summary
from campc.commands.diff import command as diff
from tests.closeout.scene import BEGAN, HASH, chain, positive, put


@cache
def intact() -> bytes:
    return chain(positive().lines)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scene = positive()
    scene.packed = False
    return scene.write(tmp_path_factory.mktemp("hostile") / "bundle")


def survives(bundle: Path, ledger: bytes) -> None:
    put(bundle, {"state/box/ledger.jsonl": ledger})
    try:
        result = close(bundle, reload=False)
    except Refused as refused:
        assert "\n" not in str(refused)
        return
    assert summary(result)
    json.dumps(to_json(result), allow_nan=False)


@given(cut=st.integers(0, len(intact())))
@settings(max_examples=50, deadline=None)
def test_a_ledger_cut_anywhere(bundle: Path, cut: int) -> None:
    put(bundle, {"state/box/ledger.jsonl": intact()[:cut]})
    try:
        result = close(bundle, reload=False)
    except Refused:
        assert b"\n" not in intact()[:cut]
        return
    (check,) = result.ledgers
    assert check.intact and check.torn_tail == (not intact()[:cut].endswith(b"\n"))


@given(at=st.integers(0, len(intact()) - 1), bit=st.integers(0, 7))
@settings(max_examples=80, deadline=None)
def test_a_flipped_bit_is_noticed_wherever_it_is(bundle: Path, at: int, bit: int) -> None:
    raw = bytearray(intact())
    raw[at] ^= 1 << bit
    put(bundle, {"state/box/ledger.jsonl": bytes(raw)})
    last = at >= intact()[:-1].rfind(b"\n") + 1
    try:
        result = close(bundle, reload=False)
    except Refused as refused:
        assert "the plan has changed" in str(refused)
        return
    (check,) = result.ledgers
    assert last or not check.intact, "only the last line has no line after it that would vouch for it"


@given(seed=st.integers(0, 2**32), kind=st.sampled_from(["swap", "drop", "double", "noise"]))
@settings(max_examples=50, deadline=None)
def test_lines_swapped_dropped_doubled_or_turned_to_noise(bundle: Path, seed: int, kind: str) -> None:
    dice = random.Random(seed)
    lines = intact().splitlines(keepends=True)
    at = dice.randrange(1, len(lines) - 1)
    if kind == "swap":
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    elif kind == "drop":
        del lines[at]
    elif kind == "double":
        lines.insert(at, lines[at])
    else:
        lines[at] = bytes(dice.randrange(256) for _ in range(dice.randrange(200))) + b"\n"
    survives(bundle, b"".join(lines))
    assert not close(bundle, reload=False).ledgers[0].intact


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = (
    "time mono lot machine run_id window attempt step reason values metrics state outcome by planned actual started ended gate result dropped stop value name "
    "text code amount covers estimate to bytes sha256 write_s config_sha256 command energy_j passed plan_hash findings"
).split()
EVENTS = (
    "launch preflight rehearsal start resume checkpoint metric watch stop interrupted deadline crash hang done gate decide skip expense window note pack copy "
    "shutdown released unheard"
).split()


@st.composite
def lines(draw: st.DrawFn) -> dict[str, Any]:
    names = {
        "run_id": ["control-00000001", "wider-00000002"],
        "window": ["control", "wider", "home", "prepare"],
        "lot": ["box"],
    }
    line: dict[str, Any] = {"time": BEGAN + draw(st.integers(0, 300_000)), "event": draw(st.sampled_from(EVENTS))}
    for field, known in names.items():
        line[field] = draw(st.sampled_from(known) | JSON)
    for field in draw(st.lists(st.sampled_from(FIELDS), max_size=5)):
        if field not in ("time", "plan_hash"):
            line[field] = draw(JSON)
    return line


@given(made_up=st.lists(lines(), min_size=1, max_size=12))
@settings(max_examples=50, deadline=None)
def test_records_of_any_shape(bundle: Path, made_up: list[dict[str, Any]]) -> None:
    survives(bundle, chain([*positive().lines[:20], *made_up]))


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000, b'{"seq": 1e999, "time": 0, "event": "note"}', b'{"seq": 1, "time": "nan", "event": "note"}', b"[]", b"3", b"\xff\xfe", b"",
        b'{"seq": 1, "time": 1e300, "event": "note"}',
        b'{"seq": 1, "time": 1796112000, "event": "metric", "run_id": "control-00000001", "window": "control", "step": 1, "values": {"loss": '
        + b"9" * 400
        + b"}}",
    ],
)  # fmt: skip
def test_lines_that_no_ledger_holds(bundle: Path, line: bytes) -> None:
    survives(bundle, intact() + line + b"\n")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"schema": 2}',
        b'{"schema": 1}',
        b"[" * 100_000,
        b"\xff",
        b'{"schema": 1, "plan_hash": 3, "campaign": {}}',
    ],
)
def test_a_damaged_plan_is_refused(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, {"campaign.json": content})
    with pytest.raises(Refused, match=r"campaign\.json"):
        close(tmp_path, reload=False)


@pytest.mark.parametrize(
    "manifest", [b"", b"{", b"[]", b'{"files": 3}', b'{"files": [3, {"path": "x"}, {"path": 1, "sha256": 2}]}']
)
def test_a_damaged_manifest_is_reported(tmp_path: Path, manifest: bytes) -> None:
    folder = positive().write(tmp_path / "bundle")
    put(folder, {"package/manifest.json": manifest})
    assert close(folder, reload=False).package_intact is False


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\\..\\b", "", "runs/../../x", "a\0b"])
def test_a_manifest_that_names_files_elsewhere_reads_none_of_them(tmp_path: Path, name: str) -> None:
    folder = positive().write(tmp_path / "bundle")
    entry = {"path": name, "bytes": 1, "sha256": "00" * 32}
    put(folder, {"package/manifest.json": json.dumps({"schema": 1, "plan_hash": HASH, "files": [entry]}).encode()})
    result = close(folder, reload=False)
    assert any("lies outside the package" in remark for remark in result.remarks)


def places(tree: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [way, *(place for key, value in inner for place in places(value, (*way, key)))]


PLACES = [place for place in places(positive().plan) if place and place[0] not in ("schema", "plan_hash")]
ODD = [None, True, -1, 0, 1e20, 10**400, "", "a|b", "../..", [], {}, [1], {"a": 1}, {"amount": "x", "currency": "USD"}]


@given(place=st.sampled_from(PLACES), value=st.sampled_from(ODD), gone=st.booleans())
@settings(max_examples=80, deadline=None)
def test_a_plan_bent_anywhere_is_closed_out_and_compared_or_refused(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[Any, ...], value: Any, gone: bool
) -> None:
    folder = tmp_path_factory.mktemp("bent")
    scene = positive()
    scene.packed = False
    whole = scene.write(folder / "whole")
    inner: Any = scene.plan
    for part in place[:-1]:
        inner = inner[part]
    if gone:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    bundle = scene.write(folder / "bent")
    try:
        result = close(bundle, reload=False)
    except Refused as refused:
        assert "campaign.json" in str(refused) or "nothing was run" in str(refused)
    else:
        assert summary(result)
        json.dumps(to_json(result), allow_nan=False)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for form in ("text", "markdown", "json"):
            assert diff(Namespace(old=whole, new=bundle, format_=form, max_increase="1USD", label=None)) in (0, 1, 2, 3)


def bent(change: str, value: Any) -> dict[str, Any]:
    plan: Any = positive().plan
    *way, last = [int(part) if part.isdigit() else part for part in change.split(".")]
    place = plan
    for part in way:
        place = place[part]
    place[last] = value
    return dict(plan)


@pytest.mark.parametrize(
    ("change", "value", "said"),
    [
        ("outcomes.0.when", {"text": "x", "expr": ["exec", "1"]}, r"outcomes\[0\]\.when is no condition"),
        (
            "deliverables.0.accept",
            {"text": "x", "expr": [">=", ["number", 1]]},
            r"deliverables\[0\]\.accept is no condition",
        ),
        ("ratios.0.if_none", None, r"ratios\[0\]\.if_none must be text"),
        ("ratios.0.per", "model", r"ratios\[0\]\.per must be a list of names"),
        ("windows.1.end_s", 10**40, r"windows\[1\]\.end_s is a number beyond every measure"),
        ("runs.0.ids.0.id", "../../home", "which is no identifier of a run"),
        ("campaign.rates", [], "campaign.rates must be an object"),
        ("runs.0.steps", "many", "must be a whole number"),
    ],
)
def test_a_plan_that_was_mended_by_hand_is_refused_with_the_place(
    tmp_path: Path, change: str, value: Any, said: str
) -> None:
    put(tmp_path, {"campaign.json": json.dumps(bent(change, value)).encode()})
    with pytest.raises(Refused, match=said):
        close(tmp_path, reload=False)


def test_places_that_are_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "package.tar.gz").write_text("x")
    (tmp_path / "empty").mkdir()
    for name, said in {
        "none": "there is no such folder",
        "file": "is a file",
        "package.tar.gz": "is an archive",
        "empty": "is not a bundle",
    }.items():
        with pytest.raises(Refused, match=said):
            close(tmp_path / name, reload=False)
