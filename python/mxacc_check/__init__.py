"""mxacc-check: whether a finished accelerator library keeps to mxnet_acc.h."""
