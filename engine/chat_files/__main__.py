"""``python -P -m engine.chat_files``."""

import sys

from engine.chat_files.child import main

sys.exit(main())
