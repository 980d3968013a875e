"""What the rules decide at their edges; the pages' examples test the middle."""

import fnmatch
import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campc.checks.examples import complete
from campc.checks.rules.deliverables import is_exact
from campc.checks.rules.paths import _signs_meet, deletes, unsafe
from campc.diagnostic import Diagnostic
from campc.pipeline import Compiled, compile_path

from .compiling import compile_text

TRAIN = "tier essential { window control { kind = train; on = box; takes = 10h; run = control } }\n"


def found(fragment: str, code: str) -> list[Diagnostic]:
    return [d for d in compile_text(complete(fragment)).diagnostics if d.code == code]


@pytest.mark.parametrize(
    "base",
    [
        "example/base-8b@3f9c2d1a7b60", "example/base-8b@5206a32e0bd3067aef1ce90f5528ade7d866253f", "base@sha256:" + "0a" * 32, "base@v1.0",
        "base@2024-11-01", "base@refs/tags/v2", "3f9c2d1a7b60", "example/base#3f9c2d1a7b60", "hf://example/base@step-1000",
    ],
)  # fmt: skip
def test_a_revision_is_exact(base: str) -> None:
    assert is_exact(base)


@pytest.mark.parametrize(
    "base",
    [
        "example/base-8b@main", "example/base-8b", "base@HEAD", "base@latest", "base@refs/heads/v2", "base@feature/v2", "base@", "base@experimental",
        "base@refs/tags/", "base-8b-v1.0", "decade/facade",
    ],
)  # fmt: skip
def test_a_branch_or_a_name_is_not(base: str) -> None:
    assert not is_exact(base)


def test_an_inherited_base_is_reported_once_where_it_is_written() -> None:
    fragment = """
run first { script = "train.py"; params = { rank = 8 }; kind = adapter; base = "example/base@main" }
run second { variant_of = first; change = { rank = 16 } }
deliverable weights { of = [first, second]; path = "adapter"; kind = adapter; accept = files > 0; reload = "x {path}" }
"""
    (fault,) = found(fragment, "C603")
    assert "run first {" in fault.at.source.line(fault.at.line)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/data/x", "absolute"), ("~/x", "absolute"), ("C:\\x", "absolute"), ("\\\\host\\x", "absolute"), ("/tmp/x", "temporary"),
        ("/private/var/tmp/x", "temporary"), ("$TMPDIR/x", "temporary"), ("a/../../x", "climbs"), ("..", "climbs"), ("s3://b/x", "URL"),
    ],
)  # fmt: skip
def test_a_path_that_leaves(path: str, why: str) -> None:
    assert why in (unsafe(path) or "")


@pytest.mark.parametrize("path", ["x", "a/b.json", "./x", "data/*.json", "a..b", "...", "tmp/x", "*.csv"])
def test_a_path_that_stays(path: str) -> None:
    assert unsafe(path) is None


@pytest.mark.parametrize(
    ("cleanup", "kept", "hit"),
    [
        ("*.pt", "model.pt", True), ("*", "out/model.pt", True), ("**", "out/model.pt", True), ("out", "out/model.pt", True),
        ("out/*", "out/model.pt", True), ("adapter/*", "adapter", True), ("outputs/model.pt", "model.pt", True), ("**/*.pt", "a/b/model.pt", True),
        ("model.[pb]t", "model.pt", True), ("step-*", "step-*/weights", True), ("cache/*", "model.pt", False), ("**/*.tmp", "scored.jsonl", False),
        ("**/*.tmp", "adapter", False), ("*.log", "scored.jsonl", False), ("out/cache/*", "out/model.pt", False), ("model", "model.pt", False),
    ],
)  # fmt: skip
def test_what_a_cleanup_deletes(cleanup: str, kept: str, hit: bool) -> None:
    assert deletes(cleanup, kept) is hit


GLOB = st.text("ab*?", max_size=5)
NAMES = ["".join(letters) for length in range(7) for letters in product("ab", repeat=length)]


@given(GLOB, GLOB)
def test_two_globs_meet_where_a_name_matches_both(first: str, second: str) -> None:
    patterns = [re.compile(fnmatch.translate(glob)) for glob in (first, second)]
    common = any(all(p.match(name) for p in patterns) for name in NAMES)
    longest = sum(c != "*" for c in first + second)
    if common or longest <= 6:
        assert _signs_meet(first, second) is common


