"""The window's side of the worker protocol: the conversation, the command line, one driver without Qt."""
