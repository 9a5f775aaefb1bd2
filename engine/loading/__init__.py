"""What load options mean, without the engine: limits, contradictions, profiles."""
