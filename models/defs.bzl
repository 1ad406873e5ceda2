"""Models as targets: a library that registers the model, and a test that runs it."""

load("//harness:defs.bzl", "torch_ir_model_test")
load("//tools:cc.bzl", "torch_ir_library")

_MODEL_TAG = "torch_ir_model"

def torch_ir_model(name, src, categories, deps = []):
    """A model of the registry.

    Makes the library NAME, which registers the model in whatever links it, and the test NAME_test,
    tagged with the categories, which runs the model through the pipeline and leaves its page.

    Args:
      name: The name that the model is registered under.
      src: Its source file.
      categories: The categories that it is registered with, in the same order.
      deps: What it needs beside the registry and LibTorch.
    """
    torch_ir_library(
        name = name,
        srcs = [src],
        tags = [_MODEL_TAG] + categories,
        visibility = ["//:__subpackages__"],
        deps = deps + [
            ":registry",
            "@libtorch//:libtorch",
        ],
        alwayslink = True,
    )
    torch_ir_model_test(
        name = name + "_test",
        model = name,
        categories = categories,
        deps = [":" + name],
    )

def torch_ir_models(name, visibility = None):
    """One library with every torch_ir_model above this line.

    Args:
      name: The name of the target.
      visibility: As in cc_library.
    """
    native.cc_library(
        name = name,
        visibility = visibility,
        deps = [
            ":" + rule
            for rule, attributes in sorted(native.existing_rules().items())
            if _MODEL_TAG in attributes.get("tags", [])
        ],
    )
