"""A JIT: the compiler that the system calls cc."""

from mx.sol.jits import Jit

CC = Jit("cc", ("cc",))
