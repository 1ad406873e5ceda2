#include "torch_ir/weights/torch_file.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/testing/zip_builder.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/weights/testing/test_support.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

std::string content_of(const std::string& name) { return read_file(weights_testdata(name)); }

PickleDocument load_document(const std::string& content,
                             ForeignNames foreign = ForeignNames::kRefused) {
  return load_torch_file(range_of(content), "f", foreign);
}

PickleDocument load_testdata(const std::string& name) { return load_document(content_of(name)); }

const at::Tensor& tensor_in(const PickleDocument& document, std::string_view key) {
  return std::get<at::Tensor>(document->find(key)->value);
}

// Expects an error with the name and `message`.
void expect_not_loaded_from(const std::string& content, const std::string& message) {
  EXPECT_THAT([&] { load_document(content); }, ThrowsMessage<WeightError>("'f' " + message));
}

// --- Files of Python; testdata/make_pt.py makes them ---

TEST(TorchFileTest, EveryDtypeIsRead) {
  const PickleDocument document = load_testdata("dtypes.pt");
  const at::Tensor values = at::tensor({1, 1, 2, 4, 8, 16}, at::kDouble).view({2, 3});
  const auto& items = document->get_if<PickleValue::Dict>()->items;
  EXPECT_EQ(items.size(), 21u);
  for (const auto& [key, value] : items) {
    const std::string& name = *key->get_if<std::string>();
    SCOPED_TRACE(name);
    expect_same_tensors(std::get<at::Tensor>(value->value), values.to(find_dtype(name).value()));
  }
}

TEST(TorchFileTest, MemoryIsSharedAsItWas) {
  const PickleDocument document = load_testdata("shared.pt");
  const at::Tensor base = at::arange(24, at::kFloat).view({4, 6});
  EXPECT_TRUE(at::equal(tensor_in(document, "base"), base));
  EXPECT_TRUE(at::equal(tensor_in(document, "transposed"), base.t()));
  EXPECT_TRUE(at::equal(tensor_in(document, "sliced"), base.slice(0, 1, 3).slice(1, 2, 5)));
  EXPECT_TRUE(at::equal(tensor_in(document, "expanded"), base[3].expand({2, 6})));
  EXPECT_EQ(tensor_in(document, "expanded").strides(), at::IntArrayRef({0, 1}));
  EXPECT_EQ(tensor_in(document, "element").item<float>(), 15);
  EXPECT_EQ(tensor_in(document, "scalar").item<int64_t>(), 5);
  EXPECT_EQ(tensor_in(document, "scalar").dim(), 0);
  EXPECT_EQ(tensor_in(document, "nothing").sizes(), at::IntArrayRef({0, 6}));
  EXPECT_EQ(tensor_in(document, "empty").sizes(), at::IntArrayRef({2, 0, 3}));

  at::Tensor element = tensor_in(document, "element");
  element.fill_(-1);
  for (const char* name : {"base", "tied"}) {
    EXPECT_EQ(tensor_in(document, name)[2][3].item<float>(), -1) << name;
  }
  EXPECT_EQ(tensor_in(document, "sliced")[1][1].item<float>(), -1);
}

// The content of the checkpoints of make_pt.py.
const std::string kCheckpointText =
    "{'model': {'0.weight': tensor(float32, [1, 2]), '0.bias': tensor(float32, [1]), "
    "'1.weight': tensor(float32, [1]), '1.bias': tensor(float32, [1]), "
    "'1.running_mean': tensor(float32, [1]), '1.running_var': tensor(float32, [1]), "
    "'1.num_batches_tracked': tensor(int64, [])}, 'epoch': 3, 'none': None, "
    "'flags': [True, False], 'integers': (0, 255, 65535, -1, 2147483648, "
    "-9223372036854775808, 9223372036854775807), 'big': [<an int>, <an int>, <an int>], "
    "'floats': [0.5f, -1e+300f, inff], 'complex': <a complex number>, 'text': 'caf\u00e9 "
    "\U0001f525', 'long text': '" +
    std::string(256, 'a') +
    "...', 'bytes': [<bytes>, <bytes>, <bytes>, <bytes>], 'sets': [<a set>, <a set>], "
    "'empty': [(), [], {}], 'tuples': [(1), (1, 2), (1, 2, 3), (1, 2, 3, 4)], "
    "'dtype': torch.float16, 'layout': torch.strided, 'device': <a device>, "
    "'size': (2, 3), 'storage': storage, 7: 'seven'}";

TEST(TorchFileTest, CheckpointsOfEveryProtocolHoldWhatPythonSaved) {
  for (const char* name : {"checkpoint_2.pt", "checkpoint_3.pt", "checkpoint_4.pt",
                           "checkpoint_5.pt", "checkpoint_deflated.pt"}) {
    EXPECT_EQ(text_of(*load_testdata(name)), kCheckpointText) << name;
  }
}

