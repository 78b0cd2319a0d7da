"""More than one machine: the same pairs, found on Spark."""
