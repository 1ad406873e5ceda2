"""Models as one line each: a source of the library of all models, and a test that runs it."""

load("//harness:defs.bzl", "torch_ir_model_test")
load("//tools:cc.bzl", "torch_ir_binary", "torch_ir_library")

def torch_ir_models(name, models, deps, srcs = []):
    """One library of all models, the program that tests them, and a test of each.

    The test MODEL_test, tagged with the categories, runs the model through the pipeline and leaves
    its page. It needs no unit and no link of its own.

    Args:
      name: The name of the library.
      models: By registered name, "SOURCE: CATEGORY, CATEGORY": the source file, which several models
        may share, and the categories of the registration, in the same order.
      deps: The dependencies of the models.
      srcs: Sources and headers that they share.
    """
    sources = {line.split(": ")[0]: None for line in models.values()}
    torch_ir_library(
        name = name,
        srcs = sorted(sources.keys() + [src for src in srcs if src.endswith(".cc")]),
        hdrs = [src for src in srcs if src.endswith(".h")],
        alwayslink = True,
        # They only call LibTorch.
        copts = ["-O1"],
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
    for model, line in models.items():
        torch_ir_model_test(
            name = model + "_test",
            model = model,
            categories = line.split(": ")[1].split(", "),
            program = ":run_model",
        )
