"""A plain HTTP proxy on this machine: forwards what it is asked for, and remembers it."""

from __future__ import annotations

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

PASSED_ON = {"range", "if-range", "authorization", "accept-encoding", "user-agent"}


class LocalProxy:
    """Use as a context manager. ``hosts`` says at which address a host is found in truth."""

    def __init__(self, hosts: dict[str, str]) -> None:
        self.hosts = hosts
        self.asked: list[str] = []
        self._server = _Server(self)

    def __enter__(self) -> LocalProxy:
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: LocalProxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *args: object) -> None:
        """`LocalProxy.asked` is enough."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.server.owner.asked.append(f"{self.command} {parts.netloc}")
        there = urlsplit(self.server.owner.hosts[parts.netloc]).netloc
        link = http.client.HTTPConnection(there, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() in PASSED_ON}
        link.request(self.command, parts.path + (f"?{parts.query}" if parts.query else ""), headers=headers)
        answer = link.getresponse()
        data = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        link.close()

    def do_HEAD(self) -> None:
        self.do_GET()
