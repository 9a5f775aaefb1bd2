"""State and wiring: owns what the program knows. QtCore only, no widgets."""
