"""`packaging/build-backend`: builds one ggml plugin for Vramble's engine and puts it where the engine looks."""
