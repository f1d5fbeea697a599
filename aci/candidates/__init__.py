"""Elements found in the picture: icons and shapes that neither the accessibility tree nor text recognition names."""
