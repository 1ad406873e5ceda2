// Interpolation, of images and at points of a grid.
#include "models/operators/case_table.h"

namespace torch_ir {
namespace {

constexpr Dtypes kNearest = kFloats | kU8;

OperatorTable interpolation() {
  const std::vector<CaseRow> points = {
      {"bilinear_zeros", "x[1,2,4,5], x[1,3,3,2]:-1.25..1.25, 0, 0, False", "zeros outside"},
      {"bilinear_border", "x[1,2,4,5], x[1,3,3,2]:-1.25..1.25, 0, 1, False", "the edge outside"},
      {"bilinear_reflection", "x[1,2,4,5], x[1,3,3,2]:-1.25..1.25, 0, 2, False", "reflected"},
      {"bilinear_corners", "x[1,2,4,5], x[1,3,3,2]:-1.25..1.25, 0, 0, True", "corners are aligned"},
      {"nearest", "x[1,2,4,5], x[1,3,3,2]:-1.25..1.25, 1, 0, False", "the nearest"},
      {"bicubic", "x[1,2,4,5], x[1,3,3,2]:-1.25..1.25, 2, 1, True", "cubic, corners are aligned"}};
  return {
      {"upsample_nearest1d",
       kNearest,
       {{"twice", "x[1,2,4], [8]"}, {"down", "x[1,2,7], [3]", "fewer"}}},
      {"upsample_nearest2d",
       kNearest,
       {{"twice", "x[1,2,3,4], [6,8]"},
        {"uneven", "x[1,2,3,4], [5,3]", "by no whole number"},
        {"scales", "x[1,2,3,4], [4,6], 1.5, 1.5", "by scales"},
        {"channels_last", "x[1,3,3,4]:channels_last, [6,8]", "channels last in memory"}}},
      {"upsample_nearest3d", kNearest, {{"twice", "x[1,2,2,3,3], [4,6,6]"}}},
      {"_upsample_nearest_exact1d", kNearest, {{"uneven", "x[1,2,4], [7]", "by no whole number"}}},
      {"_upsample_nearest_exact2d",
       kNearest,
       {{"uneven", "x[1,2,3,4], [5,3]", "by no whole number"}}},
      {"_upsample_nearest_exact3d", kNearest, {{"uneven", "x[1,2,2,3,3], [3,4,5]", "uneven"}}},
      {"upsample_linear1d",
       kFloats,
       {{"usual", "x[1,2,4], [7], False"},
        {"corners", "x[1,2,4], [7], True", "corners are aligned"}}},
      {"upsample_bilinear2d",
       kFloats | kU8,
       {{"usual", "x[1,2,3,4], [6,7], False"},
        {"corners", "x[1,2,3,4], [6,7], True", "corners are aligned"},
        {"down", "x[1,2,7,6], [3,4], False", "fewer"},
        {"scales", "x[1,2,3,4], [4,6], False, 1.5, 1.5", "by scales"},
        {"channels_last", "x[1,3,3,4]:channels_last, [6,8], False", "channels last in memory"}}},
      {"upsample_bicubic2d",
       kFloats,
       {{"usual", "x[1,2,4,4], [6,7], False"},
        {"corners", "x[1,2,4,4], [6,7], True", "corners are aligned"}}},
      {"upsample_trilinear3d",
       kFloats,
       {{"usual", "x[1,2,2,3,3], [4,5,6], False"},
        {"corners", "x[1,2,2,3,3], [4,5,6], True", "corners"}}},
      {"_upsample_bilinear2d_aa", kWide, {{"down", "x[1,2,7,6], [3,4], False", "fewer, smoothed"}}},
      {"_upsample_bicubic2d_aa", kWide, {{"down", "x[1,2,7,6], [3,4], False", "fewer, smoothed"}}},
      {"upsample_nearest1d.vec", kNearest, {{"scale", "x[1,2,4], None, [2.0]", "by a scale"}}},
      {"upsample_nearest2d.vec",
       kNearest,
       {{"size", "x[1,2,3,4], [6,8], None"},
        {"scale", "x[1,2,3,4], None, [2.0,1.5]", "by scales"}}},
      {"upsample_nearest3d.vec",
       kNearest,
       {{"scale", "x[1,2,2,3,3], None, [2.0,2.0,2.0]", "by scales"}}},
      {"_upsample_nearest_exact2d.vec",
       kNearest,
       {{"scale", "x[1,2,3,4], None, [2.0,1.5]", "by scales"}}},
      {"upsample_linear1d.vec",
       kFloats,
       {{"scale", "x[1,2,4], None, False, [1.75]", "by a scale"}}},
      {"upsample_bilinear2d.vec",
       kFloats,
       {{"size", "x[1,2,3,4], [6,7], False, None"},
        {"corners", "x[1,2,3,4], [6,7], True, None", "corners"},
        {"scale", "x[1,2,3,4], None, False, [2.0,1.5]", "by scales"}}},
      {"upsample_bicubic2d.vec",
       kFloats,
       {{"scale", "x[1,2,4,4], None, False, [1.5,2.0]", "by scales"}}},
      {"upsample_trilinear3d.vec",
       kFloats,
       {{"scale", "x[1,2,2,3,3], None, True, [2.0,2.0,2.0]", "by scales"}}},
      // In eager, positions of the halves are off by whole elements.
      {"grid_sampler_2d", kWide, points},
      {"grid_sampler", kWide, points},
      {"grid_sampler_3d",
       kWide,
       {{"usual", "x[1,2,3,4,4], x[1,2,3,3,3]:-1.25..1.25, 0, 0, False"}}},
      {"affine_grid_generator",
       kWide,
       {{"usual", "x[2,2,3], [2,3,4,5], False"},
        {"corners", "x[2,2,3], [2,3,4,5], True", "corners"}}},
  };
}

const bool registered_interpolation =
    register_operator_cases([] { return make_cases("interpolation", interpolation()); });

}  // namespace
}  // namespace torch_ir
