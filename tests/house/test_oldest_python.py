"""The harness runs on Python 3.10, which a rented machine may still have: nothing newer in its syntax or its imports."""

import ast
from pathlib import Path

import pytest

HARNESS = sorted((Path(__file__).resolve().parents[2] / "compiler" / "campc_harness").rglob("*.py"))
# What came with 3.11 or later, by module.
NEWER = {
    "asyncio": {"TaskGroup", "timeout", "Runner"},
    "contextlib": {"chdir"},
    "datetime": {"UTC"},
    "enum": {"StrEnum", "EnumCheck", "ReprEnum", "verify", "member", "nonmember"},
    "hashlib": {"file_digest"},
    "itertools": {"batched"},
    "operator": {"call"},
    "os": {"process_cpu_count"},
    "tomllib": {"load", "loads"},
    "typing": {
        "Self", "Never", "LiteralString", "Required", "NotRequired", "TypeVarTuple", "Unpack", "assert_never", "assert_type",
        "dataclass_transform", "override", "reveal_type",
    },
}  # fmt: skip
NEWER_NAMES = {"ExceptionGroup", "BaseExceptionGroup"}
NEWER_METHODS = {"add_note"}


@pytest.mark.parametrize("path", HARNESS, ids=lambda path: path.stem)
def test_nothing_newer_than_3_10(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 10))
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module)):
                newer = {alias.name for alias in node.names} & NEWER.get(module, set())
                assert not newer, f"{path.name}:{node.lineno}: {module}.{newer} is not in Python 3.10"
            case ast.Import():
                assert not {alias.name for alias in node.names} & {"tomllib"}, f"{path.name}:{node.lineno}"
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                assert name not in NEWER.get(module, set()), f"{path.name}:{node.lineno}: {module}.{name}"
                assert name not in NEWER_METHODS, f"{path.name}:{node.lineno}: {name}"
            case ast.Name(id=name):
                assert name not in NEWER_NAMES, f"{path.name}:{node.lineno}: {name}"
            case ast.TryStar():
                raise AssertionError(f"{path.name}:{node.lineno}: except*")
