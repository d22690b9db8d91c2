"""Names that functions in C cannot have, as its library has them, or the generated source."""

from __future__ import annotations

import re

# Of float and long double, too, with an f or an l behind.
_MATH = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp2
    expm1 fabs fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn
    ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint
    nextafter nexttoward pow remainder remquo rint round scalb scalbln scalbn significand sin
    sinh sqrt tan tanh tgamma trunc y0 y1 yn
""".split()
# Functions, objects, macros and types of what the source includes, and of the rest of libc, which
# a shared library that exports them would replace for all of a program.
_LIBC = """
    a64l abort abs access acct alarm aligned_alloc alloca asctime assert at_quick_exit atexit
    atof atoi atol atoll bcmp bcopy brk bsearch bzero calloc chdir chown chroot clearenv
    clearerr clock close closefrom confstr creat crypt ctermid ctime daemon difftime div dprintf
    drand48 dup dup2 duplocale dysize ecvt endusershell environ erand48 errno execl execle
    execlp execv execve execvp exit explicit_bzero faccessat fchdir fchown fchownat fclose fcntl
    fcvt fd_set fdatasync fdopen feof ferror fexecve fflush ffs ffsl ffsll fgetc fgetpos fgets
    fileno flockfile fmemopen fopen fork fpathconf fprintf fputc fputs fread free freelocale
    freopen fscanf fseek fseeko fsetpos fsync ftell ftello ftruncate ftrylockfile funlockfile
    fwrite gcvt getc getchar getcwd getenv getline getopt getpid gets gmtime i386 index
    initstate isalnum isalpha isascii isatty isblank iscntrl isdigit isgraph islower isprint
    ispunct isspace isupper isxdigit jrand48 kill killpg l64a labs lchown lcong48 ldiv link
    linkat linux llabs lldiv localeconv localtime lockf longjmp lrand48 lseek malloc mblen
    mbstowcs mbtowc memccpy memchr memcmp memcpy memmove memset mkdtemp mkstemp mkstemps mktemp
    mktime mrand48 nanosleep newlocale nice nrand48 offsetof on_exit open open_memstream openat
    pathconf pause pclose perror pipe popen pread printf profil pselect psiginfo psignal putc
    putchar putenv puts putw pwrite qecvt qfcvt qgcvt qsort quick_exit raise rand random read
    readlink readlinkat realloc reallocarray realpath remove rename renameat revoke rewind
    rindex rmdir rpmatch sbrk scanf seed48 select setbuf setenv setjmp setlocale setvbuf
    sigaction siglongjmp signal signgam sigprocmask sleep snprintf sprintf srand srand48 srandom
    sscanf ssignal stderr stdin stdout stpcpy stpncpy strcasecmp strcat strchr strcmp strcoll
    strcpy strcspn strdup strerror strftime strlen strncasecmp strncat strncmp strncpy strndup
    strnlen strpbrk strrchr strsep strsignal strspn strstr strtod strtof strtok strtol strtold
    strtoll strtoq strtoul strtoull strtouq strxfrm symlink symlinkat sync syscall sysconf
    system tcgetpgrp tcsetpgrp tempnam time timegm timelocal timespec_get tmpfile tmpnam toascii
    tolower toupper truncate ttyname ttyslot tzset ualarm uint ulong ungetc unix unlink unlinkat
    unsetenv uselocale ushort usleep valloc vdprintf vfork vfprintf vfscanf vhangup vprintf
    vscanf vsnprintf vsprintf vsscanf wcstombs wctomb write
""".split()
# Macros of <complex.h>, and the namespace of C++.
_OTHERS = ("I", "complex", "imaginary", "std")
_TAKEN = frozenset([*_LIBC, *_OTHERS, *(name + end for name in _MATH for end in ("", "f", "l"))])

# What names of the generated source begin with, or are.
_OURS = re.compile(r"(mx|mxk|v[fiub])(_.*)?|VW", re.I)
# Types, and constants of <math.h> and <stdint.h>.
_PATTERNS = re.compile(
    r".*_t|NULL|EOF|NAN|INFINITY|MAXFLOAT|HUGE_VAL[FL]?|(M|FP)_[A-Z0-9_]+|[A-Z0-9_]+_(MAX|MIN|C)"
)


def is_reserved(name: str) -> bool:
    """Whether a function of that name collides with libc, libm or the generated source."""
    return name in _TAKEN or any(one.fullmatch(name) for one in (_OURS, _PATTERNS))
