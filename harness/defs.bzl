"""Tests of models: one small target per model, so that Bazel filters, shards and caches them."""

load("//tools:cc.bzl", "torch_ir_binary", "torch_ir_program_test", "torch_ir_test")

def torch_ir_model_test(
        name,
        deps = [],
        model = None,
        categories = [],
        golden = None,
        golden_page = None,
        optimization = None,
        program = None,
        size = "small",
        tags = [],
        **kwargs):
    """Runs registered models through the pipeline.

    A workspace with its own models adds this repository as an external one (see docs/bazel.md). Then,
    in a package:

        load("@torch_ir//harness:defs.bzl", "torch_ir_model_test")

        cc_library(
            name = "my_model",
            srcs = ["my_model.cc"],  # a torch::nn module, and REGISTER_MODEL
            deps = ["@torch_ir"],
            alwayslink = True,  # the model registers itself; nothing calls it
        )

        torch_ir_model_test(
            name = "my_model_test",
            model = "MyModel",
            categories = ["attention"],
            deps = [":my_model"],
            golden = "my_model.json",
        )

    The test fails if a model does not pass, is not registered with these categories, or differs from
    its golden files. It leaves pages and graphs in TEST_UNDECLARED_OUTPUTS_DIR (Bazel's
    test.outputs), and verdicts in XML_OUTPUT_FILE (its test.xml), one case per model.

    `bazel run //PACKAGE:NAME.update` writes the golden files, also for the first time, and
    `bazel run @torch_ir//tools:update_goldens` those of the whole workspace.

    Args:
      name: The name of the target.
      deps: The libraries that register the models.
      model: The name of a model that deps register. By default the test runs all models that they
        register, one case each; shard_count spreads them over processes.
      categories: The categories that the model is registered with, in the same order; for several
        models, all their categories. They are tags of the target, for --test_tag_filters.
      golden: The expected graph of the model, a .json file of this package.
      golden_page: The expected page of the model, an .md file of this package.
      optimization: "exact" (the default) or "fast".
      program: A program to run in place of deps, for tests that share one.
      size: As in cc_test.
      tags: More tags.
      **kwargs: As in cc_test; shard_count, data, timeout, ...
    """
    goldens = {"golden": golden, "golden-page": golden_page}
    goldens = {flag: file for flag, file in goldens.items() if file}
    if goldens and program:
        fail("torch_ir_model_test {}: golden files need deps, not program".format(name))
    if goldens and not model:
        fail("torch_ir_model_test {}: golden files need a model".format(name))
    package = native.package_name()
    settings = {
        "model": model,
        "categories": ",".join(categories),
        "optimization": optimization,
        "target": "//{}:{}".format(package, name),
    }
    for flag, file in goldens.items():
        settings[flag] = "{}/{}".format(package, file) if package else file
    args = ["--{}={}".format(flag, value) for flag, value in settings.items() if value]

    # A file that is not written yet fails the test, and not the build.
    data = kwargs.pop("data", []) + native.glob(goldens.values(), allow_empty = True)
    tags = categories + tags
    if program:
        torch_ir_program_test(name = name, args = args, data = data, program = program, size = size, tags = tags, **kwargs)
        return
    deps = deps + [Label("//harness/regression:model_test_main")]
    torch_ir_test(
        name = name,
        size = size,
        args = args,
        data = data,
        main = None,
        tags = tags,
        deps = deps,
        **kwargs
    )
    if goldens:
        torch_ir_binary(
            name = name + ".update",
            testonly = True,
            args = args + ["--update"],
            tags = ["manual"],
            deps = deps,
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

    It leaves the page of the model and its IR in TEST_UNDECLARED_OUTPUTS_DIR. The test fails if the
    outputs differ from the expected ones.

    Args:
      name: The name of the target.
      model: The archive, a .pt2 file.
      inputs: Its inputs, a .safetensors file with the names of the graph. By default the example
        inputs that the archive was exported with.
      expected: The expected outputs. By default the results of its operators, run eagerly.
      rtol: The relative tolerance; by default the harness's.
      atol: The absolute tolerance; by default the harness's.
      optimization: "exact" (the default) or "fast".
      size: As in cc_test.
      tags: Tags in addition to "imported".
      **kwargs: As in cc_test.
    """
    files = {"pt2": model, "inputs": inputs, "expected": expected}
    files = {flag: file for flag, file in files.items() if file}
    settings = {"rtol": rtol, "atol": atol, "optimization": optimization}
    args = ["--{}=$(rootpath {})".format(flag, file) for flag, file in files.items()]
    args += ["--{}={}".format(flag, value) for flag, value in settings.items() if value != None]
    torch_ir_program_test(
        name = name,
        size = size,
        args = args,
        data = kwargs.pop("data", []) + files.values(),
        program = str(Label("//harness/regression:archives_and_operators")),
        tags = ["imported"] + tags,
        **kwargs
    )
