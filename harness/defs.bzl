"""Tests of models: one small target a model, so that Bazel filters, shards and caches them."""

load("//tools:cc.bzl", "torch_ir_test")

def torch_ir_model_test(
        name,
        model,
        categories,
        deps,
        optimization = None,
        size = "small",
        tags = [],
        **kwargs):
    """Runs a registered model through the pipeline.

    The page of the model and its IR are left in TEST_UNDECLARED_OUTPUTS_DIR. The test fails when
    the model does not pass, or is not registered with these categories.

    Args:
      name: The name of the target.
      model: The name that the model is registered under.
      categories: The categories that it is registered with, in the same order; tags of the target.
      deps: The library that registers it.
      optimization: "exact" (the default) or "fast".
      size: As in cc_test.
      tags: More tags.
      **kwargs: As in cc_test.
    """
    args = ["--model=" + model, "--categories=" + ",".join(categories)]
    if optimization:
        args.append("--optimization=" + optimization)
    torch_ir_test(
        name = name,
        size = size,
        args = args,
        main = None,
        tags = categories + tags,
        deps = deps + [Label("//harness:model_test_main")],
        **kwargs
    )

def torch_ir_pt2_test(
        name,
        model,
        inputs = None,
        expected = None,
        rtol = None,
        atol = None,
        optimization = None,
        size = "small",
        tags = [],
        **kwargs):
    """Runs an archive of torch.export.save through the pipeline, as `harness --pt2` does.

    The page of the model and its IR are left in TEST_UNDECLARED_OUTPUTS_DIR. The test fails when
    the graph does not compute what is expected.

    Args:
      name: The name of the target.
      model: The archive, a .pt2 file.
      inputs: Its inputs, .safetensors, by the names of the graph. Without, the example inputs that
        the archive was exported with.
      expected: What it should return for them. Without, what its operators compute eagerly.
      rtol: The relative tolerance, when not that of the harness.
      atol: The absolute tolerance, when not that of the harness.
      optimization: "exact" (the default) or "fast".
      size: As in cc_test.
      tags: More tags than "imported".
      **kwargs: As in cc_test.
    """
    files = {"pt2": model, "inputs": inputs, "expected": expected}
    files = {flag: file for flag, file in files.items() if file}
    settings = {"rtol": rtol, "atol": atol, "optimization": optimization}
    args = ["--{}=$(rootpath {})".format(flag, file) for flag, file in files.items()]
    args += ["--{}={}".format(flag, value) for flag, value in settings.items() if value != None]
    torch_ir_test(
        name = name,
        size = size,
        args = args,
        data = files.values(),
        main = None,
        tags = ["imported"] + tags,
        deps = [Label("//harness:pt2_test_main")],
        **kwargs
    )
