"""``python -P -m engine.worker``."""

from __future__ import annotations

import sys

from engine.worker import main

if __name__ == "__main__":
    sys.exit(main())
