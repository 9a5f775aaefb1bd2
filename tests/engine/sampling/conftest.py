"""The byte vocabulary, loaded once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine.sampling.walk import Bytes
from tests.fakes.tiny_gguf import tiny_llama


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bytes]:
    file = tmp_path_factory.mktemp("vocabulary") / "tiny.gguf"
    file.write_bytes(tiny_llama())
    made = Bytes(file)
    yield made
    made.close()
