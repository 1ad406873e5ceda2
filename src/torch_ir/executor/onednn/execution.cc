#include <string_view>
#include <utility>

#include "torch_ir/executor/onednn/library.h"

// OpenMP's, where the library was built with it.
extern "C" {
int omp_get_max_threads() __attribute__((weak));
void omp_set_num_threads(int num_threads) __attribute__((weak));
}

namespace torch_ir::onednn {
namespace {

const dnnl::stream& stream() {
  static const dnnl::stream stream(cpu());
  return stream;
}

class LibraryExecution final : public Execution {
 public:
  LibraryExecution(const dnnl::primitive& primitive, std::vector<int> names,
                   const std::vector<dnnl::memory::desc>& descriptors, bool is_small)
      : primitive_(primitive), is_small_(is_small) {
    for (size_t i = 0; i < names.size(); ++i) {
      memory_.emplace_back(descriptors[i], cpu(), static_cast<void*>(DNNL_MEMORY_NONE));
      arguments_.push_back({names[i], memory_.back().get()});
    }
  }

  // The output comes last but one, the scratchpad last.
  void set_input(size_t index, const void* data) override {
    memory_[index].set_data_handle(const_cast<void*>(data));
  }
  void set_output(void* data) override { memory_[memory_.size() - 2].set_data_handle(data); }
  void set_scratchpad(void* data) override { memory_.back().set_data_handle(data); }

  void run() override {
    const ThreadsGuard threads(is_small_);
    const dnnl_status_t status = dnnl_primitive_execute(
        primitive_.get(), stream().get(), static_cast<int>(arguments_.size()), arguments_.data());
    dnnl::error::wrap_c_api(status, "a primitive of oneDNN failed");
  }

 private:
  dnnl::primitive primitive_;
  bool is_small_;
  std::vector<dnnl::memory> memory_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

class LibraryPrimitive final : public Primitive {
 public:
  LibraryPrimitive(std::string name, const dnnl::primitive_desc_base& descriptor,
                   const ArgumentNames& arguments, std::vector<Layout> inputs, Layout output,
                   bool is_small)
      : primitive_(descriptor.get()), names_(arguments.inputs), is_small_(is_small) {
    name_ = std::move(name);
    inputs_ = std::move(inputs);
    output_ = std::move(output);
    const dnnl::memory::desc scratchpad = descriptor.scratchpad_desc();
    scratchpad_bytes_ = scratchpad.get_size();
    for (const Layout& input : inputs_) descriptors_.push_back(LayoutAccess::descriptor(input));
    descriptors_.push_back(LayoutAccess::descriptor(*output_));
    descriptors_.push_back(scratchpad);
    names_.push_back(arguments.output);
    names_.push_back(DNNL_ARG_SCRATCHPAD);
  }

  std::unique_ptr<Execution> bind() const override {
    return std::make_unique<LibraryExecution>(primitive_, names_, descriptors_, is_small_);
  }

 private:
  dnnl::primitive primitive_;
  std::vector<int> names_;
  std::vector<dnnl::memory::desc> descriptors_;
  bool is_small_;
};

}  // namespace

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

ThreadsGuard::ThreadsGuard(bool is_small) {
  if (!is_small || omp_get_max_threads == nullptr || omp_get_max_threads() == 1) return;
  num_threads_ = omp_get_max_threads();
  omp_set_num_threads(1);
}

ThreadsGuard::~ThreadsGuard() {
  if (num_threads_ != 0) omp_set_num_threads(num_threads_);
}

bool is_reference(const dnnl::primitive_desc_base& descriptor) {
  return std::string_view(descriptor.impl_info_str()).find("ref") != std::string_view::npos;
}

PrimitivePtr finish(std::string name, const dnnl::primitive_desc_base& descriptor,
                    const ArgumentNames& arguments, std::vector<Layout> inputs, Layout output,
                    bool is_small) {
  return std::make_shared<LibraryPrimitive>(std::move(name), descriptor, arguments,
                                            std::move(inputs), std::move(output), is_small);
}

}  // namespace torch_ir::onednn
