"""``skypilot/LOT.yaml``: a lot as a managed job, which SkyPilot starts again elsewhere when its machine is taken."""

from __future__ import annotations

import re
import shlex

from campc.emit.lots import LotTerms, terms
from campc.emit.render import render
from campc.emit.yaml import Value, yaml
from campc.schedule.plan import Plan
from campc.schema.spec import Spec

_INTERRUPTED = 75
_IDLE_MINUTES = 10

# What one model is called by SkyPilot where it is sold with several memories: those with at least so many bytes.
_LARGER = {"A100": (60 * 10**9, "A100-80GB"), "V100": (24 * 10**9, "V100-32GB")}

# The names that `infra` takes; a vendor that is none of them leaves the choice to SkyPilot.
_CLOUDS = (
    "aws azure cudo do fluidstack gcp hyperbolic ibm kubernetes lambda nebius oci paperspace primeintellect runpod "
    "scp seeweb vast vsphere"
).split()

_HEAD = """\
# One lot of a campaign, as a managed job of SkyPilot. In the bundle's folder:
#   sky jobs launch skypilot/{lot}.yaml{secrets}
"""
_LOCAL = """\
# Checkpoints of {runs} stay on the machine: after a preemption these begin again from the start. Give `checkpoint` a
# `to` that outlives it, such as s3://bucket/folder.
"""


def skypilot(plan: Plan) -> dict[str, bytes]:
    """One task file a lot, by its path in the bundle."""
    return {f"skypilot/{name}.yaml": _task_file(plan.spec, terms(plan, name)) for name in plan.spec.lots}


def _task_file(spec: Spec, lot: LotTerms) -> bytes:
    campaign = spec.campaign
    secrets = [name for name in campaign.secrets if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)]
    head = _HEAD.format(lot=lot.name, secrets="".join(f" --secret {name}" for name in secrets))
    local = [run.name for run in lot.runs if run.checkpoint is None or not run.checkpoint.is_outside]
    if local and lot.interruptible:
        head += _LOCAL.format(runs=", ".join(local))
    requirements = None if campaign.requirements is None else shlex.quote(f"work/{campaign.requirements}")
    task: dict[str, Value] = {
        "name": _name(f"{campaign.name}-{lot.name}"),
        "workdir": ".",
        "num_nodes": lot.nodes,
        "resources": _resources(spec, lot),
    }
    if secrets:
        # Null: SkyPilot asks for the value when the job is launched; it stands in no file.
        task["secrets"] = dict.fromkeys(secrets)
    task["setup"] = render("skypilot_setup.sh.j2", requirements=requirements).decode()
    task["run"] = render("skypilot_run.sh.j2", lot=shlex.quote(lot.name), nodes=lot.nodes).decode()
    return (head + yaml(task)).encode()


def _resources(spec: Spec, lot: LotTerms) -> dict[str, Value]:
    resources: dict[str, Value] = {}
    infra = _infra(lot)
    if infra is not None:
        resources["infra"] = infra
    if lot.gpu is not None:
        resources["accelerators"] = {_accelerator(lot.gpu, lot.gpu_memory): lot.gpus_a_node}
    resources["use_spot"] = lot.interruptible
    if lot.disk is not None:
        resources["disk_size"] = max(1, -(-lot.disk // 2**30))
    if spec.campaign.image is not None:
        resources["image_id"] = f"docker:{spec.campaign.image}"
    resources["autostop"] = {"idle_minutes": _IDLE_MINUTES, "down": True}
    # Crashes are retried by the supervisor on the machine; what it gave up is not tried again.
    resources["job_recovery"] = {"max_restarts_on_errors": 0, "recover_on_exit_codes": [_INTERRUPTED]}
    return resources


def _infra(lot: LotTerms) -> str | None:
    """``CLOUD/REGION`` where the vendor is a cloud that SkyPilot knows by this name."""
    cloud = (lot.vendor or "").strip().lower()
    if cloud not in _CLOUDS:
        return None
    region = (lot.region or "").strip()
    return f"{cloud}/{region}" if re.fullmatch(r"[A-Za-z0-9._-]+", region) else cloud


def _accelerator(gpu: str, memory: int | None) -> str:
    """A model as SkyPilot spells it: without spaces, and told apart by memory where it must be."""
    name = re.sub(r"(?i)^(nvidia|geforce|tesla|\s)+", "", gpu).replace(" ", "")
    least, larger = _LARGER.get(name.upper(), (0, name))
    return larger if memory is not None and memory >= least else name


def _name(text: str) -> str:
    """A job's name: letters, digits and single dashes."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-") or "campaign"
