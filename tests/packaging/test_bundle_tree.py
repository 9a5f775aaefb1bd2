"""Each library is there once: two copies in one process would be two lists of backends."""

import re

import pytest
from vramble_setup.bundle_tree import PACKAGE_LIBRARIES, copy_libraries, record_of
from vramble_setup.report import SetupError


@pytest.fixture
def built(tmp_path):
    """What a build leaves: real libraries, links to them, and things that nobody wants."""
    folder = tmp_path / "objects"
    (folder / "bin").mkdir(parents=True)
    (folder / "tools" / "mtmd").mkdir(parents=True)
    (folder / "bin" / "libggml.so.0.25.3").write_text("ggml")
    (folder / "bin" / "libggml.so.0").symlink_to("libggml.so.0.25.3")
    (folder / "bin" / "libggml.so").symlink_to("libggml.so.0")
    (folder / "bin" / "libggml-cpu.so").write_text("cpu")
    (folder / "bin" / "libllama-common.so.0").write_text("common")
    (folder / "tools" / "mtmd" / "libmtmd.so").write_text("mtmd")
    return folder


def test_real_files_are_copied_and_links_stay_links(built, tmp_path):
    place = tmp_path / "lib"
    copy_libraries(built, place, PACKAGE_LIBRARIES)
    real = sorted(file.name for file in place.iterdir() if not file.is_symlink())
    links = {file.name: str(file.readlink()) for file in place.iterdir() if file.is_symlink()}
    assert real == ["libggml-cpu.so", "libggml.so.0.25.3", "libmtmd.so"]
    assert links == {"libggml.so": "libggml.so.0", "libggml.so.0": "libggml.so.0.25.3"}


def test_a_link_to_nothing_is_an_error(built, tmp_path):
    (built / "bin" / "libggml.so.0.25.3").unlink()
    with pytest.raises(SetupError, match="pointing to nothing"):
        copy_libraries(built, tmp_path / "lib", PACKAGE_LIBRARIES)


@pytest.mark.parametrize(
    "name", ["libllama.so", "libggml-base.so.0", "libggml-vulkan.so", "libggml-rpc.so", "libmtmd.so.0.5.0"]
)
def test_all_parts_of_the_engine_are_wanted(name):
    assert PACKAGE_LIBRARIES.fullmatch(name)


def test_the_record_lists_every_file_with_its_hash(tmp_path):
    info = tmp_path / "thing.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("x")
    (tmp_path / "thing.py").write_text("")
    record = record_of(tmp_path, info)
    assert "thing.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n" in record
    assert re.search(r"^thing\.dist-info/METADATA,sha256=[\w-]{43},1$", record, re.MULTILINE)
    assert record.endswith("thing.dist-info/RECORD,,\n")
