"""Finding models: search of the Hub, pages of repositories, the catalogue."""
