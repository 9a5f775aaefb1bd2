"""Programs that each answer chats with one library. They speak lines of JSON; `tests.bench.compare_chat` runs them.

A party gets one line of settings (``model``, ``threads``, ``context``) and says ``{"ready": "name and version"}``. For
each line ``{"prompt", "max_tokens", "seed", "temperature"}`` it streams an answer to that one message and says
``{"first": s, "seconds": s, "tokens": n, "cut": bool}``: seconds to the first piece of text and to the end, and
whether the limit ended it. What else it prints goes to stderr.
"""
