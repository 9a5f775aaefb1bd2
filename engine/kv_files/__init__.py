"""Files that keep the KV cache of a conversation over restarts."""
