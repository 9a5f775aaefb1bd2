"""Small plugins of ggml, compiled on the spot: ones that work, and ones that break in each way."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = r"""
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#ifndef NAME
#define NAME "Toy"
#endif
#ifndef API
#define API 2
#endif
/* The head of ggml_backend_reg, as ggml-backend-impl.h has it. */
struct registry {
    int api_version;
    struct {
        const char *(*get_name)(void *);
        size_t (*get_device_count)(void *);
        void *(*get_device)(void *, size_t);
        void *(*get_proc_address)(void *, const char *);
    } iface;
    void *context;
};
static const char *get_name(void *reg) { (void) reg; return NAME; }
static size_t none(void *reg) { (void) reg; return 0; }
static void *nothing(void *reg, size_t index) { (void) reg; (void) index; return NULL; }
static void *no_address(void *reg, const char *name) { (void) reg; (void) name; return NULL; }
static struct registry registry = { API, { get_name, none, nothing, no_address }, NULL };
#ifdef SCORE
int ggml_backend_score(void) { return SCORE; }
#endif
#ifdef AT_LOAD
__attribute__((constructor)) static void at_load(void) { AT_LOAD; }
#endif
#ifdef UNDEFINED
extern int UNDEFINED(void);
#endif
#ifdef NO_ENTRY
int something_else(void) { return getpid(); }
#else
void *ggml_backend_init(void) {
#ifdef UNDEFINED
    if (UNDEFINED()) return NULL;
#endif
#ifdef AT_START
    AT_START;
#endif
    return getenv("NOTHING_IS_CALLED_THIS") ? NULL : &registry;
}
#endif
"""


class ToyPlugins:
    """Compiles each variant once."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc") or shutil.which("c++")
        if compiler is None:
            pytest.skip("there is no C compiler")
        self._compiler = compiler
        self._folder = folder
        self._built: dict[tuple[str, ...], Path] = {}
        (folder / "toy.c").write_text(SOURCE)

    def build(self, *defines: str, links: str = "") -> Path:
        """The plugin with ``-D`` for each define. ``links``: soname of a library that it asks the loader for."""
        key = (*defines, links)
        if key not in self._built:
            number = len(self._built)
            extra = [self._stub(links, number)] if links else []
            goal = self._folder / f"toy{number}.so"
            self._compile([*(f"-D{define}" for define in defines), "-x", "c", "toy.c", "-x", "none", *extra], goal)
            self._built[key] = goal
        return self._built[key]

    def put(self, goal: Path, *defines: str, links: str = "") -> Path:
        """A copy of the plugin at ``goal``."""
        goal.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.build(*defines, links=links), goal)
        return goal

    def _stub(self, soname: str, number: int) -> str:
        """An empty library of this soname, only to link to: the loader will look for it by its name and miss it."""
        (self._folder / "stub.c").write_text("int stub(void) { return 0; }\n")
        goal = self._folder / f"stub{number}.so"
        self._compile([f"-Wl,-soname,{soname}", "-x", "c", "stub.c", "-x", "none"], goal)
        return str(goal)

    def _compile(self, words: list[str], goal: Path) -> None:
        flags = ["-shared", "-fPIC", "-O1", "-Wl,--no-as-needed"]
        subprocess.run([self._compiler, *flags, "-o", goal, *words], cwd=self._folder, check=True)


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> ToyPlugins:
    """The maker of plugins."""
    return ToyPlugins(tmp_path_factory.mktemp("toys"))
