"""The models of make_archives.py --benchmark in int8 and bfloat16.

Needs torchao and, for the quantizer, executorch.
"""

import pathlib
import sys

import torch

import models
import transformers_models

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "exports" / "scripts"))

from cases_quantized import pt2e  # noqa: E402


def image(size):
    return (torch.randn(1, 3, size, size),)


def words():
    return (torch.randint(1000, (1, 64)),)


def resnet_int8():
    return pt2e(models.large.resnet(), image(96), is_per_channel=True)


def mobilenet_v2_int8():
    return pt2e(models.large.mobilenet_v2(), image(96), is_per_channel=True)


def vit_int8():
    return pt2e(transformers_models.large.vit(), image(128), is_per_channel=True)


def bert_int8():
    return pt2e(transformers_models.large.bert(), words(), is_per_channel=True)


def bert_dynamic_int8():
    return pt2e(transformers_models.large.bert(), words(), is_per_channel=True, is_dynamic=True)


def vit_bfloat16():
    return transformers_models.large.vit().bfloat16()


def bert_bfloat16():
    return transformers_models.large.bert().bfloat16()


def llama_bfloat16():
    return transformers_models.large.llama().bfloat16()
