"""Files of a repository by quantisation, with what goes with them (cases 10, 11, 67, 79)."""

from __future__ import annotations

import pytest

from engine.hub.grouping import family_of, groups_of
from engine.hub.quality import Quality, bits_of, quality_of
from engine.library.listing import FileKind, RepoFile, RepoListing, parse_listing

GB = 10**9


def listing(*names: str, size: int = GB) -> RepoListing:
    return parse_listing("maker/some-GGUF", {"siblings": [{"rfilename": name, "size": size} for name in names]})


def name(file: RepoFile | None) -> str | None:
    return None if file is None else file.path


def shape(found: RepoListing) -> list[tuple[str, list[tuple[str, str | None, str | None]]]]:
    return [
        (group.quant, [(one.file.path, name(one.projector), name(one.draft)) for one in group.files])
        for group in groups_of(found, None)
    ]


def test_smallest_quantisation_first_and_one_is_the_usual() -> None:
    groups = groups_of(listing("m-Q8_0.gguf", "m-Q4_K_M.gguf", "m-IQ2_M.gguf", "m-F16.gguf", "m-Q5_K_S.gguf"), None)
    assert [(group.quant, group.usual) for group in groups] == [
        ("IQ2_M", False), ("Q4_K_M", True), ("Q5_K_S", False), ("Q8_0", False), ("F16", False),
    ]  # fmt: skip
    assert [group.quality for group in groups] == [
        Quality.LOW, Quality.GOOD, Quality.VERY_GOOD, Quality.NEAR, Quality.ORIGINAL,
    ]  # fmt: skip


def test_a_split_set_is_one_entry_with_its_whole_size() -> None:
    found = listing(*[f"big-Q8_0-{number:05d}-of-00003.gguf" for number in (1, 2, 3)], "half-00001-of-00002.gguf")
    (group,) = groups_of(found, None)
    assert (group.quant, [(one.file.size, len(one.file.parts)) for one in group.files]) == ("Q8_0", [(3 * GB, 3)])


def test_a_projector_belongs_to_every_quantisation() -> None:
    found = listing("m-Q4_K_M.gguf", "m-Q8_0.gguf", "mmproj-BF16.gguf", "mmproj-F16.gguf", "mmproj-F32.gguf")
    assert shape(found) == [
        ("Q4_K_M", [("m-Q4_K_M.gguf", "mmproj-F16.gguf", None)]),
        ("Q8_0", [("m-Q8_0.gguf", "mmproj-F16.gguf", None)]),
    ]


@pytest.mark.parametrize(
    ("model", "projector"),
    [
        ("gemma-4-26B_q4_0-it.gguf", "gemma-4-26B-it-mmproj.gguf"),
        ("Ministral-3-3B-Instruct-2512-Q4_K_M.gguf", "Ministral-3-3B-Instruct-2512-BF16-mmproj.gguf"),
        ("gemma-4-E4B-it-Q4_K_M.gguf", "mmproj-gemma-4-E4B-it-Q8_0.gguf"),
        ("Q4_K_M/Some-Q4_K_M.gguf", "mmproj-Some-F16.gguf"),
        ("model.gguf", "mmproj.gguf"),
    ],
)
def test_names_that_makers_use(model: str, projector: str) -> None:
    ((_, files),) = shape(listing(model, projector))
    assert files == [(model, projector, None)]


def test_with_several_models_a_projector_goes_to_its_own() -> None:
    found = listing("A-7B-Q4_K_M.gguf", "B-3B-Q4_K_M.gguf", "mmproj-A-7B-F16.gguf")
    assert shape(found) == [
        ("Q4_K_M", [("A-7B-Q4_K_M.gguf", "mmproj-A-7B-F16.gguf", None), ("B-3B-Q4_K_M.gguf", None, None)])
    ]
    beside = listing("a/x-Q4_0.gguf", "a/mmproj-F16.gguf", "b/y-Q4_0.gguf", "b/mmproj-F16.gguf")
    assert dict(shape(beside))["Q4_0"] == [
        ("a/x-Q4_0.gguf", "a/mmproj-F16.gguf", None),
        ("b/y-Q4_0.gguf", "b/mmproj-F16.gguf", None),
    ]