@pytest.mark.parametrize(
    ("second", "same"),
    [
        ('script = "train.py"; params = { x = 1 }', True),
        ('script = "train.py"; params = { x = 1.0 }', True),
        ('script = "train.py"; params = { x = true }', False),
        ('script = "train.py"; params = { x = "1" }', False),
        ('script = "train.py"; params = { x = 1 }; gpus = 2', False),
        ('script = "train.py"; params = { x = 1 }; seed = 1', False),
        ('script = "train.py"; params = { x = 1 }; env = { A = "1" }', False),
        ('script = "train.py"; params = { x = 1 }; memory = 1GB; because = "again"', True),
    ],
)
def test_two_runs_are_the_same(second: str, same: bool) -> None:
    faults = found(f'run a {{ script = "train.py"; params = {{ x = 1 }} }}\nrun b {{ {second} }}\n', "C503")
    assert bool(faults) is same
    assert not same or "run b" in faults[0].at.text


@pytest.mark.parametrize(
    ("variant", "count"),
    [
        ("change = { rank = 16 }", None),
        ('change = { rank = 16 }; gpus = 2; memory = 20GB; env = { A = "1" }; recover = rerun', None),
        ("change = { rank = 16 }; seed = 7", 2),
        ('change = { rank = 16 }; args = ["--fast"]; steps = 10 steps', 3),
        ('script = "other.py"; base = "b@1"', 2),
        ("params = { rank = 16, lr = 1 }", 2),
    ],
)
def test_what_a_variant_changes(variant: str, count: int | None) -> None:
    faults = found(f"run variant {{ variant_of = control; {variant} }}\n", "C502")
    assert [f"changes {count} things" in fault.message for fault in faults] == ([] if count is None else [True])


def test_a_run_that_lists_no_metrics_may_report_any() -> None:
    runs = 'run a { script = "a.py"; params = { x = 1 }; metrics = [loss] }\nrun b { script = "b.py" }\n'
    assert not found(runs + 'stop s { when = odd > 1; because = "r" }', "C513")
    assert found(runs + 'stop s { when = odd > 1; runs = a; because = "r" }', "C513")
    assert found(runs + 'deliverable d { of = a; path = "p"; accept = bytes > 0 and odd > 1 }', "C513")
    assert not found(runs + 'deliverable d { of = [a, b]; path = "p"; accept = odd > 1 }', "C513")
    assert not found(runs + 'stop s { when = loss > 1 and best.loss > 2 and step > 10; because = "r" }', "C513")


@pytest.mark.parametrize(("every", "told"), [("3h20min", True), ("2h", False), ("60min", False), ("25min", True)])
def test_an_interval_within_a_factor_of_two_is_well(every: str, told: bool) -> None:
    """Write 5 min, an interruption every 12 h: Daly's optimum is 80 min."""
    fragment = f"""
package spot {{ gpu = "A100"; duration = 7d; price = 120 USD; interruptible = true; interruptions = 1 per 12h }}
lot machine {{ package = spot; starts = 2026-12-01 09:00 }}
checkpoint {{ every = {every}; to = "s3://c"; write = 5min; restore = 1min }}
tier essential {{ window control {{ kind = train; on = machine; takes = 30h; run = control }} }}
"""
    assert bool(found(fragment, "C519")) is told


def test_too_much_writing_is_told_without_a_rate_of_interruptions() -> None:
    (fault,) = found('checkpoint { every = 9min; to = "s3://c"; write = 2min }\n' + TRAIN, "C519")
    assert "18.2% of the time" in fault.message and "every = 18min or more" in (fault.help or "")


@pytest.mark.parametrize("total", ["47.14 USD", "0.01 USD", "999.99 USD", "1000 JPY"])
def test_the_budget_that_is_proposed_has_no_fault(total: str) -> None:
    currency = total.split()[1]
    fragment = f"""
campaign c {{ question = "q"; decision = "d"; currency = {currency} }}
package p {{ gpu = "A100"; duration = 3d; price = {total} }}
lot machine {{ package = p; starts = 2026-12-01 09:00 }}
"""
    (fault,) = found(fragment, "C405")
    assert fault.help is not None
    proposed = fragment + fault.help.removeprefix("add ")
    assert not {d.code for d in compile_text(proposed).diagnostics} & {"C101", "C405", "C408", "C404", "C403"}


