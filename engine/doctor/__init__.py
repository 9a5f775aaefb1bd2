"""What stands between this machine and a model that runs well on its GPU: facts, checks, a verdict for each."""
