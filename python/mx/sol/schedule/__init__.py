"""What is known of a model before it runs: the memory that it will take."""

from ._memory import Memory, bytes_of, memory_of, size_text

__all__ = ["Memory", "bytes_of", "memory_of", "size_text"]
