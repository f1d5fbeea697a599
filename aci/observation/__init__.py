"""What is on the screen: elements, windows, pixels and their text form."""
