from ffi import devices, handed_down


cdef class Context:
    """A device: its kind and its ordinal among devices of that kind.

    `Context("npu(1)")`, as a context prints, is `Context("npu", 1)`.

    Used in a with statement it is the default context of arrays made inside.
    """

    def __init__(self, device_type, device_id=0):
        if isinstance(device_type, Context):
            self.device = (<Context>device_type).device
            return
        if not isinstance(device_type, str):
            raise TypeError(f"Context: argument 0 ('device_type') expected str, got {type(device_type).__name__}")
        if isinstance(device_id, bool) or not isinstance(device_id, int):
            raise TypeError(f"Context: argument 1 ('device_id') expected int, got {type(device_id).__name__}")
        number, device_id = devices.identify(device_type, device_id)
        if not 0 <= device_id < 2**31:
            raise ValueError(f"Context: argument 1 ('device_id') expected 0 to 2**31-1, got {device_id}")
        self.device.device_type = <DLDeviceType><int>number
        self.device.device_id = device_id

    @property
    def device_type(self):
        """Kind of device: 'cpu', or the name of an accelerator."""
        return devices.name_of(self.device.device_type)

    @property
    def device_id(self):
        """Ordinal of the device, from 0."""
        return self.device.device_id

    def __eq__(self, other):
        if not isinstance(other, Context):
            return NotImplemented
        return (self.device.device_type == (<Context>other).device.device_type
                and self.device.device_id == (<Context>other).device.device_id)

    def __hash__(self):
        return hash((self.device.device_type, self.device.device_id))

    def __repr__(self):
        return f"{self.device_type}({self.device.device_id})"

    def __reduce__(self):
        return (Context, (self.device_type, self.device.device_id))

    def configure(self, **options):
        """Passes options to the accelerator of this context; returns what it answers.

        Values are str, bool, int or float; the answers are str. ValueError for an unknown option,
        and where the context is no accelerator's.
        """
        return devices.configure(self, options)

    def __enter__(self):
        get_global("runtime.push_context")(self)
        return self

    def __exit__(self, *exc_info):
        get_global("runtime.pop_context")()


cdef tuple cpu_contexts = tuple(map(Context, ["cpu"] * 16, range(16)))


def cpu(device_id=0):
    """The CPU context of that ordinal."""
    cdef int64_t index
    if type(device_id) is int and MXNetSmallInt(<PyObject*>device_id, &index) and 0 <= index < 16:
        return cpu_contexts[<Py_ssize_t>index]
    return Context("cpu", device_id)


cdef object make_context(DLDevice device):
    if device.device_type == kDLCPU and 0 <= device.device_id < 16:
        return cpu_contexts[<Py_ssize_t>device.device_id]
    cdef Context ctx = Context.__new__(Context)
    ctx.device = device
    return ctx
