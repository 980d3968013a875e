"""Where the files that are not Python live: the grammar, the templates, the catalogs.

An installed campc carries them inside its package; in a checkout they stand at the root, where people look for them.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["resource", "resource_folder"]


def resource_folder(folder: str) -> str:
    """The path of one of campc's own data folders: ``grammar``, ``templates``, ``specs/catalogs`` or ``specs/new``.

    Raises:
        FileNotFoundError: neither the package nor a checkout around it has the folder, so the installation is broken.
    """
    package = os.path.dirname(os.path.realpath(__file__))
    for base in (package, os.path.dirname(os.path.dirname(package))):
        candidate = os.path.join(base, folder)
        if os.path.isdir(candidate):
            return candidate
    raise FileNotFoundError(f"campc's own folder {folder!r} is missing: the installation is incomplete")


def resource(folder: str) -> Path:
    """:func:`resource_folder` as a path.

    Raises:
        FileNotFoundError: as there.
    """
    from pathlib import Path

    return Path(resource_folder(folder))
