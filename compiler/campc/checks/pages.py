"""The pages of the faults that are found while a file is read: syntax (C1), names, types and values (C2).

Each has the form of a rule's docstring: title, why, ``Bad:`` and ``Good:``. Examples are completed as ``examples.complete`` says.
"""

from __future__ import annotations

READING: dict[str, str] = {
    "C101": """Something stands where it can't.

    The message says what stood there, what could stand there, and which block is open. Reading goes on at the next item, so that all independent faults of
    a file are told in one run.

    Bad:
        run spare { script "train.py" }

    Good:
        run spare { script = "train.py" }
    """,
    "C102": """A string or a block is never closed.

    The message points at its opening: where it should have ended is the author's to say.

    Bad:
        run spare { script = "train.py }

    Good:
        run spare { script = "train.py" }
    """,
    "C103": """A number, date, unit, escape or currency that is none.

    Units are written one way each, so that no plan depends on a guess: `3d`, not `3 days`; `20min`, not `20m`. A date must be one of the calendar.

    Bad:
        lot spare { package = three_days; keep_free = 20m }

    Good:
        lot spare { package = three_days; keep_free = 20min }
    """,
    "C104": """A file that can't be read.

    It is not there, is not UTF-8 text, holds a NUL, or is over 16 MiB. A spec is plain text: save it as UTF-8.

    Bad:

    Good:
        run spare { script = "entraîner.py" }
    """,
    "C201": """A block of an unknown kind, or one that stands in the wrong place.

    Windows stand inside a tier, a run's own checkpoint inside the run, everything else at top level. The tiers are `essential`, `useful` and `exploratory`.

    Bad:
        window control { kind = train; on = box; takes = 10h; run = control }

    Good:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """,
    "C202": """An attribute that the block doesn't have.

    An attribute that nobody reads would be a promise that nobody keeps: it is refused rather than passed over.

    Bad:
        lot spare { package = three_days; kep_free = 6h }

    Good:
        lot spare { package = three_days; keep_free = 6h }
    """,
    "C203": """A required attribute, a name or the campaign itself is missing.

    Everything else may be left out, and counts as unknown, never as zero.

    Bad:
        deliverable scored { of = control }

    Good:
        deliverable scored { of = control; path = "scored.jsonl" }
    """,
    "C204": """A value of the wrong type or unit.

    Units are checked in every sum and comparison: three hours and four dollars are never added. The message says what was wanted and what stood there.

    Bad:
        lot spare { package = three_days; keep_free = 6 USD }

    Good:
        lot spare { package = three_days; keep_free = 6h }
    """,
    "C205": """A name that nothing has.

    It is misspelt, or what it names is declared nowhere in this file and those that it uses. Names of one kind don't stand for another.

    Bad:
        tier essential {
          window setup   { kind = setup; on = box; takes = 1h }
          window control { kind = train; on = bx; takes = 10h; run = control }
        }

    Good:
        tier essential {
          window setup   { kind = setup; on = box; takes = 1h }
          window control { kind = train; on = box; takes = 10h; run = control }
        }
    """,
    "C206": """A name declared twice.

    Each kind has its own names: a run and a window may share one, two runs may not.

    Bad:
        expense storage { amount = 8 USD; covers = "30 days" }
        expense storage { amount = 2 USD; covers = "transfer" }

    Good:
        expense storage  { amount = 8 USD; covers = "30 days" }
        expense transfer { amount = 2 USD; covers = "transfer" }
    """,
    "C207": """An attribute or a single block that is repeated.

    Which of two values holds must not depend on their order. Campaign, budget, preflight, shutdown and the general checkpoint stand once in a file.
    Of `seed` and `seeds`, which both say which seeds a run has, it has one.

    Bad:
        expense storage { amount = 8 USD; amount = 9 USD; covers = "30 days" }

    Good:
        expense storage { amount = 8 USD; covers = "30 days" }
    """,
    "C208": """A value or word out of range.

    A window takes some time, a range goes from low to high, a share lies between 0% and 100%, and where one of some words is wanted, others mean nothing.
    No metric has the name of what conditions ask: `missing`, `none`, `null`, `nan`, `inf`, `infinity`.

    Bad:
        tier essential { window control { kind = trian; on = box; takes = 0h; run = control } }

    Good:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """,
    "C209": """Things that wait for each other in a circle.

    In `after`, `variant_of`, `from`, `let` and `use`, each needs the next one first; in a circle none can begin. The whole path is shown.

    Bad:
        tier essential {
          window first  { kind = setup; on = box; takes = 1h; after = second }
          window second { kind = evaluate; on = box; takes = 1h; after = first }
        }

    Good:
        tier essential {
          window first  { kind = setup; on = box; takes = 1h }
          window second { kind = evaluate; on = box; takes = 1h; after = first }
        }
    """,
    "C210": """A used file is not there, or holds what may not be used.

    `use` brings in packages, corpora and lets of another file; its path is relative to the file that says it. What a campaign does stands in its own
    file.

    Bad:
        use "catalogs/not_there.campaign"

    Good:
        use "catalogs/offers.campaign"
    """,
    "C211": """An unknown time zone, or a local time that doesn't exist or exists twice.

    When clocks go forward an hour is missing, when they go back one comes twice. Write the offset that is meant.

    Bad:
        campaign ranks { question = "q"; decision = "d"; if_negative = "n"; currency = USD; timezone = "Europe/Paris" }
        lot early { package = three_days; starts = 2026-03-29 02:30 }

    Good:
        campaign ranks { question = "q"; decision = "d"; if_negative = "n"; currency = USD; timezone = "Europe/Paris" }
        lot early { package = three_days; starts = 2026-03-29 02:30+01:00 }
    """,
    "C213": """An allowance without a reason, on an error, or malformed.

    An allowance accepts one warning in one place, and says why: the reason stands in the plan. Errors are mended, not allowed.

    Bad:
        # campc: allow C502
        run both { variant_of = control; change = { rank = 16 } }

    Good:
        # campc: allow C502 because the published recipe moves both together
        run both { variant_of = control; change = { rank = 16 } }
    """,
    "C214": """An allowance that allows nothing.

    What it accepted was mended, or stands elsewhere by now. Left there, it would one day allow what nobody looked at. It speaks of the line that it ends, or
    of the item below it.

    Bad:
        # campc: allow C508 because the data are made up
        run both { variant_of = control; change = { rank = 16 } }

    Good:
        # campc: allow C508 because the data are made up
        corpus toys { path = "toys.jsonl" }
    """,
}