TEST(TorchFileTest, FilesWithoutChecksumsAreReadAndTensorsOutliveTheDocument) {
  EXPECT_EQ(text_of(*load_testdata("without_checksums.pt")),
            text_of(*load_testdata("python_state_dict.pt")));
  at::Tensor tensor = tensor_in(load_testdata("shared.pt"), "base");
  EXPECT_EQ(tensor[3][5].item<float>(), 23);
}

TEST(TorchFileTest, AttributesOfTensorsChangeNothing) {
  const PickleDocument document = load_testdata("attributes.pt");
  EXPECT_EQ(text_of(*document),
            "{'parameter': tensor(float32, [2]), 'attributed': tensor(float32, [2]), "
            "'buffer': tensor(float32, [2]), 'conjugate': tensor(complex64, [1]), "
            "'negative': tensor(float32, [1])}");
  EXPECT_FALSE(tensor_in(document, "parameter").requires_grad());
  EXPECT_TRUE(at::equal(tensor_in(document, "conjugate").resolve_conj(),
                        at::tensor({c10::complex<float>(1, -2)})));
  EXPECT_EQ(tensor_in(document, "negative").item<float>(), -2);
}

TEST(TorchFileTest, WhatIsNoDenseTensorHasAName) {
  EXPECT_EQ(text_of(*load_testdata("unsupported.pt")),
            "{'sparse': <a sparse tensor>, 'compressed': <a sparse tensor>, "
            "'quantized': <a quantized tensor>, 'nested': <a nested tensor>, "
            "'meta': <a tensor on the meta device>, "
            "'packed': <a tensor of dtype torch.float4_e2m1fn_x2>, 'array': <a NumPy array>, "
            "'scalar': <a NumPy scalar>}");
}

TEST(TorchFileTest, TorchScriptIsReadAsAttributes) {
  EXPECT_THAT(text_of(*load_testdata("script.pt")),
              AllOf(StartsWith("__torch__.Script(training=True"),
                    HasSubstr("table={'entry': tensor(float32, [2])}"),
                    HasSubstr("0=__torch__.torch.nn.modules.linear.Linear(weight=tensor(float32, "
                              "[1, 2]), bias=tensor(float32, [1])")));
}

TEST(TorchFileTest, LooksAtTheBeginning) {
  EXPECT_TRUE(looks_like_torch_file(content_of("dtypes.pt")));
  EXPECT_TRUE(looks_like_torch_file("\x80\x02\x8a"));
  EXPECT_TRUE(looks_like_torch_file("L119547037146038801333356L\n."));
  EXPECT_FALSE(looks_like_torch_file(content_of("shapes.safetensors")));
  EXPECT_FALSE(looks_like_torch_file(""));
  EXPECT_FALSE(looks_like_torch_file("\x80\x06"));
}

// --- Rejected files ---

TEST(TorchFileErrorsTest, OtherArchivesAndFormatsBeforeZipArchives) {
  expect_not_loaded_from(build_zip({}),
                         "is a zip archive, but not one of torch.save: missing entry data.pkl");
  expect_not_loaded_from("text", "is not a zip archive, so torch.save did not write it");
  for (const char* bytes : {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
                            "\x80\x04N.", "L119547037146038801333356L\n.M\xe9\x03.}.}.](e."}) {
    expect_not_loaded_from(bytes,
                           "is a bare pickle, as PyTorch wrote them before version 1.6; load it in "
                           "Python with torch.load(FILE), and torch.save it again");
  }
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_FALSE(looks_like_torch_file(tar));
  tar.replace(0, 8, "sys_info");
  EXPECT_THAT([&] { load_document(tar); },
              ThrowsMessage<WeightError>(StartsWith("'f' is a tar archive, as PyTorch wrote")));
}

// A file around a pickle, with one storage of four float32.
std::string file_of(const std::string& pickle) {
  return build_zip({{"f/data.pkl", pickle}, {"f/data/7", std::string(16, '\0')}});
}

// The id of that storage.
std::string storage(const std::string& storage_class = "torch\nFloatStorage", int count = 4,
                    const std::string& location = "cpu") {
  return "(" + pickled_text("storage") + "c" + storage_class + "\n" + pickled_text("7") +
         pickled_text(location) + "K" + little_endian(count, 1) + "tQ";
}

// Offset, sizes and strides of a vector.
std::string vector_at(int offset, int size) {
  return "K" + little_endian(offset, 1) + "K" + little_endian(size, 1) + "\x85K\x01\x85";
}

