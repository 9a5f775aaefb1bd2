"""The processor's level decides what the engine is built for, and under which key it is cached."""

from vramble_setup.cpu_level import AVX512_BASE, flags_in_cpuinfo, level_from_flags

DECK = ["sse4_2", "avx", "f16c", "fma", "bmi2", "avx2", "sha_ni"]
ZEN4 = [*DECK, *AVX512_BASE, "avx512vbmi", "avx512_vnni", "avx512_bf16"]


def test_a_deck_has_avx2_and_no_avx512():
    level = level_from_flags("x86_64", DECK)
    assert level.name == "x86-64-sse42-avx-f16c-fma-bmi2-avx2"
    assert dict(level.options)["GGML_AVX2"]
    assert not dict(level.options)["GGML_AVX512"]


def test_a_zen4_gets_its_avx512_extensions():
    level = level_from_flags("x86_64", ZEN4)
    assert level.name.endswith("avx512-vbmi-vnni-bf16")
    assert not dict(level.options)["GGML_AMX_TILE"]


def test_avx512_counts_only_when_all_its_parts_are_there():
    level = level_from_flags("x86_64", [*DECK, "avx512f", "avx512vbmi"])
    assert not dict(level.options)["GGML_AVX512"]
    assert not dict(level.options)["GGML_AVX512_VBMI"]


def test_an_extension_without_its_base_is_left_out():
    options = dict(level_from_flags("x86_64", ["avx2", "fma"]).options)
    assert not any(options.values())


def test_every_option_is_said_so_that_no_default_slips_in():
    assert len(level_from_flags("x86_64", []).options) == len(level_from_flags("x86_64", ZEN4).options)


def test_another_architecture_has_no_options():
    level = level_from_flags("aarch64", ["asimd"])
    assert (level.name, level.options) == ("aarch64", ())


def test_only_flags_of_all_processors_count():
    text = "processor : 0\nflags\t\t: avx avx2\n\nprocessor : 1\nflags\t\t: avx\n"
    assert flags_in_cpuinfo(text) == {"avx"}


def test_unreadable_cpuinfo_means_the_lowest_level():
    assert flags_in_cpuinfo("") == set()