@pytest.mark.parametrize(
    "windows",
    [
        "window people { kind = prepare; takes = 4h }\nwindow work { kind = train; on = box; takes = 2h; after = people; run = control }",
        "window one { kind = prepare; takes = 4h }\nwindow two { kind = prepare; takes = 1h; after = one }\n"
        "window work { kind = train; on = box; takes = 2h; after = two; run = control }",
        "window people { kind = prepare; takes = 1h; starts = +3h }\n"
        "window work { kind = train; on = box; takes = 2h; after = people; run = control }",
    ],
    ids=["one", "two in turn", "fixed"],
)
def test_the_start_that_is_proposed_saves_the_idle_time(windows: str) -> None:
    text = complete(f"tier essential {{\n{windows}\n}}\n")
    (fault,) = [d for d in compile_text(text).diagnostics if d.code == "C315"]
    said = re.findall(r"(starts = -\w+) in (\w+)", fault.help or "")
    assert said, fault.help
    mended = text
    for start, name in said:
        mended = re.sub(rf"(window {name} .*?)(; starts = \S+)? }}", rf"\1; {start} }}", mended)
    codes = {d.code for d in compile_text(mended).diagnostics}
    assert not codes & {"C315", "C303", "C304", "C101"}


def test_a_window_that_fits_nowhere_is_not_sent_beyond_the_lot() -> None:
    windows = """
tier essential {
  window first  { kind = train; on = box; takes = 40h; starts = +0h; run = control }
  window second { kind = train; on = box; takes = TAKES; starts = +30h; run = variant }
}
"""
    (fits,) = found(windows.replace("TAKES", "32h"), "C301")
    assert "starts = +40h" in (fits.help or "")
    (does_not,) = found(windows.replace("TAKES", "33h"), "C301")
    assert "it would end 1 h after box can be used" in (does_not.help or "")


def test_of_very_many_windows_that_overlap_each_is_told() -> None:
    rows = "".join(
        f"  window w{i:02} {{ kind = evaluate; on = box; takes = 2h; starts = +{i}min }}\n" for i in range(50)
    )
    faults = found(f"tier essential {{\n{rows}}}\n", "C301")
    assert [f.message.split()[0] for f in faults] == [f"w{i:02}" for i in range(1, 50)]
    assert faults[0].message.startswith("w01 and w00 both hold") and faults[0].message.endswith(
        ": 1 h 59 min in common"
    )
    assert [len(f.related) for f in faults] == [1, 2, 3, 4, 5, 6] + [6] * 34 + [2] * 9
    assert faults[6].message.endswith("; and 1 more")
    # Which others there are is not recorded of so many, so no number is said.
    assert all(f.message.endswith("; and others") for f in faults[7:])
    assert "w40 fits from" in (faults[39].help or "") and "w41" not in (faults[40].help or "")
    assert faults[48].label == "2026-12-01 09:49 to 2026-12-01 11:49"


@pytest.mark.parametrize(
    ("body", "mended"),
    [
        ('script = "t.py"; seed = 1; seeds = [1, 2]', 'script = "t.py"; seeds = [1, 2]'),
        ('script = "t.py"; seeds = [1, 2]; seed = 1', 'script = "t.py"; seeds = [1, 2]'),
        ('seed = 2;script = "t.py";seeds = [1, 2]', 'script = "t.py";seeds = [1, 2]'),
        ("\n  seed = 1\n  seeds = [1]\n", "\n  seeds = [1]\n"),
        ("\n  seeds = [1];  seed = 1;\n", "\n  seeds = [1];\n"),
        ("\n  seed = 1 # why\n  seeds = [1]\n", None),
        ("seed = 3; seeds = [1, 2]", None),
        ("seed = 3; seeds = []", None),
    ],
)
def test_seed_beside_seeds_is_told_and_the_one_that_says_nothing_more_can_go(body: str, mended: str | None) -> None:
    text = complete(f"run control {{ {body} }}\n")
    (fault,) = [d for d in compile_text(text).diagnostics if d.code == "C207"]
    first, second = sorted(("seed =", "seeds ="), key=body.index)
    assert fault.at.text.startswith(second) and [n.at.text.startswith(first) for n in fault.related] == [True]
    if mended is None:
        assert fault.fix is None and fault.help
        return
    assert fault.fix is not None
    (edit,) = fault.fix.edits
    assert text[: edit.at.start] + edit.text + text[edit.at.end :] == complete(f"run control {{ {mended} }}\n")


