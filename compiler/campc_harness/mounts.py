"""What kind of file system a folder is on."""

from __future__ import annotations

import os
import re
from pathlib import Path

NETWORK = frozenset(
    "nfs nfs4 cifs smb3 smbfs ceph glusterfs lustre gpfs beegfs 9p virtiofs afs kafs pvfs2 orangefs wekafs panfs".split()
)
MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})
_OCTAL = re.compile(r"\\([0-7]{3})")


def file_system(path: str | os.PathLike[str], table: str = "/proc/self/mountinfo") -> str:
    """Type of the file system that `path`, or its nearest folder that exists, is on: `ext4`, `nfs4`, `fuse.s3fs`, …

    Empty where it can't be known.
    """
    try:
        text = Path(table).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    return mounted(text, _nearest(path).resolve())[1]


def mounted(table: str, place: Path) -> tuple[str, str]:
    """Where the mount that `place` lies on is mounted, and its type, by the text of a mountinfo table; empty where none fits.

    The format is that of proc(5): a mount's place is the fifth field, blanks in it written in octal; its type follows the
    dash that ends the optional fields.
    """
    best, found = -1, ("", "")
    for line in table.split("\n"):
        fields = line.split(" ")
        if len(fields) < 7 or "-" not in fields[6:-1]:
            continue
        mount = Path(_OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4]))
        # Later mounts cover earlier ones at the same place.
        if (place == mount or mount in place.parents) and len(mount.parts) >= best:
            best, found = len(mount.parts), (str(mount), fields[fields.index("-", 6) + 1])
    return found


def needs_reading_back(kind: str) -> bool:
    """Whether an fsync there proves little, so that what was written must be read again: network mounts and FUSE."""
    return kind in NETWORK or kind == "fuse" or kind.startswith("fuse.") or kind == "fuseblk"


def survives(place: str) -> bool:
    """Whether what is written to a folder or URL can outlive the machine: not where it lies in the machine's memory."""
    if "://" in place and not place.startswith("file://"):
        return True
    return file_system(place.removeprefix("file://")) not in MEMORY


def same_disk(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two folders, or the nearest ones above them that exist, are on the same file system."""
    return _nearest(one).stat().st_dev == _nearest(other).stat().st_dev


def _nearest(path: str | os.PathLike[str]) -> Path:
    place = Path(path).absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return place
