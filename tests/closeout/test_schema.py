"""What tools read holds to the published schemas."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from campc.cli import main
from campc.closeout.as_json import to_json
from campc.closeout.closing import close
from tests.closeout.scene import positive
from tests.closeout.test_cases import stopped
from tools.schemas import FOLDER


def hold(name: str, value: Any) -> None:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(value)


def test_closeout_json(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["expenses"] = [
        {"name": "disk", "amount": {"amount": "8.00", "currency": "EUR"}, "covers": "30 days", "estimate": True}
    ]
    for name, told in (("good", scene), ("stopped", stopped(positive()))):
        written = json.dumps(to_json(close(told.write(tmp_path / name), reload=False)), allow_nan=False)
        hold("closeout", json.loads(written))


def test_diff_and_verify_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = positive().write(tmp_path / "one")
    scene = positive()
    scene.plan["windows"][2]["end_s"] += 3600
    scene.plan["lots"][0]["price"]["amount"] = "50.00"
    assert (
        main(["diff", str(bundle), str(scene.write(tmp_path / "two")), "--format", "json", "--max-increase", "1USD"])
        == 3
    )
    hold("diff", json.loads(capsys.readouterr().out))
    assert main(["verify", str(bundle), "--json"]) == 0
    hold("verify", json.loads(capsys.readouterr().out))