def test_drafts_are_paired_by_quantisation() -> None:
    found = listing("m-Q4_K_M.gguf", "m-Q8_0.gguf", "MTP/mtp-m-Q8_0.gguf", "m-DRAFT-0.6B-Q4_K_M.gguf")
    assert dict(shape(found)) == {
        "Q4_K_M": [("m-Q4_K_M.gguf", None, "m-DRAFT-0.6B-Q4_K_M.gguf")],
        "Q8_0": [("m-Q8_0.gguf", None, "MTP/mtp-m-Q8_0.gguf")],
    }


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("m-Q4_K_M.gguf", FileKind.MODEL),
        ("M-MTP-UD-Q4_K_M.gguf", FileKind.MODEL),
        ("draftsman-7B-Q4_0.gguf", FileKind.MODEL),
        ("my-lora-merged-Q8_0.gguf", FileKind.MODEL),
        ("mmproj-F16.gguf", FileKind.PROJECTOR),
        ("x-mmproj.gguf", FileKind.PROJECTOR),
        ("imatrix.gguf", FileKind.STATISTICS),
        ("m.imatrix-unsloth.gguf", FileKind.STATISTICS),
        ("mtp-x-Q8_0.gguf", FileKind.DRAFT),
        ("MTP/x-Q8_0.gguf", FileKind.DRAFT),
        ("x-eagle3-Q8_0.gguf", FileKind.DRAFT),
        ("x-lora-f16.gguf", FileKind.ADAPTER),
        ("x-lora.gguf", FileKind.ADAPTER),
    ],
)
def test_kinds_by_name(path: str, kind: FileKind) -> None:
    (file,) = listing(path).files
    assert file.kind is kind
    assert file.companion is (kind is not FileKind.MODEL)


def test_files_that_are_no_models_have_no_group_and_nothing_is_lost() -> None:
    found = listing("m-Q4_0.gguf", "imatrix.gguf", "x-lora-f16.gguf", "._m.gguf", "README.md")
    assert [group.quant for group in groups_of(found, None)] == ["Q4_0"]
    assert sorted(file.path for file in found.files if file.companion) == ["imatrix.gguf", "x-lora-f16.gguf"]


def test_same_name_in_two_folders_stays_two_models() -> None:
    found = listing("q4/model.gguf", "q8/model.gguf", "other/Model.gguf")
    ((_, files),) = shape(found)
    assert sorted(path for path, _, _ in files) == ["other/Model.gguf", "q4/model.gguf", "q8/model.gguf"]


def test_bits_come_from_size_and_weights_when_those_are_of_this_model() -> None:
    exact = parse_listing("a/b", {"siblings": [{"rfilename": "m-Q4_K_M.gguf", "size": 5_027_783_488}]})
    assert groups_of(exact, 8_190_735_360)[0].bits == 4.91
    assert groups_of(exact, None)[0].bits == 4.89
    assert groups_of(exact, 27_000_000)[0].bits == 4.89
    unknown = parse_listing("a/b", {"siblings": [{"rfilename": "m-Q3_K_XL.gguf"}]})
    assert groups_of(unknown, 8_190_735_360)[0].bits is None


@pytest.mark.parametrize(
    ("quant", "quality", "bits"),
    [
        ("UD-Q4_K_XL", Quality.GOOD, None),
        ("UD-IQ1_M", Quality.POOR, 2.15),
        ("TQ1_0", Quality.POOR, 1.6875),
        ("Q3_K_S", Quality.FAIR, 3.64),
        ("MXFP4_MOE", Quality.GOOD, 4.25),
        ("BF16", Quality.ORIGINAL, 16.0),
        ("Q8_0", Quality.NEAR, 8.5),
        ("", Quality.UNKNOWN, None),
        ("new", Quality.UNKNOWN, None),
    ],
)
def test_words_and_bits(quant: str, quality: Quality, bits: float | None) -> None:
    assert (quality_of(quant), bits_of(quant)) == (quality, bits)


def test_every_quantisation_that_names_can_carry_has_a_word() -> None:
    from engine.library.gguf.tables import FILE_TYPES

    assert [label for label in FILE_TYPES.values() if quality_of(label) is Quality.UNKNOWN] == []


def test_families() -> None:
    names = {"m-Q4_K_M.gguf": "m", "mmproj-m-F16.gguf": "m", "mmproj-F16.gguf": "", "m-00001-of-00002.gguf": "m"}
    for path, family in names.items():
        (file, *_) = listing(path, "m-00002-of-00002.gguf").files
        assert family_of(file) == family, path


def test_every_mixture_of_llama_cpp_has_its_bits() -> None:
    labels = ["Q2_K", "Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_K_S", "Q4_K_M", "Q5_K_S", "Q5_K_M", "Q6_K", "Q8_0"]
    bits = [bits_of(label) for label in labels]
    assert None not in bits
    assert bits == sorted(bits, key=float)  # type: ignore[arg-type]
