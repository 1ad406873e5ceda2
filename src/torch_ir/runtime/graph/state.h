// The state of a graph: the weights, constants and inputs that its nodes write to in place. Their
// new values are outputs of the program (IR::state).
#pragma once

#include <cstdint>
#include <vector>

#include "torch_ir/operators/kept_writes.h"
#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

// Makes outputs of them, unless the program names its state already. Goes by the schemas of
// operators: may name too much (`reshape` may copy), never too little. Control flow writes to
// nothing outside. Leaves out `made`, constants by name that a run of the model makes anew.
void add_state(Program& program, const std::vector<std::string>& made = {});

// The same for a document, as files of other programs lack the key.
void add_state(IR& ir);

// How many outputs of the program are state: its last ones.
int64_t num_state(const Program& program);

// The tensor of a placeholder or graph input: one of the inputs of the case, or of its weights, to
// which it is added, undefined, if they lack it.
at::Tensor& tensor_of(Case& graph_case, ValueId input);

// What a step hands to the next one: the state, and for each of `carries`, "OUT=IN", an output to
// an input. Throws Error for a name that the graph lacks, or values of different shapes or dtypes.
std::vector<Mutation> carried_values(const Program& program,
                                     const std::vector<std::string>& carries);

// Sets what is carried in `next`; what `outputs` lacks stays.
void carry(const std::vector<Mutation>& carried, const std::vector<at::Tensor>& outputs,
           Case& next);

// The case with inputs in place of the weights that are carried: one plan then runs all steps.
Case with_carried_inputs(const std::vector<Mutation>& carried, Case graph_case);

// The state that a model left in the tensors of the case: a model that ran under `kept` on its
// inputs. Undefined where the model did not write to these tensors, but maybe to others.
std::vector<at::Tensor> state_after(Case& graph_case, KeptWrites& kept);

}  // namespace torch_ir
