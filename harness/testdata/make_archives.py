"""Makes the archives of this folder, with their inputs and expected outputs. Needs torch.

    python harness/testdata/make_archives.py
"""

import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
EXPORT_MODEL = FOLDER.parent.parent / "tools/export_model.py"

ARCHIVES = {
    "resnet": ["ResNet", "--input", "1,3,32,32"],
    "mobilenet_v2": ["MobileNetV2", "--input", "1,3,32,32"],
    "vit": ["VisionTransformer", "--input", "2,3,24,24", "--dynamic", "images:0=batch:1..64"],
    "gpt2": ["GPT2", "--input", "torch.randint(96, (1, 16))"],
    "llama": [
        "Llama", "--input", "torch.randint(64, (1, 12))", "--dynamic", "input_ids:1=length:2..64"
    ],
}


def main():
    for name, (model, *arguments) in ARCHIVES.items():
        command = [sys.executable, EXPORT_MODEL, f"models.py:{model}", *arguments]
        subprocess.run([*command, "-o", f"{name}.pt2"], cwd=FOLDER, check=True)


if __name__ == "__main__":
    main()
