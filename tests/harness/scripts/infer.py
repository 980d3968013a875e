"""Inference over many ids."""

from pace import pace

from campc_harness import Run

with Run.start() as run:
    ids = [f"ticket {number}" for number in range(run.params["ids"])]
    for batch in run.items(ids, batch=4, output=run.params.get("output", "predictions.csv")):
        for one in batch:
            if one == run.params.get("forget"):
                continue
            if one == run.params.get("mistake"):
                run.emit(one, {"id": "ticket 14"})
            run.emit(one, {"length": len(one), "answer": 'yes, "maybe"'})
        run.log(rows=len(batch))
        pace(run.step)
