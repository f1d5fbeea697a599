"""From typed contexts to prompts."""
