"""The screen of an X display, its monitors, and the emergency stop."""
