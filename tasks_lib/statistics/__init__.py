"""What the numbers may claim: intervals and bounds, free of files, tables and definitions."""
