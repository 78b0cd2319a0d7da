"""HTTP messages: what a response is, how its parts are decoded, and what of it is compared."""
