"""Deliverables: what is accepted, and the reason for everything that isn't."""

import gzip
import json
import os
from pathlib import Path

import pytest

from campc.closeout import identifiers, reloading
from campc.closeout.closing import close
from campc.closeout.contents import foreign_paths
from campc.closeout.deliverables import is_exact_revision
from campc.closeout.gathering import gather
from campc.closeout.identifiers import compare, read_table
from campc.closeout.model import DeliverableResult
from campc.closeout.reloading import Isolation, isolation
from tests.closeout.scene import BASE, IDS, Scene, condition, positive, put

CONTROL, WIDER = "control-00000001", "wider-00000002"


def verified(scene: Scene, folder: Path, *, reload: bool = True, name: str = "predictions") -> DeliverableResult:
    """The control's deliverable of this name."""
    result = close(scene.write(folder / "bundle"), reload=reload, timeout_s=20)
    return next(d for d in result.deliverables if d.name == name and d.run == "control")


def test_expected_identifiers_all_once(tmp_path: Path) -> None:
    found = verified(positive(), tmp_path)
    assert found.accepted and (found.rows, found.files, found.size) == (4, 1, 29)


def test_a_missing_identifier_is_named(tmp_path: Path) -> None:
    scene = positive()
    scene.deliver(CONTROL, ids=("a", "b", "d"))
    (reason,) = verified(scene, tmp_path).reasons
    assert (
        reason
        == "`missing_ids == 0 and duplicate_ids == 0` is not met: missing_ids = 1, duplicate_ids = 0; c is the first one missing"
    )


def test_a_duplicate_and_a_foreign_identifier(tmp_path: Path) -> None:
    scene = positive()
    scene.deliver(CONTROL, ids=(*IDS, "a", "x"))
    (reason,) = verified(scene, tmp_path).reasons
    assert reason.endswith("missing_ids = 0, duplicate_ids = 1; 1 are not the corpus's")


def test_identifiers_need_the_frozen_corpus(tmp_path: Path) -> None:
    scene = positive()
    scene.work["tickets.csv"] += b"e,another\n"
    (reason,) = verified(scene, tmp_path).reasons
    assert "can't be decided" in reason and "tickets.csv is not the frozen corpus tickets: its hash differs" in reason


def test_a_corpus_that_is_not_here_is_asked_for(tmp_path: Path) -> None:
    scene = positive()
    del scene.work["tickets.csv"]
    (reason,) = verified(scene, tmp_path).reasons
    assert "corpus tickets is not here (tickets.csv); give the spec that it lies beside: --spec FILE" in reason


def test_an_empty_file_is_rejected(tmp_path: Path) -> None:
    scene = positive()
    scene.deliver(CONTROL, model=b"")
    assert "model.bin is empty" in verified(scene, tmp_path, name="model").reasons


def test_partial_outputs_are_never_accepted(tmp_path: Path) -> None:
    scene = positive()
    scene.outputs = {
        name.replace(f"{CONTROL}/outputs/", f"{CONTROL}/outputs.partial/"): content
        for name, content in scene.outputs.items()
    }
    assert verified(scene, tmp_path).reasons == (f"the run's outputs are not here: runs/{CONTROL}/outputs",)


def test_outputs_without_an_end_in_the_record_are_no_result(tmp_path: Path) -> None:
    scene = positive()
    scene.lines = [line for line in scene.lines if not (line["event"] == "done" and line["window"] == "control")]
    (reason,) = verified(scene, tmp_path).reasons
    assert reason == "its run has no end in the record"


def test_a_run_that_was_started_with_another_configuration(tmp_path: Path) -> None:
    scene = positive()
    for line in scene.lines:
        if line["event"] == "start" and line["window"] == "control":
            line["config_sha256"] = "1" * 64
    assert verified(scene, tmp_path).accepted
    for line in scene.lines:
        if line["event"] == "start" and line["window"] == "control":
            line["config_sha256"] = "e" * 64
    (reason,) = verified(scene, tmp_path / "2").reasons
    assert reason == "its run was started with another configuration (eeeeeeeeeeee…) than the plan's (111111111111…)"


def test_a_pilot_s_outputs_are_not_the_run_s(tmp_path: Path) -> None:
    scene = positive()
    for name in ("predictions.csv", "model.bin"):
        scene.outputs[f"runs/{CONTROL}/pilot/outputs/{name}"] = scene.outputs.pop(f"runs/{CONTROL}/outputs/{name}")
    assert not verified(scene, tmp_path).accepted


