"""``python -P -m engine.hub``."""

import sys

from engine.hub.main import main

sys.exit(main())
