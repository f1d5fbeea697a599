"""Desktops: private virtual ones and the X11 screen of the user."""
