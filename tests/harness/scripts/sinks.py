"""Metrics for two sinks, one of which fails."""

from campc_harness import Run


def bad(step, values):
    """Fails at once."""
    raise OSError("out of order")


with Run.start() as run:
    stream = open(run.outputs / "good.txt", "w")
    run.sink(lambda step, values: stream.write(f"{step}\n"))
    run.sink(bad)
    for step in run.steps(run.params["steps"]):
        run.log(loss=1 / step)
stream.close()
