"""Checkpoints in an object store, through fsspec: data first, then the manifest, which is what counts.

```text
URL/.claims/000003                                   one for each attempt, made only where no such number is
URL/step-000000100/attempt-000003/rank-00000.bin     data, below the attempt's own prefix
URL/step-000000100/MANIFEST.json                     the commit; names the prefix
```
"""

from __future__ import annotations

import contextlib
import io
import os
import secrets
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from campc_harness import manifest
from campc_harness.errors import Damaged, Misconfigured, Superseded

BLOCK = 16 * 2**20
PATIENCE_S = 240.0


class RemoteStorage:
    """A `Storage` behind a URL.

    Args:
        url: where; its scheme chooses the fsspec implementation, whose own environment variables give the credentials.

    Raises:
        Misconfigured: fsspec or the scheme's package isn't installed.
    """

    patience_s = PATIENCE_S
    distant = True

    def __init__(self, url: str) -> None:
        try:
            import fsspec

            # Listings are never taken from memory: other attempts write here too.
            self._system, root = fsspec.core.url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
        except ImportError as error:
            raise Misconfigured(f"{url} needs a package that isn't installed: {error}") from error
        except ValueError as error:
            raise Misconfigured(f"{url} can't be opened: {error}") from error
        self._root = root.rstrip("/")
        self._claim = 0
        self._first = False
        self.unread = False
        self._nonce = secrets.token_hex(8)

    def claim(self) -> int:
        with _network():
            number = max(self._claims(), default=0) + 1
            while not self._create(_claim_file(number), self._nonce.encode()):
                number += 1
            self._claim, self._first = number, True
            self._clear(number)
            return number

    def sees(self, claim: int) -> bool:
        with _network():
            return max(self._claims(), default=0) >= claim

    def join(self, claim: int) -> None:
        self._claim = claim

    def prefix(self) -> str:
        return f"attempt-{self._claim:06d}"

    def committed(self) -> list[str]:
        with _network():
            steps = {}
            for path in self._find(""):
                name, _, file = path.partition("/")
                step = manifest.step_of(name)
                if step is not None and file == manifest.NAME:
                    steps[step] = name
            return [name for _, name in sorted(steps.items(), reverse=True)]

    def write(self, step: int, name: str, produce: Callable[[Callable[[memoryview], None]], None]) -> None:
        path = self._path(f"{manifest.folder_name(step)}/{self.prefix()}/{name}")
        size = 0
        with _network():
            with self._system.open(path, "wb", block_size=BLOCK) as stream:

                def put(chunk: memoryview) -> None:
                    nonlocal size
                    size += len(chunk)
                    stream.write(chunk)

                produce(put)
            found = self._system.info(path)["size"]
        if found != size:
            raise OSError(f"{name} of step {step} has {found} bytes at {self._root}, of {size} that were sent")

    def pending(self, step: int, name: str) -> bytes | None:
        with _network():
            self._require_claim()
            return self._read(f"{manifest.folder_name(step)}/{self.prefix()}/{name}")

    def commit(self, step: int, content: bytes, drop: list[str]) -> str:
        name = manifest.folder_name(step)
        with _network():
            for file in drop:
                with contextlib.suppress(FileNotFoundError):
                    self._system.rm_file(self._path(f"{name}/{self.prefix()}/{file}"))
            self._require_claim()
            if not self._create(f"{name}/{manifest.NAME}", content):
                if self._read(f"{name}/{manifest.NAME}") == content:
                    return name  # an earlier try arrived, and only its answer was lost
                self.set_aside(name, "superseded")
                if not self._create(f"{name}/{manifest.NAME}", content):
                    raise Superseded(f"another attempt commits {name} too")
            # A claim that came between the look and the commit: the newer attempt is the one that counts.
            if not self._holds():
                self._system.rm_file(self._path(f"{name}/{manifest.NAME}"))
                raise Superseded("a newer attempt has claimed this run")
        return name

    def open(self, name: str, file: str) -> BinaryIO:
        with _network():
            place = file if file == manifest.NAME else f"{self._prefix_of(name)}/{file}"
            path = self._path(f"{name}/{place}")
            stream = self._system.open(path, "rb", block_size=BLOCK, cache_type="readahead")
            return cast(BinaryIO, _Reader(stream))

    def set_aside(self, name: str, why: str) -> None:
        with _network():
            self._require_claim()
            content = self._read(f"{name}/{manifest.NAME}")
            if content is None:
                return
            number = 1
            while not self._create(f"{name}/{why}-{number}.json", content):
                number += 1
            self._system.rm_file(self._path(f"{name}/{manifest.NAME}"))

    def delete(self, name: str) -> None:
        with _network():
            self._require_claim()
            folder = f"{name}/{self._prefix_of(name)}"
            # The manifest first: what is left halfway doesn't count. Beside it may be what was set aside, which stays.
            self._system.rm_file(self._path(f"{name}/{manifest.NAME}"))
            for path in self._find(folder):
                self._system.rm_file(self._path(f"{folder}/{path}"))

    def abandon(self, step: int) -> None:
        with _network():
            folder = f"{manifest.folder_name(step)}/{self.prefix()}"
            for path in self._find(folder):
                self._system.rm_file(self._path(f"{folder}/{path}"))

    def parts(self) -> list[str]:
        with _network():
            return sorted(self._find("items"))

    def read_part(self, name: str) -> bytes:
        with _network():
            content = self._read(f"items/{name}")
        if content is None:
            raise FileNotFoundError(f"part {name} is gone")
        return content

    def write_part(self, name: str, content: bytes) -> None:
        with _network():
            self._require_claim()
            self._system.pipe_file(self._path(f"items/{self._claim:06d}-{name}"), content)

    def free_bytes(self) -> int | None:
        return None

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _find(self, name: str) -> Iterator[str]:
        root = self._path(name)
        with contextlib.suppress(FileNotFoundError):
            for path in self._system.find(root):
                relative = str(path)[len(root) :].lstrip("/")
                if relative:
                    yield relative

    def _read(self, name: str) -> bytes | None:
        try:
            return bytes(self._system.cat_file(self._path(name)))
        except FileNotFoundError:
            return None

    def _create(self, name: str, content: bytes) -> bool:
        """Write an object only where there is none; whether it was written.

        Stores that can create conditionally do; for others, a look before and a reading after come as near as possible.
        """
        path = self._path(name)
        if self._system.exists(path):
            return False
        try:
            self._system.pipe_file(path, content, mode="create")
        except FileExistsError:
            return False
        except (TypeError, NotImplementedError):
            self._system.pipe_file(path, content)
        return self._read(name) == content

    def _prefix_of(self, name: str) -> str:
        content = self._read(f"{name}/{manifest.NAME}")
        if content is None:
            raise FileNotFoundError(f"{name} has no manifest")
        return str(manifest.parse(content).facts.get("prefix") or self.prefix())

    def _claims(self) -> list[int]:
        return [int(path) for path in self._find(".claims") if path.isdigit()]

    def _holds(self) -> bool:
        if max(self._claims(), default=0) > self._claim:
            return False
        # Where a store can't create conditionally, two may have made the same claim; the one that is there counts.
        return not self._first or self._read(_claim_file(self._claim)) == self._nonce.encode()

    def _clear(self, number: int) -> None:
        """Remove what older attempts wrote and never committed."""
        files: dict[str, list[str]] = {}
        for path in self._find(""):
            name, _, rest = path.partition("/")
            if manifest.step_of(name) is not None:
                files.setdefault(name, []).append(rest)
        for name, rests in files.items():
            # With a manifest, or one that was set aside, the bytes are somebody's.
            if all("/" in rest and rest < f"attempt-{number:06d}" for rest in rests):
                for rest in rests:
                    with contextlib.suppress(FileNotFoundError):
                        self._system.rm_file(self._path(f"{name}/{rest}"))

    def _require_claim(self) -> None:
        if not self._holds():
            raise Superseded("a newer attempt has claimed this run")


def _claim_file(number: int) -> str:
    return f".claims/{number:06d}"


class _Reader(io.RawIOBase):
    """An fsspec file whose faults are `OSError`."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with _network():
            return int(self._stream.seek(offset, whence))

    def readinto(self, buffer: Any) -> int:
        with _network():
            return int(self._stream.readinto(buffer))

    def read(self, size: int = -1) -> bytes:
        with _network():
            return bytes(self._stream.read(size))

    def close(self) -> None:
        self._stream.close()
        super().close()


class _network:
    """Turns what network clients raise into `OSError`, so that it is tried again; a refusal stays one."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, (OSError, Superseded, Damaged, Misconfigured)):
            return
        if not isinstance(error, Exception):
            return
        text = f"{type(error).__name__}: {error}"
        if any(word in text for word in ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "Credentials")):
            raise PermissionError(text) from error
        raise OSError(text) from error
