"""Where the work of a job is done: on this machine."""
