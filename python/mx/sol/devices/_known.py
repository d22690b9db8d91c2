"""What has to be installed for the accelerators that come with this project as sources."""

from __future__ import annotations

# By name, what their libraries are built with, from the sources of this package.
KNOWN = {
    "cuda": "nvcc of CUDA 12 or 13, then make -C accelerators cuda",
    "opencl": "apt-get install opencl-headers ocl-icd-opencl-dev libclblast-dev, a driver as "
    "pocl-opencl-icd, then make -C accelerators opencl",
    "openvino": "pip install openvino, then make -C accelerators openvino",
    "onednn": "pip install onednn-cpu-gomp onednn-devel-cpu-gomp, then make -C accelerators onednn",
}