// The call that makes a tensor.
std::string tensor_call(const std::string& view, const std::string& bits = "") {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + view + "\x89}" + bits + "tR";
}

// {"w": a tensor}
std::string tensor_pickle(const std::string& view) {
  return "}" + pickled_text("w") + tensor_call(view) + "s.";
}

// As {"model": model.state_dict(), "best_acc": numpy.float64(0.5)} is saved by NumPy 1 and 2.
TEST(TorchFileTest, NumbersOfNumpyBesideAStateDictAreNotRead) {
  const std::string zero("K\0", 2);
  const std::string minus_one = "J" + little_endian(0xffffffff, 4);
  const std::string dtype = "cnumpy\ndtype\n(" + pickled_text("f8") + "\x89\x88tR(K\x03" +
                            pickled_text("<") + "NNN" + minus_one + minus_one + zero + "tb";
  for (const char* module : {"numpy.core.multiarray", "numpy._core.multiarray"}) {
    const std::string number =
        "c" + std::string(module) + "\nscalar\n" + dtype + "C\x08" + std::string(8, '\0') + "\x86R";
    const PickleDocument document =
        load_document(file_of("}" + pickled_text("model") + "}" + pickled_text("w") +
                              tensor_call(storage() + vector_at(0, 4)) + "ss" +
                              pickled_text("best_acc") + number + "s."));
    EXPECT_EQ(text_of(*document),
              "{'model': {'w': tensor(float32, [4])}, 'best_acc': <a NumPy scalar>}");
    EXPECT_THAT(find_state_dict(*document).keys(), ElementsAre("w"));
  }
}

TEST(TorchFileErrorsTest, StoragesOfArchives) {
  const auto archive = [](int size, const std::vector<ZipEntry>& others,
                          const std::string& location = "cpu") {
    std::vector<ZipEntry> entries = {
        {"f/data.pkl", tensor_pickle(storage("torch\nFloatStorage", size, location) +
                                     vector_at(/*offset=*/0, size))}};
    entries.insert(entries.end(), others.begin(), others.end());
    return build_zip(entries);
  };
  EXPECT_EQ(text_of(*load_document(archive(4, {{"f/data/7", std::string(16, '\0')}}))),
            "{'w': tensor(float32, [4])}");
  EXPECT_EQ(text_of(*load_document(archive(0, {}))), "{'w': tensor(float32, [0])}");
  EXPECT_EQ(text_of(*load_document(archive(4, {}, "meta"))),
            "{'w': <a tensor on the meta device>}");
  expect_not_loaded_from(
      archive(4, {{"f/data/7", "short"}}),
      "holds a tensor under ['w'] that cannot be read: storage '7' has 5 bytes, expected "
      "16");
  expect_not_loaded_from(archive(4, {}),
                         "holds a tensor under ['w'] that cannot be read: missing storage '7'");
  expect_not_loaded_from(
      archive(4, {{"f/byteorder", "big"}}),
      "was written by a big-endian machine, which is not supported; load it in Python, "
      "and torch.save it again");
  expect_not_loaded_from(archive(4, {{"f/byteorder", "middle"}}),
                         "has the unknown byte order 'middle'");
}

TEST(TorchFileErrorsTest, TensorsAndStoragesThatDoNotFit) {
  const auto expect_refused = [](const std::string& view, const std::string& message) {
    expect_not_loaded_from(file_of(tensor_pickle(view)), message);
  };
  expect_refused(storage() + vector_at(2, 3),
                 "holds a tensor under ['w'] that cannot be read: shape [3] with strides [1] at "
                 "offset 2 needs 20 bytes, but the storage has 16");
  expect_refused(storage("torch\nSize") + vector_at(1, 3),
                 "is damaged: its pickle has a tuple that is not the id of a storage");
  expect_refused(storage("torch.storage\nUntypedStorage", 16) + vector_at(1, 3),
                 "is damaged: its pickle calls torch._utils._rebuild_tensor_v2 with a storage "
                 "without a dtype");
  expect_not_loaded_from(
      file_of(tensor_call(storage() + vector_at(0, 1), "}" + pickled_text("conj") + "\x88s") + "."),
      "is damaged: its pickle calls torch._utils._rebuild_tensor_v2 with bits "
      "that a tensor of float32 does not have");
}

TEST(TorchFileErrorsTest, CallsWithOtherArguments) {
  const auto expect_pickle_fails = [](const std::string& pickle, const std::string& message) {
    expect_not_loaded_from(file_of(pickle + "."), "is damaged: its pickle " + message);
  };
  expect_pickle_fails("ctorch._utils\n_rebuild_tensor_v2\n)R",
                      "calls torch._utils._rebuild_tensor_v2 with 0 arguments");
  expect_pickle_fails("ctorch\nSize\nK\x01\x85R", "calls torch.Size with an int as argument 1");
  expect_pickle_fails("ctorch\nfloat32\n)R", "calls torch.float32, which is not callable");
  expect_pickle_fails("N)R", "calls None");
  expect_pickle_fails("]Nb", "gives attributes to a list");
  expect_pickle_fails("K\x01Q", "has an int that is not the id of a storage");
}

