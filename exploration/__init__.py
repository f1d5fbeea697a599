"""Finding out what applications can do, before anybody asks (paper, section 3.2; OSExpert, algorithm 1)."""
