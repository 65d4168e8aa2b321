"""A run while it is open: how it is planned, opened, recorded, judged and ended."""
