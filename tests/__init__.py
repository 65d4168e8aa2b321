"""The tests; a package, so that helpers are imported by name."""
