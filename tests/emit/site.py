"""A Slurm on loopback: its own ports, folders and keys; started by a test, stopped after it. Both its nodes are this machine."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

NODES = ("node0", "node1")
# A machine that is busy with other tests starts a Python slowly.
PATIENCE_S = 150.0
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "scancel")

# `pair` has both nodes, the others one: what runs in `requeues`, `cancels` or `warns` gives way at once to what is submitted to `urgent`;
# `warns` leaves it a while and says so first.
CONFIGURATION = """\
ClusterName=campc
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={root}/munge/socket
SlurmctldPort={controller_port}
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool-%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0,batch_sched_delay=0
SlurmctldParameters=preempt_send_user_signal
SlurmdParameters=config_overrides
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
RequeueExit=75
ReturnToService=2
KillWait=20
MessageTimeout=20
MinJobAge=600
GresTypes=gpu
NodeName=DEFAULT CPUs=2 RealMemory=65536 Gres=gpu:1 State=UNKNOWN
NodeName=node0 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[0]}
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]}
PartitionName=plain Nodes=node0 Default=YES MaxTime=UNLIMITED PriorityTier=1 PreemptMode=OFF State=UP
PartitionName=requeues Nodes=node0 MaxTime=UNLIMITED PriorityTier=1 PreemptMode=REQUEUE State=UP
PartitionName=cancels Nodes=node0 MaxTime=UNLIMITED PriorityTier=1 PreemptMode=CANCEL State=UP
PartitionName=warns Nodes=node0 MaxTime=UNLIMITED PriorityTier=1 PreemptMode=CANCEL GraceTime=30 State=UP
PartitionName=pair Nodes=node[0-1] MaxTime=UNLIMITED PriorityTier=1 PreemptMode=OFF State=UP
PartitionName=urgent Nodes=node0 MaxTime=UNLIMITED PriorityTier=10 PreemptMode=OFF State=UP
"""


def missing() -> str | None:
    """Why no Slurm can be started here, or None."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    if absent:
        return f"no {', '.join(absent)}: apt-get install slurm-wlm munge (tools/setup.sh does it as root)"
    if os.geteuid() != 0:
        return "slurmd starts jobs as the users that submit them, which takes root"
    return None


class Site:
    """The daemons, and the commands that talk to them."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="campc-slurm-"))
        self.root.chmod(0o755)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH", "CAMPC"))},
            "PATH": _path(),
            "SLURM_CONF": str(self.root / "slurm.conf"),
        }
        self._daemons: list[subprocess.Popen[bytes]] = []
        try:
            self._munge()
            self._slurm()
        except BaseException:
            self.close()
            raise

    def _munge(self) -> None:
        folder = self.root / "munge"
        folder.mkdir(mode=0o755)
        key = folder / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        for path in (folder, key):
            shutil.chown(path, "munge", "munge")
        arguments = [f"--{name}={folder / what}" for name, what in _MUNGE.items()]
        self._start("munge", ["munged", "--foreground", *arguments], user="munge", group="munge")
        self.until(lambda: (folder / "socket").exists(), 10, "munged")

    def _slurm(self) -> None:
        host = platform.node().split(".")[0]
        controller, *ports = _free_ports(1 + len(NODES))
        text = CONFIGURATION.format(host=host, root=self.root, controller_port=controller, ports=ports)
        (self.root / "slurm.conf").write_text(text)
        (self.root / "gres.conf").write_text("Name=gpu File=/dev/null\n")
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (self.root / name).mkdir()
        self._start("slurmctld", ["slurmctld", "-D", "-c"])
        for node in NODES:
            self._start(node, ["slurmd", "-D", "-N", node])
        idle = ["sinfo", "-h", "-p", "pair", "-t", "idle", "-o", "%D"]
        self.until(lambda: self.command(*idle, check=False) == str(len(NODES)), PATIENCE_S, "the nodes")

    def _start(self, name: str, argv: list[str], **more: str) -> None:
        with open(self.root / f"{name}.out", "wb") as output:
            self._daemons.append(
                subprocess.Popen(
                    argv, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, **more
                )
            )

    def command(
        self, *argv: str, check: bool = True, cwd: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> str:
        """What a command of Slurm prints."""
        done = subprocess.run(
            argv,
            cwd=cwd,
            env={**self.environment, **(environment or {})},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        assert not check or done.returncode == 0, f"{argv}: {done.stdout}\n{self.logs()}"
        return done.stdout.strip()

    def job(self, number: str) -> dict[str, str]:
        """What `scontrol show job` says of a job."""
        words = self.command("scontrol", "show", "job", "-o", number, check=False).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def jobs(self) -> list[str]:
        """The numbers of all jobs that Slurm remembers, in order."""
        return sorted(self.command("squeue", "-h", "-t", "all", "-o", "%i").split(), key=int)

    def now(self, number: str) -> None:
        """Don't keep a requeued job waiting: Slurm would for two minutes."""
        self.until(lambda: self.job(number).get("JobState") == "PENDING", PATIENCE_S, f"job {number} in the queue")
        # Its old credential was revoked a moment ago, to the second: a new one must be younger.
        time.sleep(2)
        self.command("scontrol", "update", f"JobId={number}", "StartTime=now")

    def until(self, holds: Callable[[], object], patience: float, what: str) -> None:
        """Wait until `holds()` is true."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if holds():
                return
            assert all(daemon.poll() is None for daemon in self._daemons), f"a daemon has ended\n{self.logs()}"
            time.sleep(0.2)
        raise AssertionError(f"{what}: not within {patience} s\n{self.logs()}")

    def logs(self) -> str:
        """The ends of what the daemons said."""
        files = [*self.root.glob("*.log"), *self.root.glob("*.out"), *self.root.glob("munge/log")]
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')[-3000:]}" for path in files)

    def close(self) -> None:
        """End every job and every daemon, and remove all that they left."""
        if len(self._daemons) == 2 + len(NODES):
            for number in self.command("squeue", "-h", "-o", "%i", check=False).split():
                self.command("scancel", "--signal=KILL", "--full", number, check=False)
                self.command("scancel", number, check=False)
        for daemon in reversed(self._daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in reversed(self._daemons):
            try:
                daemon.wait(15)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.root, ignore_errors=True)


_MUNGE = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}


def _path() -> str:
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
