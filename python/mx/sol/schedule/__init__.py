"""What is known of a model before it runs: the memory that it will take."""

from ._memory import Memory, Moment, memory_of, step_memory, training_memory
from ._sizes import bytes_of, size_text

__all__ = [
    "Memory",
    "Moment",
    "bytes_of",
    "memory_of",
    "size_text",
    "step_memory",
    "training_memory",
]
