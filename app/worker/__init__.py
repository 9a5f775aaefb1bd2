"""The worker process as the window sees it: its state, its model, its answers."""
