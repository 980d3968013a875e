"""Each deliverable of each run: found, measured, compared with what was promised, and accepted or rejected with every reason."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import define, field, frozen

from campc.closeout.bundle import Bundle, sha256
from campc.closeout.contents import foreign_paths
from campc.closeout.gathering import Found, digest, gather
from campc.closeout.identifiers import Table, compare, read_table
from campc.closeout.model import DeliverableResult, Reload
from campc.closeout.reloading import Reloaded
from campc.closeout.results import Results
from campc_harness.conditions import Facts, describe, evaluate, terms
from campc_harness.plan import Corpus, Deliverable, Identity, RunPlan

__all__ = ["Corpora", "deliverables_of", "is_exact_revision"]

TIERS = ("essential", "useful", "exploratory")
_EXACT = re.compile(r"(?:.*@)?(?:sha256[:-])?[0-9a-f]{7,64}")
Reloader = Callable[[str, Sequence[Path], Path], Reloaded]
"""Runs a command on a deliverable's files below its outputs."""


@define
class Corpora:
    """The corpora's own identifiers, each read once, and only where its hash is the frozen one."""

    folders: tuple[Path, ...]
    """Where their paths are looked up, in this order."""
    _known: dict[str, tuple[Counter[str] | None, str | None]] = field(factory=dict, init=False)

    def expected(self, corpus: Corpus | None) -> tuple[Counter[str] | None, str | None]:
        """The identifiers, or None and why they aren't known."""
        if corpus is None:
            return None, "its run declares no corpus, so no identifiers are expected"
        if corpus.name not in self._known:
            self._known[corpus.name] = self._read(corpus)
        return self._known[corpus.name]

    def _read(self, corpus: Corpus) -> tuple[Counter[str] | None, str | None]:
        if corpus.ids is None:
            return None, f"corpus {corpus.name} declares no `ids`"
        path = next((folder / corpus.path for folder in self.folders if (folder / corpus.path).is_file()), None)
        if path is None:
            return (
                None,
                f"corpus {corpus.name} is not here ({corpus.path}); give the spec that it lies beside: --spec FILE",
            )
        if corpus.sha256 is not None and sha256(path) != corpus.sha256:
            return None, f"{corpus.path} is not the frozen corpus {corpus.name}: its hash differs from the declared one"
        table = read_table([path], corpus.ids)
        return table.ids, None if table.ids is not None else f"corpus {corpus.name}: {table.why}"


def deliverables_of(
    bundle: Bundle,
    results: Results,
    corpora: Corpora,
    packed: Mapping[str, str],
    dropped: Mapping[str, str],
    reloader: Reloader | None,
) -> tuple[DeliverableResult, ...]:
    """Every deliverable of every identifier of every run that owes it, in the order of the plan.

    Args:
        packed: SHA-256 of each file in the package's manifest, by its path.
        dropped: windows that were given up, with why.
        reloader: None: nothing is executed, and what has a `reload` command stays unverified.
    """
    runs = {run.name: run for run in bundle.plan.runs}
    return tuple(
        _Check(bundle, results, corpora, packed, dropped, reloader, deliverable, runs[name], identity).result()
        for deliverable in bundle.plan.deliverables
        for name in deliverable.of
        if name in runs
        for identity in runs[name].ids
    )


def is_exact_revision(base: str) -> bool:
    """Whether a base model is named by an exact revision (a commit or a digest), not by a branch or a tag."""
    return _EXACT.fullmatch(base.strip().lower()) is not None and (
        "@" in base or re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", base.strip()) is not None
    )


