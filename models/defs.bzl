"""Models as one line each: a source of the library of all models, and a test that runs it."""

load("//harness:defs.bzl", "torch_ir_model_test")
load("//tools:cc.bzl", "torch_ir_binary", "torch_ir_library")

_MODEL_TAG = "torch_ir_model"

def torch_ir_model(name, src, categories):
    """A model of the registry.

    Makes the test NAME_test, tagged with the categories, which runs the model through the pipeline
    and leaves its page. It costs no unit and no link: torch_ir_models makes one library and one
    program of all.

    Args:
      name: The name that the model is registered under.
      src: Its source file.
      categories: The categories that it is registered with, in the same order.
    """
    native.filegroup(
        name = name,
        srcs = [src],
        tags = [_MODEL_TAG],
    )
    torch_ir_model_test(
        name = name + "_test",
        model = name,
        categories = categories,
        program = ":run_model",
    )

def torch_ir_models(name, deps, srcs = [], visibility = None):
    """One library with every torch_ir_model above this line, and the program that tests them.

    Args:
      name: The name of the target.
      deps: What the models use.
      srcs: Sources and headers that they share.
      visibility: As in cc_library.
    """

    # A source may have several.
    models = {
        src[1:] if src.startswith(":") else src: None
        for rule in native.existing_rules().values()
        if _MODEL_TAG in rule.get("tags", [])
        for src in rule["srcs"]
    }
    torch_ir_library(
        name = name,
        srcs = sorted(models.keys() + [src for src in srcs if src.endswith(".cc")]),
        hdrs = [src for src in srcs if src.endswith(".h")],
        alwayslink = True,
        visibility = visibility,
        deps = deps,
    )
    torch_ir_binary(
        name = "run_model",
        testonly = True,
        deps = [
            name,
            "//harness/regression:model_test_main",
        ],
    )
