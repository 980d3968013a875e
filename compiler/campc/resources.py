"""Where the files that are not Python live: the grammar, the templates, the catalogs.

An installed campc carries them inside its package; in a checkout they stand at the root, where people look for them.
"""

from pathlib import Path

__all__ = ["resource"]


def resource(folder: str) -> Path:
    """The folder of campc's own data files: ``grammar``, ``templates``, ``specs/catalogs`` or ``specs/new``.

    Raises:
        FileNotFoundError: neither the package nor a checkout around it has the folder, so the installation is broken.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / folder, package.parent.parent / folder):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"campc's own folder {folder!r} is missing: the installation is incomplete")
