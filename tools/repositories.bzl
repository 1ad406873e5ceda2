"""Everything that comes from outside this repository."""

load("//tools:libtorch.bzl", "libtorch")
load("//tools:system_library.bzl", "system_library")

def torch_ir_dependencies():
    """Declares the repositories that torch-ir builds with; those already declared are kept."""
    _maybe(
        libtorch,
        name = "libtorch",
        requirement = "torch==2.13.0",
    )
    _maybe(
        system_library,
        name = "googletest",
        hdrs = ["gtest", "gmock"],
        pkg_config = "gtest",
        targets = {
            "gtest": ["gmock", "gtest"],
            "gtest_main": ["gmock_main"],
        },
        packages = {"apt": "libgtest-dev libgmock-dev", "brew": "googletest", "dnf": "gtest-devel gmock-devel"},
    )
    _maybe(
        system_library,
        name = "rapidcheck",
        hdrs = ["rapidcheck.h", "rapidcheck"],
        targets = {"rapidcheck": ["rapidcheck"]},
        packages = {"apt": "librapidcheck-dev", "dnf": "rapidcheck-devel"},
    )
    _maybe(
        system_library,
        name = "benchmark",
        hdrs = ["benchmark"],
        pkg_config = "benchmark",
        targets = {
            "benchmark": ["benchmark"],
            "benchmark_main": ["benchmark_main"],
        },
        packages = {"apt": "libbenchmark-dev", "brew": "google-benchmark", "dnf": "google-benchmark-devel"},
    )
    _maybe(
        system_library,
        name = "nlohmann_json",
        hdrs = ["nlohmann"],
        pkg_config = "nlohmann_json",
        targets = {"json": []},
        packages = {"apt": "nlohmann-json3-dev", "brew": "nlohmann-json", "dnf": "json-devel"},
    )
    _maybe(
        system_library,
        name = "cli11",
        hdrs = ["CLI"],
        pkg_config = "CLI11",
        targets = {"cli11": []},
        packages = {"apt": "libcli11-dev", "brew": "cli11", "dnf": "cli11-devel"},
    )
    _maybe(
        system_library,
        name = "valijson",
        hdrs = ["valijson"],
        targets = {"valijson": []},
        packages = {"apt": "libvalijson-dev", "brew": "valijson", "dnf": "valijson-devel"},
    )
    _maybe(
        system_library,
        name = "libzip",
        hdrs = ["zip.h", "zipconf.h"],
        pkg_config = "libzip",
        targets = {"zip": ["zip"]},
        packages = {"apt": "libzip-dev", "brew": "libzip", "dnf": "libzip-devel"},
    )
    _maybe(
        system_library,
        name = "onednn",
        hdrs = ["oneapi/dnnl"],
        optional = True,
        opened_as = "ONEDNN_LIBRARY",
        targets = {"onednn": ["dnnl"]},
        prefix_variable = "ONEDNN",
        version_header = "oneapi/dnnl/dnnl_version.h",
        version_lines = ["#define DNNL_VERSION_MAJOR 2", "#define DNNL_VERSION_MAJOR 3"],
        packages = {"apt": "libdnnl-dev", "dnf": "onednn-devel"},
    )

def _maybe(rule, name, **kwargs):
    if not native.existing_rule(name):
        rule(name = name, **kwargs)
