package(default_visibility = ["//visibility:public"])

exports_files(["root.txt"])

cc_library(
    name = "libtorch",
    srcs = {LIBRARIES},
    # The folder as one input: as 9,000 files it costs each sandboxed compile seconds.
    hdrs = ["include"],
    defines = {DEFINES},
    includes = [
        "include",
        "include/torch/csrc/api/include",
    ],
    linkopts = ["-pthread"],
    deps = [":fmt"],
)

# The fmt that LibTorch's own headers use; another version beside it would be mixed up with it.
cc_library(
    name = "fmt",
    hdrs = glob(["fmt/fmt/**"]),
    defines = ["FMT_HEADER_ONLY=1"],
    includes = ["fmt"],
)