def test_a_variant_may_have_seeds_where_its_parent_has_a_seed() -> None:
    assert not found(
        'run one { script = "t.py"; seed = 1 }\nrun more { variant_of = one; seeds = [1, 2] }\n'
        "run last { variant_of = more; seed = 3 }\n",
        "C207",
    )


@pytest.mark.parametrize("word", ["missing", "nan", "NaN", "inf", "infinity", "none", "null", "true"])
def test_a_metric_with_the_name_of_what_conditions_ask_is_told_where_it_is_declared(word: str) -> None:
    (fault,) = found(f'run a {{ script = "t.py"; metrics = [loss, {word}] }}\n', "C208")
    assert fault.at.text == word and f"{word} can't be the name of a metric" in fault.message
    assert "_count" in (fault.help or "") or "is_true" in (fault.help or "")
    (fault,) = found(f'checkpoint {{ every = 1h; to = "x"; keep_best = {word} }}\n', "C208")
    assert fault.at.text == word
    # Without quotes it would be no better.
    (fault,) = found(f'run a {{ script = "t.py"; metrics = ["{word}"] }}\n', "C204")
    assert fault.fix is None


@pytest.mark.parametrize("word", ["and", "or", "is", "not"])
def test_a_reserved_word_is_told_as_such_where_a_name_is_wanted(word: str) -> None:
    for metrics in (f"[{word}]", f"[{word}, loss]", f"[loss, {word}]", word):
        text = complete(f'run a {{ script = "t.py"; metrics = {metrics} }}\n')
        (fault,) = [d for d in compile_text(text).diagnostics if d.severity == "error"]
        assert (fault.code, fault.at.text) == ("C101", word), metrics
        assert fault.message == f'"{word}" is a word of conditions, and names nothing'


@pytest.mark.parametrize("word", ["finite", "for", "is_nan", "eval.missing", "mean", "step", "best", "use", "let"])
def test_other_words_may_name_metrics(word: str) -> None:
    text = complete(f'run a {{ script = "t.py"; metrics = [{word}] }}\n')
    assert not [d for d in compile_text(text).diagnostics if d.severity == "error"]


def test_last_windows_name_some_of_what_is_still_to_come_and_what_ends_latest() -> None:
    rows = "".join(
        f"  window w{i:02} {{ kind = evaluate; on = box; takes = {12 if i == 5 else 1}h; starts = +{i}h }}\n"
        for i in range(20)
    )
    lasts = "".join(
        f"  window z{i:02} {{ kind = other; on = box; takes = 1min; starts = +{i}h; last = true; after = w00 }}\n"
        for i in (0, 4, 7, 19)
    )
    faults = found(f"tier essential {{\n{rows}{lasts}}}\n", "C304")
    named = [[n.at.text.split()[1] for n in f.related] for f in faults]
    assert named == [
        ["w00", "w01", "w02", "w03", "w04", "w05"],
        ["w04", "w05", "w06", "w07", "w08", "w09"],
        ["w05", "w07", "w08", "w09", "w10", "w11"],
        ["w19"],
    ]
    assert all(f.help is not None and "2026-12-02 05:00" in f.help for f in faults)


def test_a_cheaper_package_must_keep_the_same_time_free() -> None:
    fragment = """
package three { gpu = "RTX 4090"; duration = 3d; price = 47.14 USD }
package seven { gpu = "rtx4090"; duration = 7d; price = 110 USD }
lot machine { package = seven; starts = 2026-12-01 09:00; keep_free = KEEP }
tier essential { window control { kind = train; on = machine; takes = 40h; run = control } }
"""
    assert found(fragment.replace("KEEP", "32h"), "C407")
    assert not found(fragment.replace("KEEP", "33h"), "C407")
    assert not found(fragment.replace("KEEP", "6h").replace("price = 47", "interruptible = true; price = 47"), "C407")


