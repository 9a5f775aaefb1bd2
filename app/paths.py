"""Where things lie, for `app` and `ui`; the work is `engine.paths`, which programs without a window use too."""

from engine.paths import Paths, find_paths, starter_model

__all__ = ["Paths", "find_paths", "starter_model"]
