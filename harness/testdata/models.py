"""Models that need only torch, with random weights; see make_archives.py.

    small.resnet50()

Vision models follow torchvision, with activations and additions in place.
"""

import dataclasses
import math

import torch
from torch import nn
from torch.nn import functional as F


def calibrated(model):
    """Returns `model` with the statistics of its normalizations after one step of training."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 1.0
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, std=0.1)
    with torch.no_grad():
        model.train()(torch.randn(8, 3, 64, 64))
    return model


def convolution(channels_in, channels, size, stride=1, groups=1, activation=None):
    """A convolution with its normalization and its activation, which is in place."""
    layers = [
        nn.Conv2d(channels_in, channels, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(channels),
    ]
    if activation is not None:
        layers.append(activation(inplace=True))
    return nn.Sequential(*layers)


class BasicBlock(nn.Module):
    EXPANSION = 1

    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = None
        if stride != 1 or channels_in != channels:
            self.downsample = convolution(channels_in, channels, 1, stride)

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class Bottleneck(nn.Module):
    EXPANSION = 4

    def __init__(self, channels_in, channels, stride):
        super().__init__()
        channels_out = self.EXPANSION * channels
        self.conv1 = nn.Conv2d(channels_in, channels, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = nn.Conv2d(channels, channels_out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or channels_in != channels_out:
            self.downsample = convolution(channels_in, channels_out, 1, stride)

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    """Stages with `depths` blocks; each stage has twice the channels of the previous one."""

    def __init__(self, block, depths, channels, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, channels, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        blocks, channels_in = [], channels
        for stage, depth in enumerate(depths):
            for i in range(depth):
                stride = 2 if stage > 0 and i == 0 else 1
                blocks.append(block(channels_in, channels * 2**stage, stride))
                channels_in = channels * 2**stage * block.EXPANSION
        self.blocks = nn.Sequential(*blocks)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(channels_in, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.avgpool(self.blocks(x))
        return self.fc(torch.flatten(x, 1))


class InvertedResidual(nn.Module):
    """The block of MobileNetV2."""

    def __init__(self, channels_in, hidden, channels, size, stride, activation, squeeze=False):
        super().__init__()
        self.adds = stride == 1 and channels_in == channels
        layers = []
        if hidden != channels_in:
            layers.append(convolution(channels_in, hidden, 1, activation=activation))
        layers.append(convolution(hidden, hidden, size, stride, hidden, activation))
        if squeeze:
            layers.append(SqueezeExcitation(hidden))
        layers.append(convolution(hidden, channels, 1))
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.block(x) if self.adds else self.block(x)


class InPlaceInvertedResidual(InvertedResidual):
    """The block of MobileNetV3."""

    def forward(self, x):
        out = self.block(x)
        if self.adds:
            out += x
        return out


class SqueezeExcitation(nn.Module):
    def __init__(self, channels):
        super().__init__()
        squeezed = divisible(channels / 4)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.activation = nn.ReLU(inplace=True)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)
        self.scale_activation = nn.Hardsigmoid(inplace=True)

    def forward(self, x):
        scale = self.fc2(self.activation(self.fc1(self.avgpool(x))))
        return self.scale_activation(scale) * x


def divisible(channels):
    return max(8, int(channels + 4) // 8 * 8)


# Expansion, channels, blocks, stride of the first.
MOBILENET_V2 = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet_v2(scale, classes):
    channels = divisible(32 * scale)
    layers = [convolution(3, channels, 3, 2, activation=nn.ReLU6)]
    for expansion, out, blocks, stride in MOBILENET_V2:
        for i in range(blocks):
            layers.append(
                InvertedResidual(
                    channels, channels * expansion, divisible(out * scale), 3,
                    stride if i == 0 else 1, nn.ReLU6
                )
            )
            channels = divisible(out * scale)
    last = divisible(1280 * scale)
    return nn.Sequential(
        *layers, convolution(channels, last, 1, activation=nn.ReLU6), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(last, classes)
    )


# Size of the kernel, hidden channels, channels, stride, activation, whether it squeezes.
MOBILENET_V3_SMALL = (
    (3, 16, 16, 2, nn.ReLU, True),
    (3, 72, 24, 2, nn.ReLU, False),
    (3, 88, 24, 1, nn.ReLU, False),
    (5, 96, 40, 2, nn.Hardswish, True),
    (5, 240, 40, 1, nn.Hardswish, True),
    (5, 240, 40, 1, nn.Hardswish, True),
    (5, 120, 48, 1, nn.Hardswish, True),
    (5, 144, 48, 1, nn.Hardswish, True),
    (5, 288, 96, 2, nn.Hardswish, True),
    (5, 576, 96, 1, nn.Hardswish, True),
    (5, 576, 96, 1, nn.Hardswish, True),
)


def mobilenet_v3(scale, classes):
    channels = divisible(16 * scale)
    layers = [convolution(3, channels, 3, 2, activation=nn.Hardswish)]
    for size, hidden, out, stride, activation, squeeze in MOBILENET_V3_SMALL:
        layers.append(
            InPlaceInvertedResidual(
                channels, divisible(hidden * scale), divisible(out * scale), size, stride,
                activation, squeeze
            )
        )
        channels = divisible(out * scale)
    hidden, last = 6 * channels, divisible(1024 * scale)
    return nn.Sequential(
        *layers, convolution(channels, hidden, 1, activation=nn.Hardswish),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(hidden, last), nn.Hardswish(inplace=True),
        nn.Dropout(0.2, inplace=True), nn.Linear(last, classes)
    )


class UNet(nn.Module):
    def __init__(self, channels, depth, classes):
        super().__init__()
        sizes = [channels * 2**i for i in range(depth + 1)]
        self.down = nn.ModuleList(self.block(a, b) for a, b in zip([3, *sizes], sizes))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * a, a, 2, 2) for a in sizes[:-1])
        self.merge = nn.ModuleList(self.block(2 * a, a) for a in sizes[:-1])
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Conv2d(channels, classes, 1)

    @staticmethod
    def block(channels_in, channels):
        return nn.Sequential(
            convolution(channels_in, channels, 3, activation=nn.ReLU),
            convolution(channels, channels, 3, activation=nn.ReLU)
        )

    def forward(self, x):
        skipped = []
        for block in self.down[:-1]:
            skipped.append(block(x))
            x = self.pool(skipped[-1])
        x = self.down[-1](x)
        for up, merge in zip(reversed(self.up), reversed(self.merge)):
            x = merge(torch.cat([skipped.pop(), up(x)], dim=1))
        return self.head(x)


class Recurrent(nn.Module):
    """Two layers of `kind`, and a head on the last step."""

    def __init__(self, kind, features, width, classes):
        super().__init__()
        self.layers = kind(features, width, num_layers=2, dropout=0.1, batch_first=True)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        values, _ = self.layers(x)
        return self.head(values[:, -1])


class GPTLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def attend(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (
            t.view(batch, length, self.heads, -1).transpose(1, 2)
            for t in self.qkv(x).split(width, dim=-1)
        )
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        found = scores.masked_fill(mask, -math.inf).softmax(-1) @ v
        return self.proj(found.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x, mask):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """A GPT whose attention is written out: a product, a mask, a softmax, a product."""

    def __init__(self, words, width, heads, layers, tokens):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.position = nn.Parameter(torch.randn(tokens, width))
        self.layers = nn.ModuleList(GPTLayer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.register_buffer("mask", torch.ones(tokens, tokens, dtype=torch.bool).triu(1))

    def forward(self, input_ids):
        x = self.embedding(input_ids) + self.position
        for layer in self.layers:
            x = layer(x, self.mask)
        return self.head(self.norm(x))


@dataclasses.dataclass(frozen=True)
class Models:
    """All models of one size. Each method makes one model, without arguments."""

    channels: int
    # Scales the channels of MobileNets.
    scale: float
    width: int
    classes: int

    def resnet(self):
        """ResNet18."""
        return calibrated(ResNet(BasicBlock, (2, 2, 2, 2), self.channels, self.classes))

    def resnet50(self):
        return calibrated(ResNet(Bottleneck, (3, 4, 6, 3), self.channels, self.classes))

    def mobilenet_v2(self):
        return calibrated(mobilenet_v2(self.scale, self.classes))

    def mobilenet_v3(self):
        return calibrated(mobilenet_v3(self.scale, self.classes))

    def unet(self):
        return calibrated(UNet(self.channels, 2, 2))

    def lstm(self):
        return Recurrent(nn.LSTM, self.width // 2, self.width, self.classes)

    def gru(self):
        return Recurrent(nn.GRU, self.width // 2, self.width, self.classes)

    def transformer(self):
        return nn.Transformer(self.width, 4, 1, 1, 2 * self.width, batch_first=True)

    def gpt(self):
        return GPT(1000, 2 * self.width, heads=4, layers=4, tokens=64)


small = Models(channels=4, scale=0.125, width=32, classes=10)
large = Models(channels=64, scale=1, width=128, classes=1000)
