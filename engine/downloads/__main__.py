"""``python -P -m engine.downloads``."""

import sys

from engine.downloads.main import main

sys.exit(main())