@frozen
class _Check:
    bundle: Bundle
    results: Results
    corpora: Corpora
    packed: Mapping[str, str]
    dropped: Mapping[str, str]
    reloader: Reloader | None
    deliverable: Deliverable
    run: RunPlan
    identity: Identity

    def result(self) -> DeliverableResult:
        deliverable = self.deliverable
        found = self._find()
        reasons = [found.fault] if found.fault else []
        table: Table | None = None
        reload: Reload = "not declared"
        detail: str | None = None
        if not found.fault:
            reasons += self._faults_of_files(found)
            table = read_table(found.files, self._corpus_ids()) if self._counts() else None
            reasons += self._condition(found, table)
            reasons += self._base(found)
            reasons += self._configuration()
        if deliverable.reload is not None:
            reload, detail, reason = self._reload(found)
            reasons += [reason] if reason and not found.fault else []
        whole = not found.fault
        return DeliverableResult(
            name=deliverable.name,
            run=self.run.name,
            run_id=self.identity.id,
            kind=deliverable.kind or "other",
            path=deliverable.path,
            tier=self._tier(),
            accepted=not reasons,
            reasons=tuple(dict.fromkeys(reasons)),
            condition=str(deliverable.accept["text"]) if deliverable.accept else None,
            files=len(found.files) if whole else None,
            size=found.bytes if whole else None,
            rows=table.rows if table else None,
            sha256=digest(found) if whole else None,
            reload=reload,
            reload_detail=detail,
            base=self._declared_base(),
        )

    def _find(self) -> Found:
        window = self.results.window_of(self.run.name)
        home = self.bundle.home(self.identity.id)
        outputs = home / "outputs"
        if window is not None and window.name in self.dropped:
            return Found(outputs, fault=f"its run was not made: {self.dropped[window.name]}")
        if not self.results.finished(self.run.name, self.identity.id):
            partial = "; what it left is partial" if (home / "outputs.partial").is_dir() else ""
            return Found(
                outputs,
                fault=f"its run {self.results.how_ended(self.run.name, self.identity.id)}{partial}",
            )
        if not outputs.is_dir():
            return Found(outputs, fault=f"the run's outputs are not here: runs/{self.identity.id}/outputs")
        return gather(outputs, self.deliverable.path)

    def _faults_of_files(self, found: Found) -> Iterator[str]:
        for path in found.files:
            name = path.relative_to(found.outputs).as_posix()
            if path.stat().st_size == 0:
                yield f"{name} is empty"
            for foreign in foreign_paths(path, most=3):
                yield f"{name}: {foreign}"
            known = self.packed.get(f"runs/{self.identity.id}/outputs/{name}")
            if known is not None and sha256(path) != known:
                yield f"{name} was changed after it was packed: its hash is no longer {known[:12]}…"

    def _counts(self) -> bool:
        accept = self.deliverable.accept
        if self.deliverable.kind == "predictions":
            return True
        return accept is not None and any(term in _OF_TABLES for term in terms(accept["expr"]))

    def _corpus(self) -> Corpus | None:
        return next((corpus for corpus in self.bundle.plan.corpora if corpus.name == self.run.corpus), None)

    def _corpus_ids(self) -> str | None:
        corpus = self._corpus()
        return corpus.ids if corpus else None

    def _condition(self, found: Found, table: Table | None) -> Iterator[str]:
        accept = self.deliverable.accept
        if accept is None:
            return
        builtins: dict[str, int | None] = {"bytes": found.bytes, "files": len(found.files)}
        hints = []
        if table is not None:
            builtins["rows"] = table.rows
            named = {term[1] for term in terms(accept["expr"]) if term in _OF_TABLES}
            if named & {"missing_ids", "duplicate_ids"}:
                hints += self._identifiers(table, builtins)
            elif table.rows is None and table.why:
                hints.append(table.why)
        facts = Facts(metrics=self.results.last(self.run.name, self.identity.id), builtins=builtins)
        holds = evaluate(accept, facts)
        if holds is not True:
            said = "can't be decided" if holds is None else "is not met"
            because = f"; {'; '.join(hints)}" if hints else ""
            yield f"`{accept['text']}` {said}: {describe(accept, facts)}{because}"

    def _identifiers(self, table: Table, builtins: dict[str, int | None]) -> list[str]:
        if table.ids is None:
            return [table.why or "it names no identifiers"]
        builtins["duplicate_ids"] = table.ids.total() - len(table.ids)
        expected, why = self.corpora.expected(self._corpus())
        if expected is None:
            return [why or "the corpus's identifiers aren't known"]
        compared = compare(expected, table.ids)
        builtins["missing_ids"] = compared.missing
        hints = [f"{compared.example} is the first one missing"] if compared.example is not None else []
        return hints + ([f"{compared.foreign:,} are not the corpus's"] if compared.foreign else [])

    def _declared_base(self) -> str | None:
        return self.deliverable.base or self.run.base

    def _base(self, found: Found) -> Iterator[str]:
        base = self._declared_base()
        if self.deliverable.kind == "adapter":
            if base is None:
                yield "an adapter means nothing without its base: no base model is declared"
            elif not is_exact_revision(base):
                yield f"its base {base} is no exact revision: a branch or a tag may point elsewhere tomorrow"
        if base is None:
            return
        for path in found.files:
            if path.name == "adapter_config.json":
                yield from _other_base(path, base)

    def _configuration(self) -> Iterator[str]:
        declared = self.identity.config_sha256
        for other in sorted(self.results.configurations.get(self.identity.id, frozenset()) - {declared}):
            if declared is not None:
                yield f"its run was started with another configuration ({other[:12]}…) than the plan's ({declared[:12]}…)"

    def _reload(self, found: Found) -> tuple[Reload, str | None, str | None]:
        assert self.deliverable.reload is not None
        if found.fault:
            return "not run", None, None
        if self.reloader is None:
            return (
                "not run",
                None,
                "not verified: its `reload` command was not run; type `campc closeout BUNDLE --reload` to run it",
            )
        tried = self.reloader(self.deliverable.reload, found.tops, found.outputs)
        return (
            ("passed", tried.detail, None)
            if tried.passed
            else ("failed", tried.detail, f"it does not reload: {tried.detail}")
        )

    def _tier(self) -> str | None:
        """Of the run's own window; one that has none takes the deliverable's."""
        window = self.results.window_of(self.run.name)
        return window.tier if window is not None else self.deliverable.tier


_OF_TABLES = (("builtin", "rows"), ("builtin", "missing_ids"), ("builtin", "duplicate_ids"))


def _other_base(path: Path, declared: str) -> Iterator[str]:
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return
    if not isinstance(tree, dict):
        return
    name, _, revision = declared.rpartition("@")
    said, said_revision = tree.get("base_model_name_or_path"), tree.get("revision")
    if name and isinstance(said, str) and said not in (name, declared) and not said.startswith(("/", "~")):
        yield f"{path.name} names the base {said}, the plan {name}"
    if (
        isinstance(said_revision, str)
        and said_revision
        and not revision.startswith(said_revision)
        and not said_revision.startswith(revision)
    ):
        yield f"{path.name} names revision {said_revision} of the base, the plan {revision}"
