"""Chat templates: untrusted code out of model files, run in a child process with limits."""
