"""ggml's backend plugins and the devices they bring. Only the worker process imports this package."""
