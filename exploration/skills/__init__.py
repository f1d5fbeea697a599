"""Unit skills and composite skills: naming, composing and storing them."""
