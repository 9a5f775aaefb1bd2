"""A Hub on this machine: the API, file metadata, bodies with ranges, and everything that goes wrong.

Two real HTTP servers in threads of the test process: the Hub itself and a storage host (another
port) for redirects. Every request is logged.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.fakes.hub_pages import HELD_S, HubPages, encoded

COMMIT = "0123456789abcdef0123456789abcdef01234567"
BLOCK = 16 * 1024
RESOLVE = re.compile(r"^/([^/]+/[^/]+)/resolve/([^/]+)/(.+)$")
API = re.compile(r"^/api/models/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+))?$")


@dataclass
class Refusal:
    """An answer with an error. ``times`` counts down; None refuses for ever."""

    status: int
    code: str = ""
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    times: int | None = None

    def take(self) -> bool:
        """Whether to refuse this time."""
        if self.times is None:
            return True
        self.times -= 1
        return self.times >= 0


@dataclass
class HubFile:
    """A file and how it is served. ``data`` is the truth, of which size and tag are told."""

    data: bytes
    body: bytes | None = None
    """Sent in place of ``data``."""
    etag: str = ""
    cut_after: int | None = None
    """Close the connection after so many bytes of a body."""
    cut_times: int | None = None
    """How often; None: each time."""
    pause_after: int | None = None
    """Send nothing more after so many bytes, with the connection open, until `LocalHub.release`."""
    bytes_per_s: float | None = None
    ignore_range: bool = False
    range_shift: int = 0
    """Answer a range from so many bytes later, and say so."""
    announce_length: bool = True
    told_size: int | None = None
    """Size in the metadata; None: the true one."""
    linked: bool = True
    """Large file: its tag is the sha256."""
    xet: bool = False
    """Chunked storage: the metadata name it, with addresses that nobody should need to ask."""
    storage: bool = False
    """Bodies come from the storage host by a redirect."""
    served_tags: tuple[str, ...] = ()
    """Tags of the bodies, one after the other, in place of the true one; the last one stays."""
    needs_token: str = ""
    """Gated: who comes without this token is refused, by the Hub itself."""
    refusal: Refusal | None = None
    body_refusal: Refusal | None = None
    """Only for GET."""
    storage_refusal: Refusal | None = None
    """Only by the storage host, as when a signed address has run out."""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def tag(self) -> str:
        return self.etag or (self.sha256 if self.linked else hashlib.sha1(self.data).hexdigest())

    def next_tag(self) -> str:
        """Of the next body."""
        if self.served_tags:
            first, *rest = self.served_tags
            self.served_tags = tuple(rest) or (first,)
            return first
        return f"storage-{self.tag}" if self.storage else self.tag

    @property
    def size(self) -> int:
        return len(self.data) if self.told_size is None else self.told_size


@dataclass(frozen=True)
class Logged:
    """One request."""

    server: str
    method: str
    path: str
    range: str | None
    if_range: str | None
    authorization: bool
    at: float


class LocalHub:
    """Use as a context manager; `url` is what ``HF_ENDPOINT`` should be."""

    def __init__(self) -> None:
        self.repos: dict[str, dict[str, HubFile]] = {}
        self.info: dict[str, dict[str, Any]] = {}
        """Overrides of the API's JSON by repository."""
        self.refusals: dict[str, Refusal] = {}
        """Of the API, by repository."""
        self.renamed: dict[str, str] = {}
        self.accounts: dict[str, str] = {}
        """Names of accounts by their tokens."""
        self.pages = HubPages()
        self.log: list[Logged] = []
        self.sent: dict[str, int] = {}
        """Body bytes sent, by path in the repository."""
        self._gate = threading.Event()
        self._lock = threading.Lock()
        self._hub = _Server(self, "hub")
        self._storage = _Server(self, "storage")

    def __enter__(self) -> LocalHub:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.release()
        self.pages.release()
        for server in (self._hub, self._storage):
            server.shutdown()
            server.server_close()

    @property
    def url(self) -> str:
        return self._hub.url

    @property
    def storage_url(self) -> str:
        return self._storage.url

    def add(self, repo: str, path: str, data: bytes, **knobs: Any) -> HubFile:
        """Put a file into a repository."""
        file = HubFile(data, **knobs)
        self.repos.setdefault(repo, {})[path] = file
        return file

    def release(self) -> None:
        """Let paused bodies go on."""
        self._gate.set()

    def hold(self) -> None:
        """Pause bodies again at their mark."""
        self._gate.clear()

    def wait_released(self) -> None:
        self._gate.wait(HELD_S)

    def requests(self, method: str = "GET", path: str = "", server: str = "") -> list[Logged]:
        """Logged requests whose path ends with ``path``."""
        with self._lock:
            entries = list(self.log)
        return [e for e in entries if e.method == method and e.path.endswith(path) and server in ("", e.server)]

    def note(self, entry: Logged) -> None:
        with self._lock:
            self.log.append(entry)

    def count(self, path: str, n_bytes: int) -> None:
        with self._lock:
            self.sent[path] = self.sent.get(path, 0) + n_bytes


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: LocalHub, name: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner
        self.name = name
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *args: object) -> None:
        """Requests are logged by `LocalHub.note`."""

    def do_HEAD(self) -> None:
        self._route(head=True)

    def do_GET(self) -> None:
        self._route(head=False)

    def _route(self, *, head: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        get = self.headers.get
        self.server.owner.note(
            Logged(
                self.server.name,
                self.command,
                path,
                get("Range"),
                get("If-Range"),
                get("Authorization") is not None,
                time.monotonic(),
            )
        )
        time.sleep(self.server.owner.pages.latency_s)
        if path == "/api/models":
            self.server.owner.pages.serve(self)
        elif path == "/api/whoami-v2":
            self._whoami()
        elif api := API.match(path):
            self._api(api[1], api[2] == "tree")
        elif found := RESOLVE.match(path):
            self._file(found[1], found[3], head)
        else:
            self._refuse(Refusal(404))

    # ---- API

    def _whoami(self) -> None:
        name = self.server.owner.accounts.get(self._token())
        if name is None:
            self._refuse(Refusal(401, "", "Invalid credentials in Authorization header"))
        else:
            self._send_json({"type": "user", "name": name})

    def _token(self) -> str:
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def _api(self, repo: str, tree: bool) -> None:
        owner = self.server.owner
        if repo in owner.renamed:
            self._send_empty(307, {"Location": f"/api/models/{owner.renamed[repo]}"})
            return
        refusal = owner.refusals.get(repo)
        if refusal and refusal.take():
            self._refuse(refusal)
        elif repo not in owner.repos and repo not in owner.info:
            self._refuse(Refusal(401, "RepoNotFound", "Repository not found"))
        else:
            self._send_json(_tree(owner, repo) if tree else _info(owner, repo))

    def _send_json(self, value: object, headers: Mapping[str, str] = MappingProxyType({})) -> None:
        data = encoded(value)
        self.send_response(200)
        for name, told in headers.items():
            self.send_header(name, told)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.server.owner.pages.send(self, data)

    def _refuse(self, refusal: Refusal) -> None:
        headers = dict(refusal.headers)
        if refusal.code:
            headers["X-Error-Code"] = refusal.code
        if refusal.message:
            headers["X-Error-Message"] = refusal.message
        self._send_empty(refusal.status, headers, b"the body of an error, which is no model")

    def _send_empty(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    # ---- files

    def _file(self, repo: str, path: str, head: bool) -> None:
        owner = self.server.owner
        if repo in owner.renamed:
            place = urlsplit(self.path).path.replace(repo, owner.renamed[repo], 1)
            self._send_empty(307, {"Location": place})
            return
        file = owner.repos.get(repo, {}).get(path)
        if file is None:
            missing = "EntryNotFound" if repo in owner.repos else "RepoNotFound"
            self._refuse(Refusal(404, missing))
        elif file.refusal and file.refusal.take():
            self._refuse(file.refusal)
        elif file.needs_token and self.server.name == "hub" and self._token() != file.needs_token:
            self._refuse(Refusal(403 if self._token() else 401, "GatedRepo"))
        elif file.storage_refusal and self.server.name == "storage" and file.storage_refusal.take():
            self._refuse(file.storage_refusal)
        elif not head and file.body_refusal and file.body_refusal.take():
            self._refuse(file.body_refusal)
        elif self.server.name == "hub" and (head or file.storage):
            self._metadata(file)
        else:
            with contextlib.suppress(OSError):
                self._body(path, file)

    def _metadata(self, file: HubFile) -> None:
        self.send_response(302 if file.storage else 200)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Accept-Ranges", "bytes")
        if file.linked:
            self.send_header("X-Linked-Size", str(file.size))
            self.send_header("X-Linked-Etag", f'"{file.tag}"')
        if file.xet:
            self.send_header("X-Xet-Hash", hashlib.sha256(b"xet" + file.data).hexdigest())
            self.send_header("Link", f'<{self.server.owner.url}/api/xet-token>; rel="xet-auth"')
        if file.storage:
            self.send_header("Location", self.server.owner.storage_url + self.path)
            self.send_header("Content-Length", "0")
        else:
            self.send_header("ETag", f'"{file.tag}"')
            self.send_header("Content-Length", str(file.size))
        self.end_headers()

    def _body(self, path: str, file: HubFile) -> None:
        data = file.data if file.body is None else file.body
        tag = f'"{file.next_tag()}"'
        start, end = self._range(file, tag)
        if start >= len(data) and start:
            self._send_empty(416, {"Content-Range": f"bytes */{len(data)}"})
            return
        wanted = start > 0 or end is not None
        end = len(data) if end is None else min(end, len(data))
        start += file.range_shift if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("ETag", tag)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        if file.announce_length:
            self.send_header("Content-Length", str(end - start))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self._stream(path, file, data[start:end])

    def _range(self, file: HubFile, tag: str) -> tuple[int, int | None]:
        """Where the wanted bytes begin and end; the end is None where it was not named."""
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if match is None or file.ignore_range or self.headers.get("If-Range") not in (None, tag):
            return 0, None
        return int(match[1]), int(match[2]) + 1 if match[2] else None

    def _stream(self, path: str, file: HubFile, data: bytes) -> None:
        owner = self.server.owner
        cut = self._cut(file)
        sent = 0
        while sent < len(data):
            if cut is not None and sent >= cut:
                self.close_connection = True
                return
            if file.pause_after is not None and sent >= file.pause_after:
                owner.wait_released()
            marks = [mark - sent for mark in (cut, file.pause_after) if mark is not None and mark > sent]
            block = data[sent : sent + min([BLOCK, *marks])]
            self.wfile.write(block)
            owner.count(path, len(block))
            sent += len(block)
            if file.bytes_per_s:
                time.sleep(len(block) / file.bytes_per_s)

    @staticmethod
    def _cut(file: HubFile) -> int | None:
        if file.cut_after is None or file.cut_times is None:
            return file.cut_after
        file.cut_times -= 1
        return file.cut_after if file.cut_times >= 0 else None


def _info(owner: LocalHub, repo: str) -> object:
    override = owner.info.get(repo, {})
    if "raw" in override:
        return override["raw"]
    siblings = [
        {
            "rfilename": path,
            "size": file.size,
            "blobId": hashlib.sha1(file.data).hexdigest(),
            **({"lfs": {"sha256": file.sha256, "size": file.size, "pointerSize": 134}} if file.linked else {}),
        }
        for path, file in owner.repos.get(repo, {}).items()
    ]
    return {"id": repo, "sha": COMMIT, "gated": False, "private": False, "siblings": siblings, **override}


def _tree(owner: LocalHub, repo: str) -> object:
    return [
        {"type": "file", "path": path, "size": file.size, "oid": hashlib.sha1(file.data).hexdigest()}
        for path, file in owner.repos.get(repo, {}).items()
    ]
