"""Keeps one comment on a pull request of GitHub: writes it, and rewrites it at the next push.

usage: comment.py NUMBER FILE

Reads TOKEN, GITHUB_REPOSITORY and GITHUB_API_URL. With an empty file a comment that is there says that nothing differs any
more, and none is begun. Where the token may not write, as on a pull request from a fork, that is a warning and no failure.
Exit status: 0, or 2 where GitHub can't be reached.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

MARK = "<!-- campc diff -->"
PAGE = 100


def call(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """One request to the API.

    Raises:
        urllib.error.URLError: it failed; ``HTTPError`` where the server refused.
    """
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    request = urllib.request.Request(
        f"{api}/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {os.environ['TOKEN']}",
            "Content-Type": "application/json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def author() -> str | None:
    """Who the token belongs to; None for a job's own, which is a bot's and may not ask."""
    try:
        return str(call("GET", "user")["login"])
    except urllib.error.HTTPError:
        return None


def ours(repository: str, number: int) -> int | None:
    """The identifier of the comment that begins with the mark and is our own: anybody could write the mark."""
    me = author()
    page = 1
    while True:
        comments = call("GET", f"{repository}/issues/{number}/comments?per_page={PAGE}&page={page}")
        for comment in comments:
            user = comment.get("user") or {}
            mine = user.get("type") == "Bot" if me is None else user.get("login") == me
            if mine and (comment.get("body") or "").startswith(MARK):
                return int(comment["id"])
        if len(comments) < PAGE:
            return None
        page += 1


def main(number: str, file: str) -> int:
    """Write the comment."""
    text = Path(file).read_text(encoding="utf-8")
    repository = f"repos/{os.environ['GITHUB_REPOSITORY']}"
    try:
        known = ours(repository, int(number))
        if known is not None:
            call(
                "PATCH",
                f"{repository}/issues/comments/{known}",
                {"body": f"{MARK}\n{text or 'No plan differs any more.'}"},
            )
        elif text:
            call("POST", f"{repository}/issues/{int(number)}/comments", {"body": f"{MARK}\n{text}"})
    except urllib.error.HTTPError as refused:
        if refused.code in (401, 403, 404):
            sys.stdout.write(
                f"::warning::the comment can't be written ({refused.code}): the job needs the permission pull-requests: write, which "
                "a pull request from a fork doesn't get; the job's summary says the same\n"
            )
            return 0
        sys.stdout.write(f"::error::the comment can't be written: GitHub answers {refused.code}\n")
        return 2
    except (urllib.error.URLError, TimeoutError) as fault:
        reason = str(getattr(fault, "reason", fault)).replace("\n", " ")
        sys.stdout.write(f"::error::the comment can't be written: {reason}\n")
        return 2
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1].isdigit():
        raise SystemExit("usage: comment.py NUMBER FILE")
    raise SystemExit(main(*sys.argv[1:]))
