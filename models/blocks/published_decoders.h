// The published sizes of decoders, for full-scale models and for benchmarks.
#pragma once

#include "models/blocks/decoder.h"

namespace torch_ir {

// The config.json of meta-llama/Llama-3.1-405B, with fewer positions.
inline constexpr DecoderShape kLlama405BShape = {.vocabulary = 128256,
                                                 .width = 16384,
                                                 .layers = 126,
                                                 .heads = 128,
                                                 .hidden = 53248,
                                                 .positions = 4096,
                                                 .key_heads = 8,
                                                 .rotary_base = 5e5};

inline constexpr LatentShape kDeepSeekLatentShape = {
    .query_rank = 1536, .rank = 512, .plain_width = 128, .rotary_width = 64, .value_width = 128};

// The config.json of deepseek-ai/DeepSeek-V3, with fewer positions and no multi-token prediction.
inline constexpr DecoderShape kDeepSeekV3Shape = {
    .vocabulary = 129280,
    .width = 7168,
    .layers = 61,
    .heads = 128,
    .hidden = 18432,
    .positions = 4096,
    .key_heads = 128,
    .latent = kDeepSeekLatentShape,
    .experts = ExpertsShape{.count = 256,
                            .chosen = 8,
                            .hidden = 2048,
                            .shared = 1,
                            .groups = 8,
                            .chosen_groups = 4,
                            .dense_layers = 3,
                            .has_sigmoid_scores = true,
                            .scale = 2.5}};

// The config.json of moonshotai/Kimi-K2-Base, with fewer positions.
inline constexpr DecoderShape kKimiK2Shape = {.vocabulary = 163840,
                                              .width = 7168,
                                              .layers = 61,
                                              .heads = 64,
                                              .hidden = 18432,
                                              .positions = 4096,
                                              .key_heads = 64,
                                              .rotary_base = 5e4,
                                              .latent = kDeepSeekLatentShape,
                                              .experts = ExpertsShape{.count = 384,
                                                                      .chosen = 8,
                                                                      .hidden = 2048,
                                                                      .shared = 1,
                                                                      .dense_layers = 1,
                                                                      .has_sigmoid_scores = true,
                                                                      .scale = 2.827}};

}  // namespace torch_ir
