"""Faults that a test has to notice: what tools/mutation_check.py puts into the sources, one at a time.

By file, each a tuple of what goes wrong, an expression or statements that the file has once, and what
takes their place. Literals only, as the script reads them too.
"""

MUTANTS = {
    # --- The executor: planned memory, replay, segments, lowering ---
    "src/torch_ir/executor/trace/memory_plan.cc": [
        (
            "memory is given away in the call that reads it last",
            "blocks[*ended].last < blocks[index].first",
            "blocks[*ended].last <= blocks[index].first",
        ),
        (
            "a block takes the place of one that began before it",
            "std::max(blocks_[other].first, block.first) == call",
            "blocks_[other].first == call",
        ),
    ],
    "src/torch_ir/executor/trace/trace_memory.cc": [
        (
            "a result takes the memory of an input that is read later",
            "trace.buffers[place.owner].place.last_call == index",
            "true",
        ),
        (
            "memory that a result took over is free when its first value is",
            "shared.last_call = place.last_call;",
            "",
        ),
        (
            "a result takes the memory of an input that the call reads in another order too",
            "!is_read_otherwise",
            "true",
        ),
        (
            "a result takes the memory of an input of another layout",
            "a.strides == b.strides",
            "true",
        ),
    ],
    "src/torch_ir/executor/replay/frame.cc": [
        (
            "an output that the caller kept is overwritten by the next run",
            "!are_released || storage_.use_count() != 1 + returned_.size()",
            "storage_.use_count() != 1 + returned_.size()",
        ),
        (
            "the outputs of all runs share memory",
            "for (OutputMemory& memory : output_memory_) move(memory.buffer(), memory.take());",
            "",
        ),
        (
            "kernels read the inputs of an earlier run",
            "for (PreparedKernel* kernel : users_[buffer]) kernel->on_moved(storage);",
            "",
        ),
        (
            "a caller who writes to an output changes the plan",
            "copy_group({trace.tensors[id].constant}).front()",
            "trace.tensors[id].constant",
        ),
        (
            "an output that is a view of an input forgets where the input begins",
            "input.storage_offset() + traced.offset",
            "traced.offset",
        ),
    ],
    "src/torch_ir/executor/replay/replays.cc": [
        (
            "a trace of other strides is replayed",
            "tensor.strides() == input.strides",
            "true",
        ),
        (
            "a trace of another number is replayed",
            "c10::IValue(tensor.item()) == *input.number",
            "true",
        ),
        (
            "an error in a replay is swallowed",
            "return ReplayResult::kFailed;",
            "return ReplayResult::kDone;",
        ),
    ],
    "src/torch_ir/executor/replay/tracer.cc": [
        (
            "random numbers are drawn once for all runs",
            'refuse("it draws random numbers");',
            "",
        ),
        (
            "a folded constant is written to",
            'if (folded == folded_by_.end()) refuse("it writes to a constant");\n      wrongly_folded_.insert(folded->second);',
            'if (folded == folded_by_.end()) refuse("it writes to a constant");',
        ),
        (
            "a folded constant is handed to a segment that lets others write to it",
            "if (folded != folded_by_.end()) wrongly_folded_.insert(folded->second);",
            "",
        ),
    ],
    "src/torch_ir/executor/replay/segmented_graph.cc": [
        (
            "inputs that share memory are replayed as if they did not",
            "graph_.writes_in_place && may_see_writes(graph_, inputs)",
            "false",
        ),
    ],
    "src/torch_ir/executor/graph/graph_slice.cc": [
        (
            "a value is let go before the segment behind reads it",
            "read_until_[value] <= last",
            "read_until_[value] <= last + 1",
        ),
        (
            "a segment writes to the plan's constant instead of the run's copy",
            "slice.graph.values[number].constant = at::Tensor();",
            "",
        ),
    ],
    "src/torch_ir/executor/graph/symbol_binder.cc": [
        (
            "a size may be one more than the graph is made for",
            "*value > *range.max",
            "*value > *range.max + 1",
        ),
    ],
    "src/torch_ir/executor/graph/lowered_graph.cc": [
        (
            "an argument that is left out is None, whatever its default",
            "argument.default_value().value_or(c10::IValue())",
            "c10::IValue()",
        ),
        (
            "of several outputs the first is read",
            "producer->first_output + static_cast<ValueId>(index)",
            "producer->first_output",
        ),
    ],
    "src/torch_ir/executor/graph/alias_analysis.cc": [
        (
            "a write to a tied weight is not seen in the other",
            "unite_overlapping_constants(graph, sets);",
            "",
        ),
    ],
    "src/torch_ir/executor/graph/memory_overlap.cc": [
        (
            "what lies behind a small view inside a large one does not overlap",
            "std::max(group_end, ranges[index].end)",
            "ranges[index].end",
        ),
    ],
    "src/torch_ir/executor/interpreter/run.cc": [
        (
            "a constant is handed out itself",
            "copy_group({value}).front()",
            "value",
        ),
        (
            "an input of another shape or dtype is taken",
            "!difference.empty()",
            "false",
        ),
    ],
    # --- Kernels ---
    "src/torch_ir/executor/kernels/pooling.cc": [
        (
            "the greatest of a NaN and a number is the number",
            "(value > maximum) | (value != value)",
            "value > maximum",
        ),
        (
            "windows of three have their second element twice",
            "row + 2 * first + 1",
            "row + 2 * first",
        ),
        (
            "the last row and column of a window are left out",
            "(window - 1) * dilation + 1",
            "(window - 1) * dilation",
        ),
    ],
    "src/torch_ir/executor/kernels/concatenation.cc": [
        (
            "tensors of several dtypes are joined byte by byte",
            "tensor.dtype() == output.dtype()",
            "true",
        ),
    ],
    "src/torch_ir/executor/kernels/matrix.cc": [
        (
            "the first row of a matrix is added to all rows",
            "addend_.is_row ? from : from + row * columns",
            "from",
        ),
        (
            "what is added is scaled as the product is",
            "beta.to<Number>()",
            "alpha.to<Number>()",
        ),
    ],
    "src/torch_ir/executor/kernels/selection.cc": [
        (
            "each block of a long row is its first block",
            "is_row_ ? data_ + begin : repeated_",
            "is_row_ ? data_ : repeated_",
        ),
    ],
    "src/torch_ir/executor/kernels/normalization.cc": [
        (
            "statistics that are used are not written where the mean is not",
            "call.is_used[1] || call.is_used[2]",
            "call.is_used[1]",
        ),
    ],
    "src/torch_ir/executor/kernels/indexing.cc": [
        (
            "a negative row is read",
            "index[i] < 0 || index[i] >= limit",
            "index[i] >= limit",
        ),
    ],
    "src/torch_ir/executor/kernels/copying.cc": [
        (
            "a copy to another layout is one of bytes",
            "to.strides() == from.strides() && to.is_non_overlapping_and_dense()",
            "to.is_non_overlapping_and_dense()",
        ),
    ],
    "src/torch_ir/executor/kernels/iterator_kernel.cc": [
        (
            "an operand that was converted keeps what it was when it was prepared",
            "at::native::copy_(conversion.to, conversion.from, /*non_blocking=*/false);",
            "",
        ),
    ],
    "src/torch_ir/executor/kernels/attention.cc": [
        (
            "the scale of attention is dropped",
            "if (!call.arguments[6].isNone()) scale_ = call.arguments[6].toDouble();",
            "",
        ),
    ],
    "src/torch_ir/executor/kernels/activation.cc": [
        (
            "the gate of a gated linear unit is its value",
            "self.narrow(dim, half, half)",
            "self.narrow(dim, 0, half)",
        ),
    ],
    # --- fast ---
    "src/torch_ir/executor/graph/fold_batch_norms.cc": [
        (
            "a batch norm is folded without its epsilon",
            "(variance.to(at::kDouble) + eps).rsqrt()",
            "variance.to(at::kDouble).rsqrt()",
        ),
        (
            "a batch norm is folded into a convolution that others read",
            "convolution && editor.only_user(*input)",
            "convolution.has_value()",
        ),
    ],
    "src/torch_ir/executor/graph/pack_convolutions.cc": [
        (
            "what is broadcast is fused as an addition of equals",
            "meta->shape != output.shape",
            "false",
        ),
        (
            "an addition is fused without its factor",
            "!is_plain",
            "false",
        ),
    ],
    "src/torch_ir/executor/fusion/functionalize.cc": [
        (
            "after two writes in place a view shows the first",
            "if (to == old) to = next;",
            "",
        ),
    ],
    "src/torch_ir/executor/fusion/trace_rewriter.cc": [
        (
            "an output is swallowed by the call that reads it",
            "is_output_[buffer] || is_written_[buffer]",
            "is_written_[buffer]",
        ),
        (
            "a sum is written over an addend that is read later",
            "last_reader_[buffer] <= std::max(index, current_)",
            "true",
        ),
    ],
    "src/torch_ir/executor/fusion/chain.cc": [
        (
            "selu is fused as elu",
            'call.number("scale", 1) != 1 || call.number("input_scale", 1) != 1',
            "false",
        ),
        (
            "gelu by tanh is fused as the other",
            "is_tanh ? Function::kGeluTanh : Function::kGeluErf",
            "Function::kGeluErf",
        ),
        (
            "a batch norm behind a view of other channels is fused",
            "rewriter_.tensor(output).sizes[1] != rewriter_.tensor(chain_.output).sizes[1]",
            "false",
        ),
    ],
    "src/torch_ir/executor/fusion/linear_rules.cc": [
        (
            "what is scaled before it is added is fused as it is",
            'arguments.number("beta", 1) != 1',
            "false",
        ),
    ],
    "src/torch_ir/executor/fusion/convolution_rules.cc": [
        (
            "weights packed with another epsilon are used",
            "key = std::to_string(std::bit_cast<uint64_t>(norm->eps));",
            "",
        ),
    ],
    "src/torch_ir/executor/fusion/carried_rules.cc": [
        (
            "a maximum that may meet NaN is oneDNN's",
            "rewriter.is_clean(*source)",
            "true",
        ),
        (
            "an average counts padding where it must not",
            "counts_padding ? Pooling::kAverageWithPadding : Pooling::kAverage",
            "counts_padding ? Pooling::kAverage : Pooling::kAverageWithPadding",
        ),
        (
            "a leaky rectifier behind a batch norm is fused as a plain one",
            "functions[0].alpha == 0",
            "true",
        ),
        (
            "the channels of several images are joined as those of one",
            "sizes[0] == 1 && sizes[1] % *block == 0",
            "sizes[1] % *block == 0",
        ),
    ],
    "src/torch_ir/executor/fusion/lstm_layer.cc": [
        (
            "the reverse direction runs forward",
            "layer.is_reverse ? layer.num_steps - 1 - i : i",
            "i",
        ),
        (
            "a large exponent overflows",
            "x = x > most ? most : x;",
            "",
        ),
    ],
    "src/torch_ir/executor/onednn/layout.cc": [
        (
            "a layout with padding equals one without",
            "md.dims[d] != md.padded_dims[d]",
            "false",
        ),
    ],
    "src/torch_ir/executor/onednn/primitives.cc": [
        (
            "the parameters of a fused function are swapped",
            "list.append_eltwise(1.0F, algorithm_of(op.function), op.alpha, op.beta);",
            "list.append_eltwise(1.0F, algorithm_of(op.function), op.beta, op.alpha);",
        ),
    ],
    # --- The verifier ---
    "src/torch_ir/verifier/compare.cc": [
        (
            "tensors of several dtypes are compared",
            "actual.scalar_type() != expected.scalar_type()",
            "false",
        ),
        (
            "tensors of as many elements have equal shapes",
            "actual.sizes() != expected.sizes()",
            "actual.numel() != expected.numel()",
        ),
    ],
    "src/torch_ir/verifier/comparison_metrics.cc": [
        (
            "a NaN on one side is equal",
            "a == e || (is_nan(a) && is_nan(e))",
            "a == e || is_nan(a) || is_nan(e)",
        ),
        (
            "a difference that is infinite passes",
            "!is_finite_difference || excess > 0",
            "is_finite_difference && excess > 0",
        ),
        (
            "the tolerance is relative to what was computed",
            "magnitude(e)",
            "magnitude(a)",
        ),
    ],
    "src/torch_ir/verifier/tensor_blocks.cc": [
        (
            "a difference in a large tensor is not seen",
            "if (!visit_blocks(rows, first + i * row, visit)) return false;",
            "visit_blocks(rows, first + i * row, visit);",
        ),
        (
            "the rows at the end of a large tensor are left out",
            "i < shape.size(dim)",
            "i + rows_at_once <= shape.size(dim)",
        ),
    ],
    "src/torch_ir/verifier/tolerance.cc": [
        (
            "integers have the tolerance of floats",
            "compares_exactly(dtype)",
            "false",
        ),
    ],
    "src/torch_ir/verifier/verify.cc": [
        (
            "the tolerance of an output is that of its neighbour",
            "rule.outputs.emplace(names.size(), own->second);",
            "rule.outputs.emplace(i, own->second);",
        ),
        (
            "the reference writes to the caller's inputs",
            "reference(copies(inputs))",
            "reference(inputs)",
        ),
    ],
    "src/torch_ir/verifier/second_opinion.cc": [
        (
            "who has more NaN than eager is better",
            "opinion.executor_non_finite > opinion.eager_non_finite ? kInfinite : 0",
            "opinion.executor_non_finite > opinion.eager_non_finite ? 0 : kInfinite",
        ),
        (
            "no second opinion is a good one",
            "opinion.reason.empty() && opinion.factor <= error_factor",
            "opinion.factor <= error_factor",
        ),
    ],
    "src/torch_ir/verifier/float64_run.cc": [
        (
            "what is made of a doubtful value is not doubtful",
            "inherit(step);",
            "",
        ),
    ],
    "src/torch_ir/verifier/float64_graph.cc": [
        (
            "casts to float32 stay in float64",
            "attribute.get_if<c10::ScalarType>()",
            "nullptr",
        ),
    ],
    # --- The IR: writing, reading, binding, validation ---
    "src/torch_ir/ir/serialize_ir.cc": [
        (
            "which value an output replaces is not written",
            'write_text("mutates", tensor.mutates);',
            "",
        ),
    ],
    "src/torch_ir/ir/json.cc": [
        (
            "the argument of an input is not read",
            'members.find("arg", as_string, tensor.arg);',
            "",
        ),
        (
            "files of a later version are read",
            "version >= 1 && version <= kFormatVersion",
            "version >= 1",
        ),
    ],
    "src/torch_ir/ir/json_constants.cc": [
        (
            "an empty constant loses a dimension",
            "shape.slice(0, i + 1)",
            "shape.slice(0, i)",
        ),
    ],
    "src/torch_ir/ir/binding.cc": [
        (
            "of several ways to bind inputs the first is taken",
            "num_choices != 1",
            "num_choices == 0",
        ),
    ],
    "src/torch_ir/ir/graph_validator.cc": [
        (
            "a dtype that changes on the way is no problem",
            "use.dtype != declaration.dtype",
            "false",
        ),
        (
            "an output behind the last is one",
            "static_cast<size_t>(index) >= producer->num_outputs",
            "static_cast<size_t>(index) > producer->num_outputs",
        ),
    ],
    "src/torch_ir/ir/sym_expr.cc": [
        (
            "a quotient below zero is rounded towards it",
            "quotient - (is_rounded_up ? 1 : 0)",
            "quotient",
        ),
    ],
    # --- Weights ---
    "src/torch_ir/weights/safetensors.cc": [
        (
            "holes between tensors are not noticed",
            "entry.begin != position",
            "entry.begin < position",
        ),
        (
            "a tensor may have more bytes than its shape needs",
            "num_bytes != entry.end - entry.begin",
            "num_bytes > entry.end - entry.begin",
        ),
    ],
    "src/torch_ir/weights/storage_tensor.cc": [
        (
            "a byte behind the storage is read",
            "static_cast<uint64_t>(needed) > storage.nbytes()",
            "static_cast<uint64_t>(needed) > storage.nbytes() + 1",
        ),
        (
            "complex numbers of the other byte order are swapped as a whole",
            "c10::isComplexType(dtype) ? 2 : 1",
            "1",
        ),
    ],
    "src/torch_ir/weights/pickle.cc": [
        (
            "negative integers are read as positive",
            "static_cast<unsigned char>(bytes.back()) & 0x80",
            "0",
        ),
    ],
    "src/torch_ir/weights/torch_rules.cc": [
        (
            "the strides of a tensor are its sizes",
            "tensor.view.strides = get_integers(call, 3);",
            "tensor.view.strides = get_integers(call, 2);",
        ),
        (
            "conjugated tensors are negated",
            '*name == "conj" ? tensor.is_conjugate : tensor.is_negative',
            '*name == "conj" ? tensor.is_negative : tensor.is_conjugate',
        ),
    ],
    "src/torch_ir/weights/torch_file.cc": [
        (
            "a storage with too few bytes is taken",
            "bytes.size < static_cast<uint64_t>(storage.num_bytes)",
            "false",
        ),
    ],
    # --- Archives, capture, the converter ---
    "src/torch_ir/exporter/pt2/payload.cc": [
        (
            "a weight begins where its storage does",
            'item.view.storage_offset = meta.get_or("storage_offset", int64_t{0}, read_fixed_size);',
            "",
        ),
        (
            "a weight of another dtype than the graph says is taken",
            "value.scalar_type() == meta.dtype",
            "true",
        ),
    ],
    "src/torch_ir/exporter/pt2/value_meta.cc": [
        (
            "the expression of a size is dropped",
            "meta.symbolic_shape[i] = std::move(size.expression);",
            "",
        ),
    ],
    "src/torch_ir/exporter/pt2/lower_graph.cc": [
        (
            "all outputs of a node are its first",
            "ValueRef{lowered.outputs.back()}",
            "ValueRef{lowered.outputs.front()}",
        ),
    ],
    "src/torch_ir/exporter/capture/rewrites.cc": [
        (
            "a value that others read too is rewritten away",
            "uses_[node.outputs[0]] == 1",
            "uses_[node.outputs[0]] >= 1",
        ),
    ],
    "src/torch_ir/exporter/capture/recorder.cc": [
        (
            "whether tensors without data are equal is answered",
            "is_same || tensors[0].sizes() != tensors[1].sizes()",
            "true",
        ),
    ],
    "src/torch_ir/exporter/meta/meta_rules_window.cc": [
        (
            "padding above and below is that of left and right",
            "self.size(-2) + padding[2] + padding[3]",
            "self.size(-2) + padding[0] + padding[1]",
        ),
    ],
    "src/torch_ir/converter/graph_analyzer.cc": [
        (
            "an input comes from the first output of its producer",
            "meta.producer_output_idx = producer->second.output_idx;",
            "",
        ),
    ],
    "src/torch_ir/converter/converter.cc": [
        (
            "limits of sizes are dropped",
            "ir.range_constraints = program.range_constraints;",
            "",
        ),
        (
            "a converter that fails is not reported",
            "if (strict_) throw ConversionError(message);",
            "",
        ),
    ],
    # --- Cases ---
    "src/torch_ir/cases/case_files.cc": [
        (
            "the strides of an input are forgotten",
            "input = strided_copy(input, strides.get<std::vector<int64_t>>());",
            "",
        ),
    ],
    "src/torch_ir/cases/split.cc": [
        (
            "a case has the inputs as its call left them",
            "for (at::Tensor& input : call->graph_case.inputs) input = copy_of(input);",
            "",
        ),
    ],
    # --- The harness ---
    "harness/results/baseline.cc": [
        (
            "a model that fails now is better",
            "now.is_good() ? Trend::kBetter : Trend::kWorse",
            "now.is_good() ? Trend::kWorse : Trend::kBetter",
        ),
        (
            "noise is a change",
            "a > kNoiseFactor * b && a - b > kNoise",
            "a > kNoiseFactor * b || a - b > kNoise",
        ),
    ],
    "harness/results/result.cc": [
        (
            "a model that passes unexpectedly is good",
            "status() != Status::kFailed && status() != Status::kUnexpectedPass",
            "status() != Status::kFailed",
        ),
        (
            "any failure is the expected one",
            "failure->kind == expected_failure->kind",
            "true",
        ),
    ],
    "harness/run/run_model.cc": [
        (
            "outputs that differ pass",
            "!worst.verification.is_valid",
            "false",
        ),
        (
            "the reference draws other random numbers than the graph",
            "at::manual_seed(settings_.seed);\n    run.expected = candidate_.expected(run.inputs);",
            "run.expected = candidate_.expected(run.inputs);",
        ),
    ],
    "harness/stages/stages.cc": [
        (
            "an IR that is read back as another one passes",
            "!(read == ir)",
            "false",
        ),
    ],
    "harness/suite/run_case.cc": [
        (
            "a case is run once, and never replayed",
            "runs_plans(settings) ? 2 : 1",
            "1",
        ),
    ],
    "harness/backend/command_backend.cc": [
        (
            "the output of an earlier run is reported",
            'for (const char* name : {"outputs", "intermediates"}) fs::remove(path(name), error);',
            "",
        ),
        (
            "a command that fails has succeeded",
            "end.succeeded",
            "true",
        ),
    ],
    "harness/backend/backend.cc": [
        (
            "a plan with the weights of an earlier run is used",
            "is_same(weights, tensors) && ir == graph",
            "ir == graph",
        ),
    ],
    "harness/run/runner.cc": [
        (
            "a process that ends with an error has done its work",
            "WIFEXITED(status) && WEXITSTATUS(status) == 0",
            "WIFEXITED(status)",
        ),
    ],
    "harness/harness.cc": [
        (
            "a run that is worse than its baseline is good",
            "!(baseline && baseline->is_worse())",
            "true",
        ),
    ],
    "harness/report/junit.cc": [
        (
            "failures are not counted",
            "result.is_good() ? 0 : 1",
            "0",
        ),
    ],
    "harness/divergence/graph_failure.cc": [
        (
            "another number of outputs is no failure",
            "actual.size() != outputs.size()",
            "actual.size() < outputs.size()",
        ),
    ],
    # --- The commands ---
    "src/torch_ir/cli/verify.cc": [
        (
            "outputs that differ are done",
            "report.is_valid ? kDone : kDifferent",
            "kDone",
        ),
    ],
    "src/torch_ir/cli/compare.cc": [
        (
            "one tensor that agrees is enough",
            "num_close == lines.size()",
            "num_close > 0",
        ),
    ],
    "src/torch_ir/cli/diff.cc": [
        (
            "graphs that differ are done",
            "changes.is_equal() ? kDone : kDifferent",
            "kDone",
        ),
    ],
    "src/torch_ir/cli/run_cli.cc": [
        (
            "bad input has the status of a difference",
            "return kBadInput;",
            "return kDifferent;",
        ),
    ],
}
