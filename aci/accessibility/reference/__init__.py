"""The reference reader, built on pyatspi."""
