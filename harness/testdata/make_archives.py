"""Makes the archives of this folder, with their inputs and expected outputs.

    python harness/testdata/make_archives.py [NAME...]
    python harness/testdata/make_archives.py --benchmark DIR [NAME...]

--benchmark makes archives of realistic size in DIR, for timing only; the repository does not keep them.
Needs a Python with torch 2.13 and transformers 5; with torchao and executorch, --benchmark also
makes models in int8 and bfloat16. The same command gives the same bytes.
"""

import argparse
import importlib.util
import pathlib
import sys
import warnings

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent.parent / "tools")]

import export_model  # noqa: E402


def words(count, vocabulary=64):
    return f"torch.randint({vocabulary}, (1, {count}))"


def normal(*sizes):
    return f"torch.randn({sizes})"


# The function that makes each model, and the arguments of its forward.
SMALL = {
    "bert": ["transformers_models:small.bert", f"input_ids={words(16)}"],
    "gpt2": ["transformers_models:small.gpt2", f"input_ids={words(16)}"],
    "gru": ["models:small.gru", normal(2, 12, 16)],
    "llama": ["transformers_models:small.llama", f"input_ids={words(12)}"],
    "llama_cache": [
        "transformers_models:small.llama_cache", f"input_ids={words(1)}",
        "cache_position=torch.tensor([5])"
    ],
    "lstm": ["models:small.lstm", normal(2, 12, 16)],
    "mixtral": ["transformers_models:small.mixtral", f"input_ids={words(16)}"],
    "mobilenet_v2": ["models:small.mobilenet_v2", normal(1, 3, 32, 32)],
    "mobilenet_v3": ["models:small.mobilenet_v3", normal(1, 3, 32, 32)],
    "resnet": ["models:small.resnet", normal(1, 3, 32, 32)],
    "resnet50": ["models:small.resnet50", normal(1, 3, 32, 32)],
    "t5": [
        "transformers_models:small.t5", f"input_ids={words(16)}",
        f"decoder_input_ids={words(8)}"
    ],
    "transformer": ["models:small.transformer", normal(1, 12, 32), normal(1, 8, 32)],
    "unet": ["models:small.unet", normal(2, 3, 32, 32)],
    "vit": ["transformers_models:small.vit", f"pixel_values={normal(2, 3, 32, 32)}"],
    "whisper_decoder": [
        "transformers_models:small.whisper_decoder", f"input_ids={words(8)}",
        f"encoder_hidden_states={normal(1, 16, 32)}"
    ],
    "whisper_encoder": [
        "transformers_models:small.whisper_encoder", f"input_features={normal(1, 32, 32)}"
    ],
}

# Dynamic sizes of the models above.
DYNAMIC = {
    "llama": "input_ids:1=length:2..32",
    "unet": "x:0=batch:1..64",
    "vit": "pixel_values:0=batch:1..64",
}

LARGE = {
    "bert_4x256": ["transformers_models:large.bert", f"input_ids={words(64, 1000)}"],
    "gpt2_4x256": ["transformers_models:large.gpt2", f"input_ids={words(64, 1000)}"],
    "gpt_4x256": ["models:large.gpt", words(64, 1000)],
    "llama_4x256": ["transformers_models:large.llama", f"input_ids={words(64, 1000)}"],
    "lstm_2x128": ["models:large.lstm", normal(1, 64, 64)],
    "mobilenet_v2_96": ["models:large.mobilenet_v2", normal(1, 3, 96, 96)],
    "resnet18_224": ["models:large.resnet", normal(1, 3, 224, 224)],
    "resnet18_96": ["models:large.resnet", normal(1, 3, 96, 96)],
    "vit_4x256": [
        "transformers_models:large.vit", f"pixel_values={normal(1, 3, 128, 128)}"
    ],
    "whisper_encoder_4x256": [
        "transformers_models:large.whisper_encoder", f"input_features={normal(1, 256, 128)}"
    ],
}

# With the suffix of their arithmetic.
QUANTIZED = {
    "bert_4x256_bfloat16": ["quantized_models:bert_bfloat16", words(64, 1000)],
    "bert_4x256_dynamic_int8": ["quantized_models:bert_dynamic_int8", words(64, 1000)],
    "bert_4x256_int8": ["quantized_models:bert_int8", words(64, 1000)],
    "llama_4x256_bfloat16": ["quantized_models:llama_bfloat16", f"input_ids={words(64, 1000)}"],
    "mobilenet_v2_96_int8": ["quantized_models:mobilenet_v2_int8", normal(1, 3, 96, 96)],
    "resnet18_96_int8": ["quantized_models:resnet_int8", normal(1, 3, 96, 96)],
    "vit_4x256_bfloat16": [
        "quantized_models:vit_bfloat16", f"{normal(1, 3, 128, 128)}.bfloat16()"
    ],
    "vit_4x256_int8": ["quantized_models:vit_int8", normal(1, 3, 128, 128)],
}
if all(map(importlib.util.find_spec, ["torchao", "executorch"])):
    LARGE |= QUANTIZED


def make(name, model, *inputs, directory):
    arguments = [model, "-o", str(directory / f"{name}.pt2")]
    for value in inputs:
        arguments += ["--input", value]
    if name in DYNAMIC:
        arguments += ["--dynamic", DYNAMIC[name]]
    return export_model.main(arguments)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--benchmark", type=pathlib.Path, metavar="DIR",
                        help="make the archives for benchmarks, in DIR")
    parser.add_argument("names", nargs="*", metavar="NAME", help="make only these")
    options = parser.parse_args(arguments)
    models = LARGE if options.benchmark else SMALL
    directory = (options.benchmark or FOLDER).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    if unknown := set(options.names) - set(models):
        parser.error(f"unknown names: {', '.join(sorted(unknown))}; expected any of {', '.join(models)}")
    warnings.simplefilter("ignore")
    names = options.names or models
    return max(make(name, *models[name], directory=directory) for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
