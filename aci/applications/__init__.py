"""Installed applications, how they are started, and how their windows are found."""
