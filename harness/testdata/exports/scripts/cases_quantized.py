"""Quantised models, and each operator that PyTorch and torchao define in Python for them.

Needs torchao, and executorch for XNNPACKQuantizer; without them there are none of these cases.
"""

import importlib.util

import torch
from torch import nn

from archive_case import Case, case

HAS_TORCHAO = importlib.util.find_spec("torchao") is not None
HAS_EXECUTORCH = importlib.util.find_spec("executorch") is not None


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.first = nn.Linear(128, 32)
        self.second = nn.Linear(32, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.norm(self.conv(x))), 2).flatten(1)
        return self.second(torch.relu(self.first(x)))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 32)
        self.second = nn.Linear(32, 16)

    def forward(self, x):
        return self.second(nn.functional.gelu(self.first(x)))


def pt2e(model, args, **config):
    """Quantises the model with PT2E for XNNPACK, calibrated on `args`."""
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    quantizer = xnnpack_quantizer.XNNPACKQuantizer()
    quantizer.set_global(xnnpack_quantizer.get_symmetric_quantization_config(**config))
    prepared = prepare_pt2e(torch.export.export(model.eval(), args).module(), quantizer)
    prepared(*args)
    return Converted(convert_pt2e(prepared))


class Converted(nn.Module):
    """A converted model, which does not support train() or eval()."""

    def __init__(self, model):
        super().__init__()
        self.model = [model]
        self.weights = nn.ParameterDict()

    def train(self, mode=True):
        return self

    def forward(self, *args):
        return self.model[0](*args)


def torchao(config, dtype=torch.float32):
    from torchao.quantization import quantize_
    from torchao.utils import unwrap_tensor_subclass

    model = Mlp().eval().to(dtype)
    quantize_(model, config)
    return Case(unwrap_tensor_subclass(model), (torch.randn(3, 64).to(dtype),))


if HAS_EXECUTORCH and HAS_TORCHAO:

    @case("quantized_per_tensor")
    def _():
        args = (torch.randn(1, 3, 8, 8),)
        return Case(pt2e(SmallNet(), args), args)

    @case("quantized_per_channel")
    def _():
        args = (torch.randn(1, 3, 8, 8),)
        return Case(pt2e(SmallNet(), args, is_per_channel=True), args)

    @case("quantized_dynamic")
    def _():
        args = (torch.randn(3, 64),)
        return Case(pt2e(Mlp(), args, is_per_channel=True, is_dynamic=True), args)


if HAS_TORCHAO:
    import torch.ao.quantization.fx._decomposed  # noqa: F401 - defines operators
    import torchao.quantization as ao
    from torchao.quantization import quant_api
    from torchao.quantization.granularity import PerGroup, PerRow

    @case("torchao_int8_dynamic")
    def _():
        return torchao(ao.Int8DynamicActivationInt8WeightConfig())

    @case("torchao_8da4w")
    def _():
        return torchao(
            ao.Int8DynamicActivationIntxWeightConfig(
                weight_dtype=torch.int4, weight_granularity=PerGroup(32)
            )
        )

    @case("torchao_int8_weight")
    def _():
        return torchao(ao.Int8WeightOnlyConfig())

    @case("torchao_int4_weight")
    def _():
        return torchao(ao.IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32)))

    @case("torchao_float8_weight")
    def _():
        return torchao(ao.Float8WeightOnlyConfig())

    @case("torchao_float8_dynamic")
    def _():
        # torchao asks for a GPU, but does not need one.
        quant_api._check_hardware_support = lambda granularity: None
        config = ao.Float8DynamicActivationFloat8WeightConfig(granularity=PerRow())
        return torchao(config, torch.bfloat16)


