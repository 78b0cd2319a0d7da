"""HTTP responses: what captures hold, what of it is compared, and what kinds there are."""
