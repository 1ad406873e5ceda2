"""Models of torchvision, small, with random weights."""

import torch


def define_operators():
    """torchvision requires its C++ operators to be registered, even if its library cannot be loaded."""
    try:
        import torchvision  # noqa: F401

        return
    except RuntimeError:
        pass
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in (
        "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor",
        "_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width, int sampling_ratio, bool aligned) -> Tensor",
        "roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
        "_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
        "ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
        "_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
        "ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
        "_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
        "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
        "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    ):
        try:
            library.define(schema)
        except RuntimeError:
            pass
    define_operators.keep = library


define_operators()

from torchvision import models, ops  # noqa: E402
from torchvision.models.resnet import BasicBlock, Bottleneck  # noqa: E402

from torch.export import Dim  # noqa: E402

from archive_case import Case, case, decomposed  # noqa: E402
from cases_signature import Fn  # noqa: E402


def image(n=1, side=32):
    return torch.randn(n, 3, side, side)


def add(name, make, args=lambda: (image(),), **more):
    @case(name)
    def _():
        return Case(make(), args(), atol=1e-3, rtol=1e-3, **more)


add("resnet_18", lambda: models.resnet18(num_classes=5))
add("resnet_basic_block", lambda: BasicBlock(8, 8), lambda: (torch.randn(1, 8, 8, 8),))
add("resnet_bottleneck_block", lambda: Bottleneck(16, 4), lambda: (torch.randn(1, 16, 8, 8),))
add(
    "resnet_bottleneck_decomposed",
    lambda: Bottleneck(16, 4),
    lambda: (torch.randn(1, 16, 8, 8),),
    change=decomposed,
)
add("mobilenet_v2", lambda: models.MobileNetV2(5, width_mult=0.25))
add("mobilenet_v3", lambda: models.mobilenet_v3_small(num_classes=5, width_mult=0.35))
add("mobilenet_v2_decomposed", lambda: models.MobileNetV2(5, width_mult=0.25), change=decomposed)
add(
    "mobilenet_v2_dynamic",
    lambda: models.MobileNetV2(5, width_mult=0.25),
    lambda: (image(2),),
    dynamic_shapes=({0: Dim("b", min=2, max=8)},),
    more={"other": (image(3),)},
)
add("densenet", lambda: models.DenseNet(4, (2, 2, 2, 2), 8, num_classes=5))
add("efficientnet_b0", lambda: models.efficientnet_b0(num_classes=5))
add("squeezenet", lambda: models.squeezenet1_1(num_classes=5), lambda: (image(1, 48),))
add("shufflenet", lambda: models.shufflenet_v2_x0_5(num_classes=5))
add(
    "googlenet",
    lambda: models.GoogLeNet(5, aux_logits=False, init_weights=False),
    lambda: (image(1, 48),),
)
add("mnasnet", lambda: models.MNASNet(0.35, 5))
add(
    "regnet",
    lambda: models.regnet.RegNet(
        models.regnet.BlockParams([1, 1], [16, 32], [8, 8], [1.0, 1.0], [2, 2], 0.25), num_classes=5
    ),
)
add(
    "convnext",
    lambda: models.ConvNeXt(
        [models.convnext.CNBlockConfig(8, 16, 1), models.convnext.CNBlockConfig(16, None, 1)],
        num_classes=5,
    ),
)
add(
    "vision_transformer",
    lambda: models.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=5),
    wrong="value",
)
add(
    "vision_transformer_decomposed",
    lambda: models.VisionTransformer(32, 8, 1, 2, 16, 32, num_classes=5),
    change=decomposed,
)
add(
    "swin_transformer",
    lambda: models.SwinTransformer([4, 4], 8, [2, 2], [2, 2], [4, 4], num_classes=5),
)
add(
    "swin_transformer_v2",
    lambda: models.SwinTransformer(
        [4, 4],
        8,
        [2, 2],
        [2, 2],
        [4, 4],
        num_classes=5,
        block=models.swin_transformer.SwinTransformerBlockV2,
        downsample_layer=models.swin_transformer.PatchMergingV2,
    ),
)
add(
    "maxvit",
    lambda: models.MaxVit((56, 56), 8, 7, [8, 16], [1, 1], 8, 0.1, num_classes=5),
    lambda: (image(1, 56),),
)
add(
    "deeplab_head",
    lambda: models.segmentation.deeplabv3.ASPP(8, [2, 3], 8),
    lambda: (torch.randn(1, 8, 12, 12),),
)
add(
    "lraspp_head",
    lambda: models.segmentation.lraspp.LRASPPHead(4, 8, 3, 6),
    lambda: ({"low": torch.randn(1, 4, 16, 16), "high": torch.randn(1, 8, 8, 8)},),
)
add(
    "feature_pyramid",
    lambda: ops.FeaturePyramidNetwork([4, 8], 6),
    lambda: ({"a": torch.randn(1, 4, 16, 16), "b": torch.randn(1, 8, 8, 8)},),
)
add(
    "video_r3d_block",
    lambda: models.video.resnet.BasicBlock(4, 4, models.video.resnet.Conv3DSimple),
    lambda: (torch.randn(1, 4, 4, 6, 6),),
)
add(
    "torchvision_nms",
    lambda: Fn(lambda self, b, s: torch.ops.torchvision.nms(b, s, 0.5)),
    lambda: (torch.rand(5, 4), torch.rand(5)),
    refuse="torchvision",
    unrunnable=True,
)
