"""Will a model fit, before it is loaded or downloaded."""
