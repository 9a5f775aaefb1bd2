"""What the window and the worker process say to each other: typed frames, one JSON line each."""
