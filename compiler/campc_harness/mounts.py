"""What kind of file system a folder is on."""

from __future__ import annotations

import os
from pathlib import Path

NETWORK = frozenset(
    "nfs nfs4 cifs smb3 smbfs ceph glusterfs lustre gpfs beegfs 9p virtiofs afs orangefs wekafs".split()
)
MEMORY = frozenset({"tmpfs", "ramfs"})


def file_system(path: str | os.PathLike[str], table: str = "/proc/self/mountinfo") -> str:
    """Type of the file system that `path`, or its nearest folder that exists, is on: `ext4`, `nfs4`, `fuse.s3fs`, …

    Empty where it can't be known.
    """
    place = Path(path).absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    place = place.resolve()
    best, kind = -1, ""
    try:
        lines = Path(table).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    for line in lines:
        fields = line.split()
        mount = Path(fields[4].encode().decode("unicode_escape"))
        # Later mounts cover earlier ones at the same place.
        if (place == mount or mount in place.parents) and len(mount.parts) >= best:
            best, kind = len(mount.parts), fields[fields.index("-") + 1]
    return kind


def needs_reading_back(kind: str) -> bool:
    """Whether an fsync there proves little, so that what was written must be read again: network mounts and FUSE."""
    return kind in NETWORK or kind == "fuse" or kind.startswith("fuse.") or kind == "fuseblk"
