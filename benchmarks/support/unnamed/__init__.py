"""Icons and shapes without names, for candidates from the picture: pages, programs, and how they are judged."""
