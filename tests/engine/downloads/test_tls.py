"""Over TLS, where the bytes are read from the connection itself too."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.engine.downloads.conftest import FILE, REPO, content, fail, fetch_request, finish
from tests.fakes.local_hub import LocalHub

SIZE = 40 * (1 << 20) + 77


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Certificate and key of 127.0.0.1 in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return path


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