def test_a_file_that_was_changed_after_it_was_packed(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    put(bundle, {f"runs/{CONTROL}/outputs/model.bin": b"model of somebody else"})
    found = next(d for d in close(bundle, reload=True).deliverables if d.name == "model" and d.run == "control")
    assert len(found.reasons) == 1 and found.reasons[0].startswith("model.bin was changed after it was packed")


def test_a_package_file_that_was_changed_is_reported(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    put(bundle, {f"package/runs/{CONTROL}/outputs/model.bin": b"model of Control-00000001"})
    result = close(bundle, reload=False)
    assert result.package_intact is False
    assert any(
        remark
        == f"The package is damaged: runs/{CONTROL}/outputs/model.bin was changed: its hash is not the manifest's."
        for remark in result.remarks
    )


def test_absolute_and_temporary_paths_inside_a_file(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["deliverables"][1] |= {"path": "card.json", "reload": None, "accept": None}
    scene.outputs[f"runs/{CONTROL}/outputs/card.json"] = json.dumps(
        {"weights": "/home/u/model.bin", "cache": ["/tmp/x"], "text": "see /tmp/x"}
    ).encode()
    assert verified(scene, tmp_path, name="model").reasons == (
        "card.json: $.weights is an absolute path: /home/u/model.bin",
        "card.json: $.cache[0] is a path into a temporary folder: /tmp/x",
    )


def test_an_adapter_needs_the_exact_revision_of_its_base(tmp_path: Path) -> None:
    scene = positive()
    config = f"runs/{CONTROL}/outputs/adapter/adapter_config.json"
    scene.plan["deliverables"][1] |= {
        "kind": "adapter",
        "path": "adapter",
        "reload": None,
        "accept": None,
        "base": "example/base-8b@main",
    }
    scene.outputs[config] = json.dumps({"base_model_name_or_path": "example/base-8b"}).encode()
    assert "is no exact revision" in verified(scene, tmp_path, name="model").reasons[0]
    scene.plan["deliverables"][1]["base"] = BASE
    assert verified(scene, tmp_path / "2", name="model").accepted
    scene.outputs[config] = json.dumps({"base_model_name_or_path": "example/other", "revision": "abcdef0"}).encode()
    assert verified(scene, tmp_path / "3", name="model").reasons == (
        "adapter_config.json names the base example/other, the plan example/base-8b",
        f"adapter_config.json names revision abcdef0 of the base, the plan {BASE.rpartition('@')[2]}",
    )


@pytest.mark.parametrize(
    ("base", "exact"),
    [
        (BASE, True),
        ("x/y@main", False),
        ("x/y@v1.0", False),
        ("x/y", False),
        ("deadbeef", False),
        ("x/y@deadbeef", True),
    ],
)
def test_exact_revisions(base: str, exact: bool) -> None:
    assert is_exact_revision(base) is exact


def test_a_link_that_leads_out_is_no_deliverable(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    model = bundle / "runs" / CONTROL / "outputs" / "model.bin"
    model.unlink()
    model.symlink_to(bundle / "work" / "reload.py")
    found = next(d for d in close(bundle, reload=True).deliverables if d.name == "model" and d.run == "control")
    assert found.reasons == ("model.bin leads out of the run's outputs: a link is no deliverable, copy the file",)


def test_pipes_and_globs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert gather(tmp_path, "pipe").fault == "pipe is neither a file nor a folder"
    put(tmp_path, {"part-1.bin": b"1", "part-2.bin": b"22"})
    found = gather(tmp_path, "part-*.bin")
    assert (len(found.files), found.bytes) == (2, 3)
    assert gather(tmp_path, "none-*.bin").fault == "none-*.bin is not there"
    (tmp_path / "empty").mkdir()
    assert gather(tmp_path, "empty").fault == "empty is an empty folder"


def test_nothing_runs_without_reload_and_nothing_is_accepted_either(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["deliverables"][1]["reload"] = f"touch {tmp_path}/ran"
    found = verified(scene, tmp_path, reload=False, name="model")
    assert (found.accepted, found.reload) == (False, "not run")
    assert found.reasons == (
        "not verified: its `reload` command was not run; type `campc closeout BUNDLE --reload` to run it",
    )
    assert not (tmp_path / "ran").exists()


def test_what_does_not_reload_is_rejected_with_its_last_words(tmp_path: Path) -> None:
    scene = positive()
    scene.deliver(CONTROL, model=b"something")
    assert verified(scene, tmp_path, name="model").reasons == (
        "it does not reload: its `reload` command ended with exit code 1: it is no model",
    )


def test_a_reload_that_hangs_is_ended_in_time(tmp_path: Path) -> None:
    scene = positive()
    scene.work["reload.py"] = (
        b"import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    )
    result = close(scene.write(tmp_path / "bundle"), reload=True, timeout_s=1)
    assert [d.reasons for d in result.deliverables if d.name == "model"] == [
        ("it does not reload: it was not reloaded after 1 s, and was ended",)
    ] * 2


def reload_in(
    folder: Path,
    script: str,
    *,
    within: Isolation | None = None,
    name: str = "model.bin",
    command: str = "python look.py {path}",
) -> reloading.Reloaded:
    outputs = folder / "bundle" / "runs" / "x" / "outputs"
    put(
        folder / "bundle", {"work/look.py": script.encode(), "work/train.py": b"", f"runs/x/outputs/{name}": b"weights"}
    )
    return reloading.reload(
        command, [outputs / name], outputs=outputs, scripts=folder / "bundle" / "work", also=[], hidden=folder / "bundle",
        timeout_s=20, within=within or isolation(),
    )  # fmt: skip


def test_only_the_deliverable_and_the_named_scripts_are_there(tmp_path: Path) -> None:
    done = reload_in(tmp_path, "import os, sys\nsys.exit(str(sorted(os.listdir('.'))))\n")
    assert done.detail.endswith("['look.py', 'model.bin']")


def test_a_name_with_quotes_spaces_and_a_command_is_only_a_name(tmp_path: Path) -> None:
    name = "-a b'\"$(touch pwned).bin"
    done = reload_in(
        tmp_path,
        "import os, sys\nassert open(sys.argv[1]).read() == 'weights' and len(os.listdir('.')) == 2\n",
        name=name,
    )
    assert done.passed


@pytest.mark.skipif(not isolation().covers, reason="this system does not let a process be separated")
def test_network_training_folder_and_temporary_folders_are_gone(tmp_path: Path) -> None:
    script = f"""
import os, socket, sys
assert not os.path.exists({str(tmp_path / "bundle" / "runs")!r}), "the bundle is reachable"
assert len(os.listdir("/tmp")) <= 1, "files of others are in /tmp"
assert os.listdir(os.environ["TMPDIR"]) == []
try:
    socket.create_connection(("192.0.2.1", 80), 1)
except OSError as fault:
    assert fault.errno == 101, fault
else:
    sys.exit("the network is reachable")
"""
    done = reload_in(tmp_path, script)
    assert done.passed, done.detail
    assert (
        done.detail
        == "in a new process, from another folder, without network, the bundle and temporary folders covered"
    )


def test_without_unshare_it_says_so(tmp_path: Path) -> None:
    done = reload_in(tmp_path, "", within=Isolation((), False))
    assert done.passed and "the network was reachable" in done.detail


def test_secrets_of_the_caller_do_not_reach_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert reload_in(
        tmp_path, "import os\nassert 'HF_TOKEN' not in os.environ and 'PYTHONPATH' not in os.environ\n"
    ).passed


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("python look.py {path} && true", "runs without a shell, so `&&` means nothing"),
        ("python 'look.py", "can't be split into words"),
        ("   ", "is empty"),
        ("nosuch-program {path}", "not found"),
        ("python missing.py {path}", "ended with exit code 2"),
    ],
)
def test_commands_that_cannot_run(tmp_path: Path, command: str, said: str) -> None:
    done = reload_in(tmp_path, "", command=command)
    assert not done.passed and said in done.detail


@pytest.mark.parametrize(
    ("name", "text", "rows", "ids"),
    [
        ("a.csv", "id,x\n1,2\n3,4\n", 2, ["1", "3"]),
        ("a.tsv", "x\tid\n1\t2\n", 1, ["2"]),
        ("a.csv", '\ufeffid,x\n"a, b","line\nbreak"\n', 1, ["a, b"]),
        ("a.jsonl", '{"id": 1}\n\n{"id": "b"}\n', 2, ["1", "b"]),
        ("a.json", '[{"id": "a"}, {"id": "a"}]', 2, ["a", "a"]),
        ("a.json", '{"a": {"label": 1}, "b": {}}', 2, ["a", "b"]),
        ("a.txt", "a\nb\n", 2, ["a", "b"]),
    ],
)
def test_tables(tmp_path: Path, name: str, text: str, rows: int, ids: list[str]) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with gzip.open(tmp_path / f"{name}.gz", "wt", encoding="utf-8") as stream:
        stream.write(text)
    for path in (tmp_path / name, tmp_path / f"{name}.gz"):
        table = read_table([path], "id")
        assert table.rows == rows and table.ids is not None and sorted(table.ids.elements()) == ids


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"name\n1\n", "row 1 of a.csv has no `id`"),
        ("a.json", b"{not json", "a.json can't be read as json"),
        ("a.json", b"3", "neither a list of rows nor an object"),
        ("a.json", b"[" * 100_000, "a.json can't be read as json"),
        ("a.csv", b"id\n\xff\xfe\n", "a.csv can't be read as csv"),
        ("a.bin", b"x", "rows are counted in CSV"),
        ("a.csv.gz", b"no gzip", "can't be read as csv"),
    ],
)
def test_what_is_no_table_says_why(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    table = read_table([tmp_path / name], "id")
    assert table.ids is None and table.why is not None and said in table.why


def test_a_decompression_bomb_is_not_unpacked_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identifiers, "MOST_BYTES", 1000)
    with gzip.open(tmp_path / "a.csv.gz", "wb") as stream:
        stream.write(b"id\n" + b"1\n" * 1_000_000)
    table = read_table([tmp_path / "a.csv.gz"], "id")
    assert table.rows is None and table.why is not None and "more than 1,000 bytes" in table.why


def test_compare_counts_surplus_rows_only() -> None:
    from collections import Counter

    assert compare(Counter("aab"), Counter("aaac")).duplicate == 2
    found = compare(Counter("ab"), Counter("ac"))
    assert (found.missing, found.foreign, found.example) == (1, 1, "b")


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        (
            "a.yaml",
            "base: /home/me/model\n- /tmp/abc\nurl: https://x.y/a/b\ncache: '~/.cache/x'\nprose: the file /tmp/x is\n",
            3,
        ),
        ("a.yaml", 'path: "C:\\\\Users\\\\me"\n', 1),
        ("a.txt", "/mnt/data/x\nfoo\nlog = /var/log/x\n", 2),
        ("a.csv", "id,file\n1,/scratch/x\n", 1),
        ("a.jsonl", '{"a": "/workspace/x"}\n{"a": "fine"}\n', 1),
        ("a.json", '{"route": "/billing/refund", "ratio": "a/b", "date": "1/2/2026", "url": "https://h/home/x"}', 0),
        ("a.json", '["/billing/refund/late"]', 1),
        ("a.sh", "#!/bin/sh\necho hi\n", 0),
        ("a.bin", "/tmp/x\n", 0),
    ],
)
def test_foreign_paths(tmp_path: Path, name: str, text: str, values: int) -> None:
    (tmp_path / name).write_text(text)
    assert len(foreign_paths(tmp_path / name)) == values


def test_conditions_on_bytes_rows_and_metrics(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["deliverables"][0]["accept"] = condition(
        "rows == 4 and bytes > 10 and files == 1 and eval.accuracy >= 0.79", "and",
        ["and", ["==", ["builtin", "rows"], ["number", 4]], [">", ["builtin", "bytes"], ["number", 10]]],
        ["and", ["==", ["builtin", "files"], ["number", 1]], [">=", ["metric", "eval.accuracy"], ["number", 0.79]]],
    )  # fmt: skip
    assert verified(scene, tmp_path).accepted
    scene.plan["deliverables"][0]["accept"] = condition(
        "rows == 4 and bytes > 10 and files == 1", "and", ["==", ["builtin", "rows"], ["number", 4]],
        [">", ["builtin", "bytes"], ["number", 10]], ["==", ["builtin", "files"], ["number", 1]],
    )  # fmt: skip
    assert verified(scene, tmp_path / "chain").accepted, "`and` may have any number of parts"
    scene.plan["deliverables"][0]["accept"] = condition("f1 > 0", ">", ["metric", "f1"], ["number", 0])
    assert verified(scene, tmp_path / "2").reasons == ("`f1 > 0` can't be decided: f1 = missing",)
