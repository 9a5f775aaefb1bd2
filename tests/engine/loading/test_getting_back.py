"""What is said about a file that is not whole depends on where it came from."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine.errors import VrambleError
from engine.library.origin import Origin, origin_path
from engine.loading.getting_back import (
    FROM_ELSEWHERE,
    FROM_THE_HUB,
    FROM_THE_INSTALLATION,
    way_back,
    way_without_origin,
)
from engine.worker.validate import check_file, load_failure
from tests.fakes.tiny_gguf import tiny_llama


def cut(folder: Path) -> Path:
    path = folder / "model.gguf"
    path.write_bytes(tiny_llama()[:-100])
    return path


def from_the_hub(path: Path) -> Path:
    origin_path(path).write_bytes(msgspec.json.encode(Origin(repo="owner/repo", path=path.name)))
    return path


def test_from_the_hub_from_the_installation_from_elsewhere(tmp_path: Path) -> None:
    path = cut(tmp_path)
    assert way_back(path, lambda: None) == FROM_ELSEWHERE
    assert way_back(path, lambda: path) == FROM_THE_INSTALLATION
    from_the_hub(path)
    assert way_back(path, lambda: path) == FROM_THE_HUB
    assert way_without_origin(path, lambda: path) == FROM_THE_INSTALLATION, "where another part has none"


def test_a_link_to_the_starter_model_is_the_starter_model(tmp_path: Path) -> None:
    starter, link = cut(tmp_path), tmp_path / "linked.gguf"
    link.symlink_to(starter)
    assert way_back(link, lambda: starter) == FROM_THE_INSTALLATION
    link.unlink()
    assert way_back(link, lambda: starter) == FROM_ELSEWHERE
    starter.unlink()
    assert way_back(starter, lambda: starter) == FROM_THE_INSTALLATION, "also when it is gone"


def test_the_worker_says_so(tmp_path: Path) -> None:
    path = cut(tmp_path)
    with pytest.raises(VrambleError, match=r"model\.gguf") as told:
        check_file(path)
    assert (told.value.code, told.value.next_step) == ("cut-file", FROM_ELSEWHERE)
    assert load_failure(from_the_hub(path), "tensor is not within the file bounds", "1").next_step == FROM_THE_HUB
