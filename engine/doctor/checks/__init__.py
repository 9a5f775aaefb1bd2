"""The checks: each one a pure function from `engine.doctor.facts.Facts` to a `Finding`, or to `Skipped`."""