TEST(TorchFileErrorsTest, NamesThatAreNotListed) {
  const auto load_pickle = [](const std::string& pickle) { load_document(file_of(pickle + ".")); };
  for (const char* name : {"os\nsystem", "builtins\neval", "__builtin__\ngetattr", "torch\nload",
                           "torch.storage\n_load_from_bytes", "torch.jit\nload", "__torch__\nNet",
                           "posix\nsystem", "torch\n_C", "numpy\nload", "torch\nint8\x1b"}) {
    EXPECT_THAT([&] { load_pickle("c" + std::string(name) + "\n"); },
                ThrowsMessage<WeightError>(StartsWith("'f' holds a pickled object of class '")))
        << name;
  }
  EXPECT_THAT([&] { load_pickle(pickled_text("os") + pickled_text("system\n\x1b") + "\x93"); },
              ThrowsMessage<WeightError>(StartsWith(
                  "'f' holds a pickled object of class 'os.system\\x0a\\x1b'; only tensors")));
  EXPECT_THAT([&] { load_pickle("ctorchao.quantization\nInt8Tensor\n"); },
              ThrowsMessage<WeightError>(
                  HasSubstr("unwrap_tensor_subclass(model) instead; if this is that model, torchao "
                            "cannot unwrap the class: quantize otherwise")));
}

// Nothing is called, and what a pickle adds to a foreign value is dropped: an object with a state,
// a list and a dict of other classes, and a factory.
TEST(TorchFileTest, ForeignNamesAreKeptAsValues) {
  const std::string pickle = "(cos\nsystem\n" + pickled_text("exit 1") + "\x85R" + "ca\nB\n)\x81}" +
                             pickled_text("w") + "K\x01sb" + "ca\nC\n)}\x92" +
                             "ca\nList\n)R(K\x01K\x02" + "e" + "ca\nDict\n)R(K\x01K\x02u" +
                             "ccollections\ndefaultdict\nca\nfactory\n\x85RK\x01K\x02s" +
                             "ctorch.nn.parameter\nParameter\nca\nTensor\n\x85R" + "t.";
  EXPECT_EQ(text_of(*load_document(file_of(pickle), ForeignNames::kKept)),
            "(<an object of class 'os.system'>, <an object of class 'a.B'>, <an object of class "
            "'a.C'>, <an object of class 'a.List'>, <an object of class 'a.Dict'>, {1: 2}, <an "
            "object of class 'a.Tensor'>)");
}

// Ten thousand items, and many containers made of them, each in seven bytes of the file.
TEST(TorchFileErrorsTest, CopiesAndLongArgumentsAreLimited) {
  const auto expect_limited = [](std::string pickle, const std::string& item,
                                 const std::string& global, int count) {
    for (int i = 0; i < 10'000; ++i) pickle += item;
    pickle += global + "q\x02";
    for (int i = 0; i < count; ++i) pickle += "h\x02h\x01\x85R0";
    expect_not_loaded_from(
        file_of(pickle + "."),
        "holds a pickle that needs more than 268435456 bytes without its tensors' data");
  };
  expect_limited("}(", "K\x01N", "uq\001cbuiltins\ndict\n", 2'000);
  expect_limited("(", "K\x01", "tq\001ctorch\nSize\n", 4'000);
}

// --- Damage ---

// Loads `content` as weights; it gives them or an error of one line.
void load_damaged(const std::string& content) {
  try {
    find_state_dict(*load_document(content, ForeignNames::kKept));
  } catch (const WeightError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
}

TEST(TorchFileErrorsTest, EveryTruncationAndEveryChangedByteGivesWeightsOrAnError) {
  for (const char* name : {"python_state_dict.pt", "shared.pt", "checkpoint_deflated.pt",
                           "attributes.pt", "unsupported.pt"}) {
    SCOPED_TRACE(name);
    const std::string content = content_of(name);
    ASSERT_GT(content.size(), 0u);
    for (size_t i = 0; i < content.size(); ++i) {
      load_damaged(content.substr(0, i));
      for (const char change : {'\x01', '\xff'}) {
        std::string changed = content;
        changed[i] = static_cast<char>(changed[i] ^ change);
        load_damaged(changed);
      }
    }
  }
}

}  // namespace
}  // namespace torch_ir