def test_an_absence_is_not_told_of_a_file_that_was_read_in_part() -> None:
    whole = complete(TRAIN)
    assert {"C405", "C511", "C705"} <= {d.code for d in compile_text(whole).diagnostics}
    assert [d.code for d in compile_text(whole + "budget limit = 3\n").diagnostics] == ["C101"]


def test_one_line_has_a_rule_s_fault_once() -> None:
    text = complete("let a = 1; let b = 2\n")
    (fault,) = [d for d in compile_text(text).diagnostics if d.code == "C212"]
    assert "let a" in fault.message and "let b" in fault.message


class TestAllowances:
    BOTH = "run both { variant_of = control; change = { rank = 16, lr = 2 } }"
    CONTROL = 'run control { script = "train.py"; params = { rank = 8, lr = 1 } }\n'
    ALLOW = "# campc: allow C502 because they belong together"

    def compiled(self, text: str) -> Compiled:
        return compile_text(complete(self.CONTROL + text))

    @pytest.mark.parametrize("text", [f"{ALLOW}\n{BOTH}", f"{BOTH} {ALLOW}", f"{ALLOW}\n# why not\n\n{BOTH}"])
    def test_it_accepts_what_stands_there(self, text: str) -> None:
        result = self.compiled(text)
        assert [(a.diagnostic.code, a.allowance.reason) for a in result.allowed] == [("C502", "they belong together")]
        assert not {d.code for d in result.diagnostics} & {"C502", "C213", "C214"}

    @pytest.mark.parametrize("text", [f"{ALLOW}\nlet x = 1\n{BOTH}", f"{BOTH}\n{ALLOW}"])
    def test_it_accepts_nothing_elsewhere(self, text: str) -> None:
        result = self.compiled(text)
        assert not result.allowed
        assert {"C502", "C214"} <= {d.code for d in result.diagnostics}

    def test_it_is_not_idle_for_a_fault_of_the_item_itself(self) -> None:
        broken = self.BOTH.replace("lr = 2", "lr = 2 USD per")
        assert "C214" not in {d.code for d in self.compiled(f"{self.ALLOW}\n{broken}").diagnostics}

    def test_it_is_not_idle_while_the_schedule_is_not_known(self) -> None:
        """A window that can't be placed leaves out what the times and the money would have shown."""
        times = "# campc: allow C315 because it is so\nlet x = 1\n"
        other = "# campc: allow C508 because it is so\nlet y = 1\n"
        broken = "tier useful { window extra { kind = train; tekes = 1h } }"
        idle = [d for d in self.compiled(times + other + broken).diagnostics if d.code == "C214"]
        assert [d.message for d in idle] == ["this allows C508, and no C508 is found there"]
        idle = [d for d in self.compiled(times + other).diagnostics if d.code == "C214"]
        assert len(idle) == 2

    def test_it_never_accepts_an_error(self) -> None:
        codes = {
            d.code
            for d in self.compiled(
                f"# campc: allow C503 because so\n{self.CONTROL.replace('control', 'again')}"
            ).diagnostics
        }
        assert {"C213", "C503"} <= codes


def test_files_are_looked_for_beside_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("train.py", "data/a.json", "catalogs/t.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "catalogs" / "c.campaign").write_text(
        'corpus there { path = "t.jsonl" }\ncorpus gone { path = "u.jsonl" }\n'
    )
    spec = tmp_path / "s.campaign"
    spec.write_text(
        'use "catalogs/c.campaign"\n'
        'campaign c { question = "q"; decision = "d"; files = ["data/*.json", "data", "data/*.csv", "gone.py"] }\n'
        'run a { script = "train.py"; corpus = there }\nrun b { script = "missing.py"; corpus = gone }\n'
        'corpus far { path = "s3://lab/x" }\n'
    )
    result = compile_path(spec)
    assert isinstance(result, Compiled)
    told = sorted((Path(d.at.source.name).name, d.at.line, d.message) for d in result.diagnostics if d.code == "C608")
    assert told == [
        ("c.campaign", 2, 'corpus gone: "u.jsonl" is not there'),
        ("s.campaign", 2, '`files`: "data/*.csv" and "gone.py" are not there'),
        ("s.campaign", 4, 'script: "missing.py" is not there'),
    ]
