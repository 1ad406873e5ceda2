#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <numeric>
#include <string_view>
#include <utility>

#include "torch_ir/fast/onednn/dnnl.h"
#include "torch_ir/fast/onednn/primitive.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir::onednn {

using Descriptor = dnnl::memory::desc;

struct LayoutAccess {
  static const Descriptor& descriptor(const Layout& layout) {
    return *static_cast<const Descriptor*>(layout.descriptor_.get());
  }
  static Layout layout(const Descriptor& descriptor) {
    Layout layout;
    layout.sizes_ = sizes_of(descriptor);
    layout.descriptor_ = std::make_shared<const Descriptor>(descriptor);
    return layout;
  }
};

namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

const Descriptor& descriptor(const Layout& layout) { return LayoutAccess::descriptor(layout); }

// A dimension by its memory layout: dimensions of size one are left out, and a block that is the
// whole dimension is not a block.
struct Axis {
  int64_t size;
  int64_t stride;
  // The size of the innermost, contiguous block; 1 without blocks.
  int64_t block;
  bool operator==(const Axis&) const = default;
};

// Nothing for layouts with several blocks (those of weights).
std::optional<std::vector<Axis>> axes_of(const Descriptor& descriptor) {
  if (!is_blocked(descriptor)) return std::nullopt;
  const Blocking blocking = blocking_of(descriptor);
  if (blocking.block_sizes.size() > 1 || blocking.sizes != blocking.padded_sizes) {
    return std::nullopt;
  }
  std::vector<Axis> axes;
  for (size_t d = 0; d < blocking.sizes.size(); ++d) {
    const bool has_block =
        !blocking.block_dims.empty() && blocking.block_dims[0] == static_cast<int64_t>(d);
    Axis axis{blocking.sizes[d], blocking.strides[d], has_block ? blocking.block_sizes[0] : 1};
    if (axis.block > 1 && (axis.size == axis.block || axis.stride == axis.block)) {
      axis.stride = axis.block = 1;
    }
    if (axis.size == 1) axis.stride = axis.block = 1;
    axes.push_back(axis);
  }
  return axes;
}

bool has_instructions(unsigned isa) {
  return (static_cast<unsigned>(dnnl::dnnl_get_effective_cpu_isa()) & isa) == isa;
}

using DataType = dnnl::memory::data_type;
constexpr DataType kDataTypes[] = {DataType::f32, DataType::bf16, DataType::s8, DataType::u8,
                                   DataType::s32};

DataType data_type(Type type) { return kDataTypes[static_cast<size_t>(type)]; }

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

const dnnl::stream& stream() {
  static const dnnl::stream stream(cpu());
  return stream;
}

// A primitive of the library, made under OneThread(is_small), and what it is executed with.
struct Executable {
  dnnl::primitive primitive;
  // By DNNL_ARG_SRC, ...: the inputs, the output and the scratchpad.
  std::vector<std::pair<int, Descriptor>> arguments;
  std::vector<Constant> constants;
  bool is_small;
};

class LibraryExecution {
 public:
  explicit LibraryExecution(const Executable& executable)
      : executable_(executable), data_(executable.arguments.size()) {
    for (const auto& [name, descriptor] : executable_.arguments) {
      add(name, descriptor, static_cast<void*>(DNNL_MEMORY_NONE));
    }
    for (Constant& constant : executable_.constants) {
      add(constant.name,
          Descriptor({static_cast<int64_t>(constant.numbers.size())}, constant.type, Dims{1}),
          constant.numbers.data());
    }
  }

  void run(const std::vector<void*>& memory) {
    for (size_t i = 0; i < memory.size(); ++i) {
      if (memory[i] == data_[i]) continue;
      data_[i] = memory[i];
      memory_[i].set_data_handle(memory[i]);
    }
    // A primitive must be executed with as many threads as it was made with.
    const OneThread one_thread(executable_.is_small);
    const dnnl_status_t status =
        dnnl::dnnl_primitive_execute(executable_.primitive.get(), stream().get(),
                                     static_cast<int>(arguments_.size()), arguments_.data());
    dnnl::error::wrap_c_api(status, "a primitive of oneDNN failed");
  }

