"""Finding models on the Hub."""
