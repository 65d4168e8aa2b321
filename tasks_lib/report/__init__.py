"""Reports for people: what a run came to, in the terminal."""