 private:
  void add(int name, const Descriptor& descriptor, void* data) {
    memory_.emplace_back(descriptor, cpu(), data);
    arguments_.push_back({name, memory_.back().get()});
  }

  Executable executable_;
  // By argument, what `memory_` has now.
  std::vector<void*> data_;
  std::vector<dnnl::memory> memory_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

PrimitivePtr library_primitive(const std::string& name, const dnnl::primitive_desc_base& made,
                               bool is_small, const std::vector<Constant>& constants) {
  const Descriptor scratchpad = made.scratchpad_desc();
  Primitive primitive{
      "onednn::" + name, {}, LayoutAccess::layout(made.dst_desc()), scratchpad.get_size()};
  Executable executable{made.get(), {}, constants, is_small};
  for (const int input : {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS}) {
    const Descriptor descriptor = made.query_md(dnnl::query::exec_arg_md, input);
    if (descriptor.is_zero()) continue;
    primitive.inputs.push_back(LayoutAccess::layout(descriptor));
    executable.arguments.emplace_back(input, descriptor);
  }
  executable.arguments.emplace_back(DNNL_ARG_DST, made.dst_desc());
  executable.arguments.emplace_back(DNNL_ARG_SCRATCHPAD, scratchpad);
  primitive.bind = [executable] {
    return [execution = std::make_shared<LibraryExecution>(executable)](
               const std::vector<void*>& memory) { execution->run(memory); };
  };
  return std::make_shared<const Primitive>(std::move(primitive));
}

// By Function.
constexpr algorithm kFunctions[] = {
    algorithm::eltwise_clip,      algorithm::eltwise_gelu_erf, algorithm::eltwise_gelu_tanh,
    algorithm::eltwise_hardswish, algorithm::eltwise_linear,   algorithm::eltwise_logistic,
    algorithm::eltwise_relu,      algorithm::eltwise_swish,    algorithm::eltwise_tanh};
static_assert(std::size(kFunctions) == static_cast<size_t>(Function::kTanh) + 1);

dnnl::primitive_attr attributes(const PostOps& post_ops = {},
                                const std::optional<Scaling>& scaling = std::nullopt) {
  dnnl::post_ops list;
  for (const PostOp& op : post_ops) {
    if (op.kind == PostOp::Kind::kSum) {
      append_sum(list, scaling ? scaling->sum_scale : 1,
                 scaling ? data_type(scaling->sum_type) : DataType::undef);
    } else {
      append_function(list, kFunctions[static_cast<size_t>(op.function)], op.alpha, op.beta);
    }
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(list);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// Returns its constants.
std::vector<Constant> set_scaling(dnnl::primitive_attr& attributes, const Scaling& scaling,
                                  bool has_groups) {
  std::vector<Constant> constants;
  set_scales(attributes, scaling.scales, has_groups, constants);
  const int32_t zero_point = scaling.source_zero_point;
  if (zero_point != 0) set_source_zero_point(attributes, zero_point, constants);
  return constants;
}

// A smaller call ends before another thread has begun.
constexpr int64_t kSmallElements = 1 << 15;
constexpr int64_t kSmallMultiplications = 1 << 20;

int64_t product_of(const Dims& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies());
}

bool has_few_elements(const Layout& layout) { return product_of(layout.sizes()) < kSmallElements; }

// Each weight is used once for each row or pixel of the output, which has `channels` channels.
bool is_small_product(const Layout& weights, const Layout& output, int64_t channels) {
  const int64_t pixels = product_of(output.sizes()) / std::max<int64_t>(channels, 1);
  return has_few_elements(output) && pixels * product_of(weights.sizes()) < kSmallMultiplications;
}

// Null if the library cannot make it, or has only the slow reference. No other code can reorder.
template <class Describe>
PrimitivePtr make(const std::string& name, bool is_small, Describe describe,
                  const std::vector<Constant>& constants = {}) {
  const OneThread one_thread(is_small);
  try {
    const auto made = describe();
    const auto is_reference = [&] {
      return std::string_view(made.impl_info_str()).find("ref") != std::string_view::npos;
    };
    if (!made || (name != "reorder" && is_reference())) return nullptr;
    return library_primitive(name, made, is_small, constants);
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

// One number for each channel of `output`: of its type, except for integers.
Descriptor bias_of(bool has_bias, const Layout& output) {
  if (!has_bias) return {};
  const Type type = output.type() == Type::kBfloat16 ? Type::kBfloat16 : Type::kFloat;
  return {{output.sizes()[1]}, data_type(type), Dims{1}};
}

}  // namespace

std::optional<std::string> version() {
  if (functions() == nullptr) return std::nullopt;
  const dnnl_version_t* version = dnnl::dnnl_version();
  return std::to_string(version->major) + '.' + std::to_string(version->minor) + '.' +
         std::to_string(version->patch);
}

bool multiplies_bytes() {
  return has_instructions(dnnl_cpu_isa_avx512_core_vnni) ||
         has_instructions(dnnl_cpu_isa_avx2_vnni);
}

bool multiplies_bfloat16() { return has_instructions(dnnl_cpu_isa_avx512_core_bf16); }

bool scales_bias() { return kScalesBias; }

Layout Layout::strided(const Dims& sizes, const Dims& strides, Type type) {
  return LayoutAccess::layout(Descriptor(sizes, data_type(type), strides));
}

Layout Layout::any(const Dims& sizes, Type type) {
  return LayoutAccess::layout(Descriptor(sizes, data_type(type), dnnl::memory::format_tag::any));
}

Layout Layout::channels_last(const Dims& sizes, Type type) {
  Dims strides(sizes.size(), sizes[1]);
  for (size_t d = sizes.size() - 1; d > 2; --d) strides[d - 1] = strides[d] * sizes[d];
  strides[1] = 1;
  strides[0] = strides[2] * sizes[2];
  return strided(sizes, strides, type);
}

Layout Layout::blocked(const Dims& sizes, int64_t block, Type type) {
  using Tag = dnnl::memory::format_tag;
  return LayoutAccess::layout(
      Descriptor(sizes, data_type(type), block == 16 ? Tag::nChw16c : Tag::nChw8c));
}

std::optional<int64_t> Layout::block() const {
  for (const int64_t size : {16, 8}) {
    if (sizes_.size() == 4 && *this == blocked(sizes_, size, type())) return size;
  }
  return std::nullopt;
}

std::optional<Dims> Layout::strides() const {
  if (!is_blocked(descriptor(*this))) return std::nullopt;
  const Blocking blocking = blocking_of(descriptor(*this));
  return blocking.block_dims.empty() ? std::optional(blocking.strides) : std::nullopt;
}

Type Layout::type() const {
  return static_cast<Type>(std::ranges::find(kDataTypes, type_of(descriptor(*this))) - kDataTypes);
}

size_t Layout::bytes() const { return descriptor(*this).get_size(); }

// A number: oneDNN 3 does not show what is in a descriptor of packed weights.
std::string Layout::key() const {
  static std::mutex mutex;
  static std::vector<Descriptor> known;
  const Descriptor& wanted = descriptor(*this);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = std::ranges::find(known, wanted);
  const auto number = found - known.begin();
  if (found == known.end()) known.push_back(wanted);
  return std::to_string(number) + ' ';
}

bool Layout::operator==(const Layout& other) const {
  const Descriptor& a = descriptor(*this);
  const Descriptor& b = descriptor(other);
  if (a == b) return true;
  if (type_of(a) != type_of(b)) return false;
  const auto axes = axes_of(a);
  return axes && axes == axes_of(b);
}

PrimitivePtr make_convolution(const Convolution& convolution) {
  const Layout& output = convolution.output;
  const bool is_small = is_small_product(convolution.weights, output, output.sizes()[1]);
  const bool has_groups = convolution.weights.sizes().size() > convolution.source.sizes().size();
  const algorithm kind =
      convolution.is_winograd ? algorithm::convolution_winograd : algorithm::convolution_direct;
  Dims dilation = convolution.dilation;
  for (int64_t& distance : dilation) --distance;
  std::vector<Constant> constants;
  const auto describe_it = [&] {
    dnnl::primitive_attr with = attributes(convolution.post_ops, convolution.scaling);
    if (convolution.scaling) constants = set_scaling(with, *convolution.scaling, has_groups);
    return describe<dnnl::convolution_forward>(
        cpu(), with, prop_kind::forward_inference, kind, descriptor(convolution.source),
        descriptor(convolution.weights), bias_of(convolution.has_bias, output), descriptor(output),
        convolution.strides, dilation, convolution.padding_before, convolution.padding_after);
  };
  return make(convolution.is_winograd ? "convolution_winograd" : "convolution", is_small,
              describe_it, constants);
}

PrimitivePtr make_inner_product(const Layout& source, const Layout& weights, bool has_bias,
                                Type type, const PostOps& post_ops,
                                const std::optional<Scaling>& scaling) {
  const int64_t columns = weights.sizes()[0];
  const Layout output = Layout::strided({source.sizes()[0], columns}, {columns, 1}, type);
  std::vector<Constant> constants;
  const auto describe_it = [&] {
    dnnl::primitive_attr with = attributes(post_ops, scaling);
    if (scaling) constants = set_scaling(with, *scaling, /*has_groups=*/false);
    return describe<dnnl::inner_product_forward>(cpu(), with, prop_kind::forward_inference,
                                                 descriptor(source), descriptor(weights),
                                                 bias_of(has_bias, output), descriptor(output));
  };
  return make("inner_product", is_small_product(weights, output, columns), describe_it, constants);
}

PrimitivePtr make_reorder(const Layout& from, const Layout& to) {
  return make("reorder", has_few_elements(to), [&] {
    return dnnl::reorder::primitive_desc(cpu(), descriptor(from), cpu(), descriptor(to),
                                         attributes(), /*allow_empty=*/true);
  });
}

PrimitivePtr make_own(const std::string& name, std::vector<Layout> inputs, const Layout& output,
                      const Execution& run) {
  return std::make_shared<const Primitive>(
      Primitive{name, std::move(inputs), output, 0, [run] { return run; }});
}

PrimitivePtr make_pooling(Pooling pooling, const Layout& source, const Layout& output,
                          const Window& window) {
  const algorithm kind = pooling == Pooling::kAverage ? algorithm::pooling_avg_exclude_padding
                                                      : algorithm::pooling_avg_include_padding;
  return make("pooling", has_few_elements(source), [&] {
    return describe<DilatedPooling>(cpu(), attributes(), prop_kind::forward_inference, kind,
                                    descriptor(source), descriptor(output), window.strides,
                                    window.kernel, Dims(window.kernel.size(), 0),
                                    window.padding_before, window.padding_after);
  });
}

PrimitivePtr make_repetition(const Layout& source, const Layout& output) {
  return make("resampling", has_few_elements(source), [&] {
    return describe<dnnl::resampling_forward>(cpu(), attributes(), prop_kind::forward_inference,
                                              algorithm::resampling_nearest, descriptor(source),
                                              descriptor(output));
  });
}

PrimitivePtr make_binary(Binary binary, const Layout& first, const Layout& second,
                         const PostOps& post_ops) {
  // By Binary.
  constexpr algorithm kKinds[] = {algorithm::binary_add, algorithm::binary_mul,
                                  algorithm::binary_sub};
  return make("binary", has_few_elements(first), [&] {
    return describe<dnnl::binary>(cpu(), attributes(post_ops), kKinds[static_cast<size_t>(binary)],
                                  descriptor(first), descriptor(second), descriptor(first));
  });
}

}  // namespace torch_ir::onednn
