"""What the page Learn teaches: worked steps, blocks, a model of edits, exercises."""
