"""From accessible objects to the elements that a person can see and use."""
