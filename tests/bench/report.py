"""The parts of a long measurement, each guarded and written down at once."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec


@dataclass
class Report:
    """Results by part; written to the file after each part."""

    path: Path
    results: dict[str, Any] = field(default_factory=dict)

    def part(self, name: str, work: Callable[[], Any]) -> Any:
        """Do ``work`` and keep what it returns, or why it failed. None: it failed."""
        begin = time.monotonic()
        print(f"-- {name}", flush=True)
        try:
            result = work()
            self.results[name] = msgspec.to_builtins(result)
            return result
        except Exception as error:  # whatever it is, the other parts go on: the machine is lent once
            detail = getattr(error, "detail", "")
            self.results[name] = {
                "failed": f"{type(error).__name__}: {error}",
                "detail": detail,
                "trace": traceback.format_exc(),
            }
            print(f"   failed: {type(error).__name__}: {error}", flush=True)
            return None
        finally:
            self.results.setdefault("seconds", {})[name] = round(time.monotonic() - begin, 1)
            self.path.write_text(json.dumps(self.results, indent=2) + "\n", encoding="utf-8")


def summary(report: Report) -> int:
    """Print all parts but the long records; 1 when one failed."""
    failed = False
    for name, result in report.results.items():
        failed |= isinstance(result, dict) and "failed" in result
        shown = (
            {k: v for k, v in result.items() if k not in ("trace", "detail", "driver")}
            if isinstance(result, dict)
            else result
        )
        print(f"{name}: {json.dumps(shown)}")
    print(f"written to {report.path}")
    return int(failed)
