"""The real worker, which lets the processor sort out the best tokens inside the compute graph as it does on a GPU.

    python tests/fakes/sorting_worker.py [wrong]

Its log says for each answer whether candidates came back (``candidates: True``). ``wrong``: ids come back that do not
belong to the logits.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.worker import choosing, graph_top_k, loader, process


def main() -> int:
    class Chooser(choosing.Chooser):
        def take_candidates(self, on: bool) -> None:
            print(f"candidates: {on}", file=sys.stderr, flush=True)
            super().take_candidates(on)

    class Wrong(graph_top_k.GraphTopK):
        def _candidates(self) -> list[tuple[int, float]]:
            return [(token + 1, logit) for token, logit in super()._candidates()]

    changes: list[tuple[Any, str, Any]] = [(loader, "_sorts_on_gpu", lambda _plan: True)]
    if sys.argv[1:] == ["wrong"]:
        changes.append((loader, "GraphTopK", Wrong))
    import engine.worker.generator

    changes.append((engine.worker.generator, "Chooser", Chooser))
    for module, name, value in changes:
        setattr(module, name, value)
    return process.run()


if __name__ == "__main__":
    raise SystemExit(main())
