"""A Hub that sends one file as fast as the kernel can: a process of its own, bytes by sendfile.

    .venv/bin/python -m tests.bench.fast_hub FILE [--port PORT] [--certificate FILE]

It prints its address. Any path is FILE; ranges and HEAD are answered as the Hub does. With a certificate it speaks TLS.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

RANGE = re.compile(rb"\r\n[Rr]ange: bytes=(\d+)-(\d*)")
PIECE = 1 << 24
RECORDS = 1 << 18
"""Bytes that are encrypted at once."""


@contextlib.contextmanager
def fast_hub(file: Path, before: Sequence[str] = (), certificate: Path | None = None) -> Iterator[str]:
    """Such a Hub for ``file``; gives its address. ``before``: words before its command."""
    command = [*before, sys.executable, "-m", "tests.bench.fast_hub", str(file)]
    command += ["--certificate", str(certificate)] if certificate else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def main() -> int:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description="A Hub with one file, as fast as the kernel can.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--certificate", type=Path, help="certificate and key")
    arguments = parser.parse_args()
    with arguments.file.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    listener = socket.create_server(("127.0.0.1", arguments.port), backlog=64)
    context = None
    if arguments.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.certificate)
    print(f"http{'s' if context else ''}://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, context, arguments.file, digest), daemon=True).start()


def serve(client: socket.socket, context: ssl.SSLContext | None, path: Path, digest: str) -> None:
    """Answer all requests of one connection."""
    with contextlib.suppress(OSError):
        answer_all(context.wrap_socket(client, server_side=True) if context else client, path, digest)


def answer_all(client: socket.socket, path: Path, digest: str) -> None:
    """Until the client has gone."""
    pending = b""
    with client, path.open("rb") as file:
        while True:
            while b"\r\n\r\n" not in pending:
                data = client.recv(65536)
                if not data:
                    return
                pending += data
            head, _, pending = pending.partition(b"\r\n\r\n")
            start, end, text = answer_to(head, os.fstat(file.fileno()).st_size, digest)
            client.sendall(text)
            while start < end:
                start += send(client, file.fileno(), start, end)


def send(client: socket.socket, file: int, start: int, end: int) -> int:
    """Some bytes of ``file``; gives how many."""
    if not isinstance(client, ssl.SSLSocket):
        return os.sendfile(client.fileno(), file, start, min(end - start, PIECE))
    data = os.pread(file, min(end - start, RECORDS), start)
    client.sendall(data)
    return len(data)


def answer_to(head: bytes, size: int, digest: str) -> tuple[int, int, bytes]:
    """First byte and end of the body, and the head of the answer."""
    found = RANGE.search(head)
    start = int(found[1]) if found else 0
    end = int(found[2]) + 1 if found and found[2] else size
    lines = [
        "HTTP/1.1 206 Partial Content" if found else "HTTP/1.1 200 OK",
        f'ETag: "{digest}"',
        f'X-Linked-Etag: "{digest}"',
        f"X-Linked-Size: {size}",
        "X-Repo-Commit: 0123456789abcdef0123456789abcdef01234567",
        f"Content-Length: {end - start}",
    ]
    if found:
        lines.append(f"Content-Range: bytes {start}-{end - 1}/{size}")
    text = "\r\n".join([*lines, "", ""]).encode()
    return (0, 0, text) if head.startswith(b"HEAD") else (start, end, text)


if __name__ == "__main__":
    sys.exit(main())
