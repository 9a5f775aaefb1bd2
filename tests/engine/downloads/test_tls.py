"""Over TLS, where the bytes are read from the connection itself too."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from tests.engine.downloads.conftest import FILE, REPO, content, fail, fetch_request, finish
from tests.fakes.certificate import make_certificate
from tests.fakes.local_hub import LocalHub

SIZE = 40 * (1 << 20) + 77


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return make_certificate(tmp_path / "certificate.pem")


@pytest.fixture
def tls_hub(hub: LocalHub, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> LocalHub:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    hub._hub.socket = context.wrap_socket(hub._hub.socket, server_side=True)
    hub._hub.url = hub._hub.url.replace("http:", "https:")
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    return hub


@pytest.mark.parametrize("connections", [1, 2])
def test_the_file_comes_whole(
    tls_hub: LocalHub, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connections: int
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    file = tls_hub.add(REPO, FILE, content(SIZE))
    assert finish(fetch_request(tmp_path, connections=connections)).sha256 == file.sha256
    assert tls_hub.sent[FILE] == SIZE


def test_a_certificate_that_nobody_vouches_for_is_refused(tls_hub: LocalHub, tmp_path: Path) -> None:
    tls_hub.add(REPO, FILE, content(1000))
    assert fail(fetch_request(tmp_path)).code == "hub-unreachable"
    assert tls_hub.log == []
