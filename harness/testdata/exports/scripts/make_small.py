"""Copies a few small files of a collection, for tests: make_small.py COLLECTION OUTPUT

Archives lose the stack traces of their nodes, which hold paths of the machine that wrote them.
"""

import io
import json
import pathlib
import shutil
import sys
import zipfile

MODELS = (
    "cnn_small",
    "lstm_batch_first_bidirectional",
    "dyn_view_arange_expand",
    "dyn_derived_dim",
    "data_nonzero",
    "cond_nested",
    "while_loop_closes_over_weights",
    "mut_buffer_decomposed",
    "mut_input_decomposed",
    "mut_buffer_raw",
    "mode_grad_whole",
    "mode_autocast_nested_disabled",
    "sig_nested",
    "sig_constant_inputs",
    "sig_none_outputs",
    "weight_views_of_one_storage",
    "weight_all_dtypes_one_model",
    "constant_lifted",
    "assert_async",
    "effect_print_decomposed",
    "custom_op",
    "hop_scan",
    "rare_bool_lists_and_none_outputs",
    "rare_unbacked_comparisons",
    "rare_wrong_meta",
    "prims_functions",
    "prims_views_operators",
    "prims_network",
    "quantized_per_tensor",
    "quantized_per_channel",
    "quantized_dynamic",
    "quantized_decomposed_operators",
    "torchao_int8_dynamic",
    "torchao_8da4w",
    "torchao_int8_weight",
    "torchao_int4_weight",
    "torchao_float8_weight",
    "torchao_operators",
    "old_2_6_shapes",
    "old_2_7_weights",
    "old_2_8_weights",
    "old_2_9_weights",
)


def without_traces(data):
    """The same archive without the stack traces of its nodes."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for item in old.infolist():
            content = old.read(item)
            if item.filename.endswith(".json") and b'"graph_module"' in content:
                model = json.loads(content)
                strip(model)
                content = json.dumps(model).encode()
            new.writestr(zipfile.ZipInfo(item.filename), content)
    return out.getvalue()


def strip(value):
    if isinstance(value, dict):
        if isinstance(value.get("metadata"), dict) and "target" in value:
            value["metadata"] = {
                k: v for k, v in value["metadata"].items() if k not in ("stack_trace", "from_node")
            }
        for inner in value.values():
            strip(inner)
    elif isinstance(value, list):
        for inner in value:
            strip(inner)


def main():
    source, out = pathlib.Path(sys.argv[1]) / "models", pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    manifest = json.loads((source / "cases.json").read_text())
    chosen = {name: manifest[name] for name in MODELS}
    for name in chosen:
        (out / f"{name}.pt2").write_bytes(without_traces((source / f"{name}.pt2").read_bytes()))
        for tensors in source.glob(f"{name}.*.safetensors"):
            shutil.copy(tensors, out / tensors.name)
    (out / "cases.json").write_text(json.dumps(chosen, indent=1) + "\n")
    size = sum(p.stat().st_size for p in out.iterdir())
    print(f"{len(chosen)} archives, {size} bytes with their tensors")


if __name__ == "__main__":
    main()
