// Fourier transforms. Of the normalizations of the plain operators, 0 is none, 1 by sqrt(n), 2 by
// n.
#include "models/operators/case_table.h"

namespace torch_ir {
namespace {

OperatorTable transforms() {
  const std::vector<CaseRow> one_dim = {
      {"usual", "x[3,8]"},
      {"odd", "x[3,7]", "an odd length"},
      {"prime", "x[13]", "a prime length"},
      {"padded", "x[3,6], 8", "filled up with zeros"},
      {"cut", "x[3,8], 5", "the first only"},
      {"first_dim", "x[8,3], None, 0", "along the first dimension"},
      {"ortho", "x[3,8], norm='ortho'", "by sqrt(n)"},
      {"forward", "x[3,8], norm='forward'", "by n"}};
  const std::vector<CaseRow> many_dims = {{"usual", "x[2,4,6]"},
                                          {"ortho", "x[2,4,6], norm='ortho'", "by the root of n"}};
  constexpr Dtypes kAny = kWide | kC64;
  return {
      {"fft_fft", kAny, one_dim},
      {"fft_ifft", kAny, one_dim},
      {"fft_rfft", kWide, one_dim},
      {"fft_irfft", kC64, one_dim},
      {"fft_hfft", kC64, {{"usual", "x[3,5]"}}},
      {"fft_ihfft", kWide, {{"usual", "x[3,8]"}}},
      {"fft_fft2", kAny, many_dims},
      {"fft_ifft2", kAny, many_dims},
      {"fft_rfft2", kWide, many_dims},
      {"fft_irfft2", kC64, many_dims},
      {"fft_fftn", kAny, many_dims},
      {"fft_ifftn", kAny, many_dims},
      {"fft_rfftn", kWide, many_dims},
      {"fft_irfftn", kC64, many_dims},
      {"fft_fftshift",
       kNumbers,
       {{"usual", "x[3,5]"}, {"dim", "x[3,4], [1]", "along one dimension"}}},
      {"fft_ifftshift", kNumbers, {{"usual", "x[3,5]"}}},
      {"_fft_r2c",
       kWide,
       {{"onesided", "x[3,8], [1], 0, True"},
        {"full", "x[3,8], [1], 1, False", "both sides, by sqrt(n)"},
        {"two_dims", "x[4,6], [0,1], 2, True", "two dimensions, by n"}}},
      {"_fft_c2r",
       kC64,
       {{"even", "x[3,5], [1], 0, 8"}, {"odd", "x[3,4], [1], 2, 7", "odd, by n"}}},
      {"_fft_c2c",
       kC64,
       {{"forward", "x[3,8], [1], 0, True"},
        {"backward", "x[4,6], [0,1], 2, False", "two dimensions, by n"}}},
      {"stft", kWide, {{"usual", "x[2,32], 8, 4, 8, x[8]:0.5..1, return_complex=True"}}},
      {"stft.center", kWide, {{"usual", "x[2,32], 8, 4, 8, x[8]:0.5..1, return_complex=True"}}},
  };
}

const bool registered_fft = register_operator_cases([] { return make_cases("fft", transforms()); });

}  // namespace
}  // namespace torch_ir
