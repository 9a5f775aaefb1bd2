"""The work: llama.cpp, memory readers, downloads, the conversation store. No Qt in here."""
