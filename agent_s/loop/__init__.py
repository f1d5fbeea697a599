"""The loop: observe, plan, act, verify and learn."""
