"""Tests of models: one small target a model, so that Bazel filters, shards and caches them."""

load("//tools:cc.bzl", "torch_ir_test")

def torch_ir_model_test(name, model, categories, deps, size = "small", tags = [], **kwargs):
    """Runs a registered model through the pipeline.

    The page of the model and its IR are left in TEST_UNDECLARED_OUTPUTS_DIR. The test fails when
    the model does not pass, or is not registered with these categories.

    Args:
      name: The name of the target.
      model: The name that the model is registered under.
      categories: The categories that it is registered with, in the same order; tags of the target.
      deps: The library that registers it.
      size: As in cc_test.
      tags: More tags.
      **kwargs: As in cc_test.
    """
    torch_ir_test(
        name = name,
        size = size,
        args = [
            "--model=" + model,
            "--categories=" + ",".join(categories),
        ],
        main = None,
        tags = categories + tags,
        deps = deps + [Label("//harness:model_test_main")],
        **kwargs
    )
