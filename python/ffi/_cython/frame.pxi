# Arguments are borrowed. What a value needs beyond its 16 bytes (the integers of a tuple, a tensor's
# strides) lies in the frame of the call: a buffer on the stack, and larger pieces from the heap.

cdef enum:
    FRAME_WORDS = 128
    MAX_DEPTH = 64
    # Steps of a path that are not the number of an item; the last is not told.
    STEP_KEY = -1
    STEP_VALUE = -2
    STEP_CONVERTED = -3
    # Stands for the index of an argument where the value is one for the Field func.
    FIELD_VALUE = -2

cdef struct Chunk:
    Chunk* next
    int64_t padding

# Objects of Python and of the runtime that are kept until the call is over.
cdef struct Kept:
    Kept* next
    PyObject* obj
    void* handle

cdef struct Frame:
    char* cursor
    char* end
    Chunk* chunks
    Kept* kept
    # For messages: which argument of which function, and where inside it. Where index is -1 it is
    # the result of the Python callable func.
    PyObject* func
    Py_ssize_t index
    int depth
    int path_length
    Py_ssize_t path[4]
    int64_t stack[FRAME_WORDS]


cdef inline void frame_init(Frame* frame, PyObject* func) noexcept:
    frame.cursor = <char*>&frame.stack[0]
    frame.end = frame.cursor + FRAME_WORDS * sizeof(int64_t)
    frame.chunks = NULL
    frame.kept = NULL
    frame.func = func
    frame.depth = 0
    frame.path_length = 0


cdef void frame_release(Frame* frame) noexcept:
    cdef Kept* kept = frame.kept
    while kept != NULL:
        Py_XDECREF_(kept.obj)
        MXNetObjectFree(kept.handle)
        kept = kept.next
    cdef Chunk* chunk = frame.chunks
    cdef Chunk* next_chunk
    while chunk != NULL:
        next_chunk = chunk.next
        free(chunk)
        chunk = next_chunk


cdef inline void frame_close(Frame* frame) noexcept:
    if frame.chunks != NULL or frame.kept != NULL:
        frame_release(frame)


cdef void* frame_grow(Frame* frame, size_t size) noexcept:
    cdef size_t capacity = 4096
    while capacity < size:
        capacity *= 2
    cdef Chunk* chunk = <Chunk*>malloc(sizeof(Chunk) + capacity)
    if chunk == NULL:
        PyErr_NoMemory()
        return NULL
    chunk.next = frame.chunks
    frame.chunks = chunk
    frame.cursor = <char*>(chunk + 1) + size
    frame.end = <char*>(chunk + 1) + capacity
    return chunk + 1


cdef inline void* frame_alloc(Frame* frame, size_t size) noexcept:
    """Room for size bytes, aligned to 8; NULL with MemoryError set."""
    size = (size + 7) & ~(<size_t>7)
    cdef char* memory = frame.cursor
    if size <= <size_t>(frame.end - memory):
        frame.cursor = memory + size
        return memory
    return frame_grow(frame, size)


cdef int frame_keep(Frame* frame, PyObject* obj) noexcept:
    """Keeps obj, whose reference is added, alive until the call is over."""
    cdef Kept* kept = <Kept*>frame_alloc(frame, sizeof(Kept))
    if kept == NULL:
        return -1
    Py_INCREF_(obj)
    kept.obj = obj
    kept.handle = NULL
    kept.next = frame.kept
    frame.kept = kept
    return 0


cdef int frame_keep_handle(Frame* frame, void* handle) noexcept:
    """Takes a reference to an object of the runtime over, for as long as the call."""
    cdef Kept* kept = <Kept*>frame_alloc(frame, sizeof(Kept))
    if kept == NULL:
        MXNetObjectFree(handle)
        return -1
    kept.obj = NULL
    kept.handle = handle
    kept.next = frame.kept
    frame.kept = kept
    return 0
