"""Where kernels of `mx.sol` come from besides those of `mx.graph`: a folder a source."""
