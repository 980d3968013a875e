"""Imports go one way, and the harness stands alone: what architecture promises, read off the source."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

COMPILER = Path(__file__).resolve().parents[2] / "compiler"

# A part may import parts of a lower rank, or its own; parts of one rank don't know each other.
RANK = {
    "records": -1, "resources": 0, "collecting": 0, "codes": 0, "values": 0, "source": 0,
    "diagnostic": 1,
    "recall": 2,
    "syntax": 2, "render": 2, "first_spec": 2,
    "schema": 3,
    "resolve": 4,
    "schedule": 5,
    "checks": 6, "memory": 6, "closeout": 6, "diff": 6,
    "report": 7,
    "emit": 8,
    "pipeline": 9,
    "commands": 11,
    "lsp": 12, "arguments": 13, "cli": 14,
}  # fmt: skip
# Between the pipeline and the command line: what is told or made out of plans.
BESIDE_CLI = 10

OPTIONAL = {"numpy", "fsspec", "s3fs", "transformers", "lightning", "pytorch_lightning", "pynvml", "safetensors"}
SINKS = {"tensorboard", "mlflow", "wandb"}
# Imported by the script that uses the framework, and by nothing else of ours.
INTEGRATIONS = {"hf.py": {"transformers", "accelerate"}, "lightning.py": {"lightning", "pytorch_lightning"}}


def python_files(package: str) -> list[Path]:
    return sorted((COMPILER / package).rglob("*.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(COMPILER).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(node: ast.AST, path: Path) -> Iterator[str]:
    """The absolute names of the modules that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        if node.level:
            package = path.relative_to(COMPILER).parent.parts
            base = package[: len(package) - node.level + 1]
            name = ".".join([*base, *(node.module.split(".") if node.module else [])])
        else:
            name = node.module or ""
        # `from campc import pipeline` names a module too.
        yield from (f"{name}.{alias.name}" for alias in node.names)


def part(module: str) -> str:
    """`campc.schema.blocks` belongs to the part `schema`."""
    words = module.split(".")
    return words[1] if len(words) > 1 else ""


def rank(name: str) -> int:
    return RANK.get(name, BESIDE_CLI)


def typing_only(tree: ast.Module) -> set[ast.AST]:
    """Imports under `if TYPE_CHECKING:`, which nothing executes."""
    guarded = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            guarded |= set(ast.walk(node))
    return guarded


@pytest.mark.parametrize("path", python_files("campc"), ids=module_of)
def test_imports_go_one_way(path: Path) -> None:
    mine = part(module_of(path))
    if not mine or mine == "__main__":
        return  # the package's own face may offer what lies below
    known = {part(module_of(other)) for other in python_files("campc")}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for name in imported(node, path):
            if name.split(".")[0] != "campc":
                continue
            other = part(name)
            if not other or other not in known or other == mine:
                continue
            assert rank(other) < rank(mine), f"{path.name}:{node.lineno}: {mine} imports {other}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", python_files("campc_harness"), ids=module_of)
def test_the_harness_stands_alone(path: Path) -> None:
    """At import: the standard library and torch. Optional packages only inside functions. Never the compiler."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unexecuted = typing_only(tree)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {inner for function in functions for inner in ast.walk(function)}
    guarded = {inner for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        for name in imported(node, path):
            root = name.split(".")[0]
            allowed = (
                set(sys.stdlib_module_names)
                | {"torch", "campc_harness", "__future__"}
                | INTEGRATIONS.get(path.name, set())
            )
            if node in inside or node in unexecuted or node in guarded:
                allowed |= OPTIONAL | SINKS
            assert root in allowed, f"{path.name}:{node.lineno} imports {name}"  # type: ignore[attr-defined]
