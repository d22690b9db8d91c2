"""What Python has of the structs and constants of our C headers, written from the headers."""