class Decomposed(nn.Module):
    """Calls every operator of quantized_decomposed."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor([0.0371], dtype=torch.float64))
        self.register_buffer("scale32", torch.tensor([0.0371]))
        self.register_buffer("zero", torch.tensor([3]))
        self.register_buffer("low", torch.tensor([-128]))
        self.register_buffer("high", torch.tensor([127]))
        self.register_buffer("scales", torch.tensor([0.01, 0.2, 0.0307, 0.7], dtype=torch.float64))
        self.register_buffer("zeros", torch.tensor([0, -5, 7, 100]))
        self.register_buffer("groups", torch.rand(4, 2) / 10 + 0.001)
        self.register_buffer("group_zeros", torch.randint(-8, 8, (4, 2), dtype=torch.int32))

    def per_tensor(self, x):
        ops = torch.ops.quantized_decomposed
        for low, high, dtype in (
            (-128, 127, torch.int8),
            (0, 255, torch.uint8),
            (-127, 127, torch.int8),
            (0, 65535, torch.uint16),
            (-32768, 32767, torch.int16),
            (-(2**31), 2**31 - 1, torch.int32),
        ):
            q = ops.quantize_per_tensor(x, 0.0371, 3, low, high, dtype)
            yield q
            yield ops.dequantize_per_tensor(q, 0.0371, 3, low, high, dtype)
        for scale in (self.scale, self.scale32):
            q = ops.quantize_per_tensor.tensor(x, scale, self.zero, -128, 127, torch.int8)
            yield q
            for out in (None, torch.float16, torch.bfloat16):
                yield ops.dequantize_per_tensor.tensor(
                    q, scale, self.zero, -128, 127, torch.int8, out_dtype=out
                )
            bounds = self.low, self.high, torch.int8
            q = ops.quantize_per_tensor.tensor2(x, scale, self.zero, *bounds)
            yield q
            yield ops.dequantize_per_tensor.tensor2(q, scale, self.zero, *bounds)

    def per_channel(self, x):
        ops = torch.ops.quantized_decomposed
        for axis, values in ((0, x), (1, x.t()), (-1, x.t())):
            for scales in (self.scales, self.scales.float()):
                bounds = -128, 127, torch.int8
                q = ops.quantize_per_channel(values, scales, self.zeros, axis, *bounds)
                yield q
                yield ops.dequantize_per_channel(q, scales, self.zeros, axis, *bounds)
                yield ops.dequantize_per_channel(
                    q, scales, None, axis, *bounds, out_dtype=torch.float16
                )
        yield ops.fake_quant_per_channel(x.float(), self.scales, self.zeros, 0, -8, 7)

    def per_token(self, x):
        ops = torch.ops.quantized_decomposed
        scales, zeros = ops.choose_qparams_per_token_asymmetric(x, torch.int8)
        yield from (scales, zeros)
        q = ops.quantize_per_token(x, scales, zeros, -128, 127, torch.int8)
        yield q
        yield ops.dequantize_per_token(q, scales, zeros, -128, 127, torch.int8, torch.float32)

    def per_group(self, x):
        ops = torch.ops.quantized_decomposed
        arguments = self.groups, self.group_zeros, -8, 7, torch.int8, 6
        q = ops.quantize_per_channel_group(x, *arguments)
        yield q
        yield ops.dequantize_per_channel_group(q, *arguments, torch.float32)
        yield ops.dequantize_per_channel_group(
            q, self.groups, None, -8, 7, torch.int8, 6, torch.bfloat16
        )

    def chosen(self, x):
        ops = torch.ops.quantized_decomposed
        for low, high, dtype in ((-128, 127, torch.int8), (0, 255, torch.uint8)):
            yield from ops.choose_qparams(x, low, high, 1e-5, dtype)
            yield from ops.choose_qparams_symmetric(x, low, high, 1e-5, dtype)

    def forward(self, *inputs):
        results = []
        for x in inputs:
            for calls in (self.per_tensor, self.per_channel, self.per_token, self.chosen):
                results.extend(calls(x))
        results.extend(self.per_group(inputs[0]))
        results.append(torch.ops.quantized_decomposed.convert_element_type(inputs[0], torch.half))
        return results


class PerToken(nn.Module):
    """An operator whose parameters have another dtype in Python's meta kernel than in its kernel."""

    def forward(self, *inputs):
        return list(self.calls(inputs))

    def calls(self, inputs):
        ops = torch.ops.quantized_decomposed
        for x in inputs:
            scales, zeros = ops.choose_qparams_per_token(x, torch.int8)
            q = ops.quantize_per_token(x, scales, zeros, -128, 127, torch.int8)
            bounds = -128, 127, torch.int8, torch.float32
            yield from (scales, q, ops.dequantize_per_token(q, scales, zeros, *bounds))


class Affine(nn.Module):
    """Calls every operator of torchao that quantised archives have."""

    def integers(self, x, target, low, high):
        ops = torch.ops.torchao
        for mapping in ("SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR", "ASYMMETRIC"):
            if mapping == "SYMMETRIC_NO_CLIPPING_ERR" and target == torch.uint8:
                continue
            for block, keepdim in (([1, 12], False), ([4, 12], False), ([2, 4], True)):
                is_plain = mapping == "ASYMMETRIC"
                rest = (None,) * 3 if is_plain else (1e-6, torch.float32, torch.int32)
                chosen = ops.choose_qparams_affine(
                    x, mapping, block, target, low, high, *rest, keepdim
                )
                yield from chosen
                q = ops.quantize_affine(x, block, *chosen, target, low, high)
                yield q
                yield ops.dequantize_affine(
                    q, block, *chosen, target, low, high, torch.float32 if keepdim else torch.half
                )
        yield ops.dequantize_affine(q, block, chosen[0], None, target, low, high)

    def float8(self, x):
        ops = torch.ops.torchao
        for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
            for block in ([1, 12], [4, 12], [2, 4]):
                yield ops.choose_scale_float8(x, block, dtype)
                scale = ops.choose_scale_float8(x, block, dtype, torch.float32, 0.5, 2.0)
                q = ops.quantize_affine_float8_non_decomposed(x, scale, dtype)
                yield q.float()
                yield ops.dequantize_affine_float8_non_decomposed(q, scale, torch.bfloat16)
        yield ops.choose_scale_float8(x, [1, 12], torch.float8_e4m3fn, torch.float8_e8m0fnu)

    def forward(self, *inputs):
        results = []
        for x in inputs:
            results.extend(self.integers(x, torch.int8, -8, 7))
            results.extend(self.integers(x, torch.uint8, None, None))
            results.extend(self.float8(x))
        return results


def values():
    """Values at the boundaries of steps, in the three dtypes that are quantised."""
    x = torch.arange(-24, 24).reshape(4, 12) * 0.5 * 0.0371
    x[0, :4] = torch.tensor([0.0, -0.0, 1e30, -1e30])
    x[1] *= 1000
    x[2] = torch.randn(12)
    ordinary = torch.randn(4, 12)
    return x, ordinary, ordinary.half(), ordinary.bfloat16()


if HAS_TORCHAO:

    @case("quantized_decomposed_operators")
    def _():
        return Case(Decomposed(), values(), rtol=0, atol=0)

    @case("quantized_per_token_operators")
    def _():
        return Case(PerToken(), values()[1:], rtol=0, atol=0)

    @case("torchao_operators")
    def _():
        return Case(Affine(), values()[1:], rtol=0, atol=0)
