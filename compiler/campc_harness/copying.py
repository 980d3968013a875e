"""Bringing files to another place, local or behind a URL, and making sure that they arrived."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from pathlib import Path
from typing import Any


class CopyError(Exception):
    """A copy that could not be made or verified; the text says why and what to do."""


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def deliver(source: Path, to: str, name: str) -> str:
    """Copy one file to the folder or URL `to` as `name`, verify it there, and say where it is.

    Raises:
        CopyError: it could not be written, or what is there afterwards is something else.
    """
    if "://" in to and not to.startswith("file://"):
        return _deliver_url(source, f"{to.rstrip('/')}/{name}")
    target = Path(to.removeprefix("file://")) / name
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(source, "rb") as reader, open(temporary, "wb") as writer:
            shutil.copyfileobj(reader, writer, 1 << 20)
            writer.flush()
            os.fsync(writer.fileno())
        if sha256(temporary) != sha256(source):
            raise CopyError(f"what was written to {target} differs from the source: is the disk sound?")
        os.replace(temporary, target)
    except OSError as error:
        raise CopyError(f"can't write to {to} ({error.strerror}): free room there, or give another `to`") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return str(target)


def fetch(to: str, name: str, target: Path) -> bool:
    """Copy the file `name` of the folder or URL `to` to `target`; False where it isn't there or can't be reached."""
    try:
        if "://" in to and not to.startswith("file://"):
            system, path = _filesystem(f"{to.rstrip('/')}/{name}")
            system.get_file(path, str(target))
        else:
            shutil.copyfile(Path(to.removeprefix("file://")) / name, target)
    except Exception:
        return False
    return True


def probe(to: str) -> None:
    """Write a small file to `to`, read it back and delete it.

    Raises:
        CopyError: one of the three failed.
    """
    name, content = f".campc-probe-{os.getpid()}", os.urandom(64)
    try:
        if "://" in to and not to.startswith("file://"):
            system, root = _filesystem(to)
            system.pipe_file(f"{root}/{name}", content)
            back = system.cat_file(f"{root}/{name}")
            system.rm_file(f"{root}/{name}")
        else:
            folder = Path(to.removeprefix("file://"))
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
            back = (folder / name).read_bytes()
            (folder / name).unlink()
    except CopyError:
        raise
    except Exception as error:
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise CopyError(f"a file can't be written, read and deleted at {to} ({text})") from error
    if back != content:
        raise CopyError(f"what is read back at {to} is not what was written")


def _deliver_url(source: Path, url: str) -> str:
    system, path = _filesystem(url)
    try:
        system.put_file(str(source), path)
        size = system.info(path)["size"]
    except Exception as error:
        raise CopyError(f"can't write to {url} ({type(error).__name__}: {error})") from error
    if size != source.stat().st_size:
        raise CopyError(f"{url} holds {size} bytes where {source.stat().st_size} were sent")
    return url


def _filesystem(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise CopyError(f"{url} needs fsspec: pip install fsspec (and s3fs, gcsfs, …)") from error
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise CopyError(f"{url} can't be opened: {error}") from error
    return system, path.rstrip("/")
