"""What compilers are told, and the names of files that they take."""

C_SUFFIX = ".c"
CXX_SUFFIXES = (".cc", ".cpp", ".cxx", ".c++", ".C")
CXX_FLAGS = ("-std=c++17", "-fvisibility-inlines-hidden")
FLAGS = ("-O2", "-fPIC", "-fvisibility=hidden", "-pipe")
LINK_FLAGS = ("-shared", "-Wl,-z,defs", "-Wl,-z,now")
# Where compilers look for files besides what the command says.
HEADER_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
LIBRARY_VARIABLES = ("LIBRARY_PATH",)
VARIABLES = (*HEADER_VARIABLES, *LIBRARY_VARIABLES, "COMPILER_PATH")
