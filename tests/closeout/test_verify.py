"""A package that comes back years later, or from somebody else."""

import gzip
import io
import json
import os
import tarfile
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campc.closeout import verify as verifying
from campc.closeout.bundle import Refused
from campc.closeout.verify import verify
from campc.commands.verify import command
from tests.closeout.scene import HASH, positive, put

MODEL = "runs/control-00000001/outputs/model.bin"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return positive().write(tmp_path / "bundle") / "package"


def packed(package: Path, archive: Path, *more: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(package, "package")
        for entry, content in more:
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return archive


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, link
    return entry


def test_a_package_a_bundle_and_an_archive_are_the_same(package: Path, tmp_path: Path) -> None:
    folder, bundle, archive = (
        verify(package),
        verify(package.parent),
        verify(packed(package, tmp_path / "package.tar.gz")),
    )
    assert folder.intact and folder.plan_hash == HASH and folder.files == 7
    assert (folder.digest, folder.size) == (bundle.digest, bundle.size) == (archive.digest, archive.size)
    assert archive.archive is not None and archive.intact


def test_a_changed_a_missing_and_an_added_file(package: Path) -> None:
    put(package, {MODEL: b"model of control-0000000X", "extra.txt": b"x"})
    (package / "runs/wider-00000002/outputs/model.bin").unlink()
    found = verify(package)
    assert (
        found.faults[0].startswith(f"{MODEL} was changed: its hash is ")
        and found.faults[1] == "runs/wider-00000002/outputs/model.bin is missing"
    )
    assert found.unlisted == ("extra.txt",)


def test_a_ledger_whose_manifest_was_made_to_fit_is_still_noticed(package: Path) -> None:
    raw = (package / "ledger/box.jsonl").read_bytes().replace(b"0.814", b"0.999")
    manifest = json.loads((package / "manifest.json").read_bytes())
    for entry in manifest["files"]:
        if entry["path"] == "ledger/box.jsonl":
            entry["sha256"] = verifying.hashlib.sha256(raw).hexdigest()
    put(package, {"ledger/box.jsonl": raw, "manifest.json": json.dumps(manifest).encode()})
    (fault, *_) = verify(package).faults
    assert fault.startswith("ledger/box.jsonl: line ") and "does not follow" in fault


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (member("package/../../evil"), "package/../../evil would be unpacked outside the package"),
        (member("/etc/evil"), "/etc/evil would be unpacked outside the package"),
        (member("package/link", tarfile.SYMTYPE, "/etc/passwd"), "package/link is a link"),
        (member("package/hard", tarfile.LNKTYPE, "package/campaign.json"), "package/hard is a link"),
        (member("package/null", tarfile.CHRTYPE), "package/null is neither a file nor a folder"),
        (member("package/pipe", tarfile.FIFOTYPE), "package/pipe is neither a file nor a folder"),
        (member("package/campaign.json"), "package/campaign.json is in the archive twice"),
        (member("package/a\nb/../../../x"), "'package/a\\nb/../../../x' would be unpacked outside"),
    ],
)
def test_a_hostile_archive_is_told_and_nothing_is_unpacked(
    package: Path, tmp_path: Path, entry: tarfile.TarInfo, said: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    archive = packed(package, tmp_path / "package.tar.gz", (entry, b""))
    found = verify(archive)
    assert not found.intact and any(fault.startswith(said) for fault in found.faults), found.faults
    assert sorted(tmp_path.rglob("*")) == sorted([*before, archive])


def test_links_and_pipes_in_a_folder(package: Path) -> None:
    os.mkfifo(package / "pipe")
    (package / "link").symlink_to("/etc")
    assert verify(package).faults == (
        "link is a link, not a file of the package",
        "pipe is neither a file nor a folder",
    )


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "FREE_BYTES", 1 << 20)
    entry = member("package/zeros")
    entry.size = 64 << 20
    with gzip.open(tmp_path / "bomb.tar.gz", "wb") as stream:
        stream.write(entry.tobuf() + b"\0" * entry.size)
    with pytest.raises(Refused, match="unpacks to more than 200 times its size"):
        verify(tmp_path / "bomb.tar.gz")


def test_a_member_that_claims_to_be_huge_breaks_off(package: Path, tmp_path: Path) -> None:
    entry = member("package/huge")
    entry.size = 1 << 60
    archive = tmp_path / "huge.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(package, "package")
        tar.addfile(entry)
    found = verify(archive)
    assert found.faults[-1].startswith("the archive breaks off or is damaged")


@pytest.mark.parametrize("content", [b"", b"x", b"\x1f\x8b", gzip.compress(b"hello" * 200), b"\0" * 10240])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "package.tar.gz").write_bytes(content)
    with pytest.raises(Refused):
        verify(tmp_path / "package.tar.gz")


def test_what_is_no_package_is_refused(tmp_path: Path) -> None:
    for place, said in (
        (tmp_path / "none", "there is no such package"),
        (tmp_path, "is no package: it has no manifest.json"),
    ):
        with pytest.raises(Refused, match=said):
            verify(place)


@given(at=st.floats(0, 1), cut=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_damaged_archive_is_never_called_intact(
    tmp_path_factory: pytest.TempPathFactory, at: float, cut: bool
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    archive = packed(positive().write(folder / "bundle") / "package", folder / "package.tar.gz")
    raw = bytearray(archive.read_bytes())
    place = 10 + int(at * (len(raw) - 11))
    if cut:
        del raw[place:]
    else:
        raw[place] ^= 0x55
    archive.write_bytes(bytes(raw))
    try:
        found = verify(archive)
    except Refused:
        return
    # What gzip and tar carry beside the files (a date, padding, a name in the header) may change without any harm.
    whole = verify(folder / "bundle" / "package")
    assert not found.intact or (found.digest, found.files, found.size) == (whole.digest, whole.files, whole.size)


def options(package: Path, **more: Any) -> Namespace:
    return Namespace(package=package, digest=None, json=False, **more)


def test_the_command(package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(options(package)) == 0
    said = capsys.readouterr().out
    assert "as it was packed; 7 files" in said and f"plan     {HASH}" in said
    digest = verify(package).digest
    assert command(Namespace(package=package, digest=digest, json=True)) == 0
    assert json.loads(capsys.readouterr().out)["digest_matches"] is True
    assert command(Namespace(package=package, digest="0" * 64, json=False)) == 1
    assert "this is another package, or it was packed again" in capsys.readouterr().out
    put(package, {MODEL: b""})
    assert command(options(package)) == 1
    assert command(options(tmp_path / "none")) == 2
    assert capsys.readouterr().err.startswith("campc: ")
