"""``python -P -m engine.library.child``."""

import sys

from engine.library.child.main import main

sys.exit(main())
