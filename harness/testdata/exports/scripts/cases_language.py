"""Models of the transformers package, tiny, with random weights."""

import torch
from torch import nn
from torch.export import Dim

import transformers as tf

from archive_case import Case, case, decomposed


class Logits(nn.Module):
    """Calls the model with keyword arguments and returns plain tensors."""

    def __init__(self, model, names, pick):
        super().__init__()
        self.model, self.names, self.pick = model, names, pick

    def forward(self, *tensors):
        out = self.model(**dict(zip(self.names, tensors)), return_dict=True)
        return tuple(out[p] for p in self.pick) if len(self.pick) > 1 else out[self.pick[0]]


class NoCache(nn.Module):
    def __init__(self, model, names, pick):
        super().__init__()
        self.model, self.names, self.pick = model, names, pick

    def forward(self, *tensors):
        out = self.model(**dict(zip(self.names, tensors)), return_dict=True, use_cache=False)
        return tuple(out[p] for p in self.pick) if len(self.pick) > 1 else out[self.pick[0]]


def ids(n=2, length=7, vocabulary=50):
    return torch.randint(3, vocabulary, (n, length))


def ones(n=2, length=7, last=None):
    mask = torch.ones(n, length, dtype=torch.int64)
    if last:
        mask[-1, -last:] = 0
    return mask


SMALL = dict(
    vocab_size=50,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=24,
    max_position_embeddings=32,
)
DECODER = dict(SMALL, num_key_value_heads=2, pad_token_id=0, bos_token_id=1, eos_token_id=2)


def add(name, make, names, args, pick=("logits",), wrapper=Logits, implementation="sdpa", **more):
    @case(name)
    def _():
        torch.manual_seed(1)
        model = make().eval()
        if implementation is not None:
            model.set_attn_implementation(implementation)
        return Case(wrapper(model, names, pick), args(), atol=1e-3, rtol=1e-3, **more)


def add_decoder(name, make, **more):
    add(name, make, ("input_ids",), lambda: (ids(),), wrapper=NoCache, **more)


def batch_and_length(*more):
    return (({0: Dim("b", min=2, max=8), 1: Dim("s", min=2, max=16)},) * (1 + len(more)),)


add(
    "gpt2",
    lambda: tf.GPT2LMHeadModel(
        tf.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=2, n_head=2)
    ),
    ("input_ids",),
    lambda: (ids(),),
    wrapper=NoCache,
    wrong="value",
)
add(
    "gpt2_masked_eager",
    lambda: tf.GPT2LMHeadModel(
        tf.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=1, n_head=2)
    ),
    ("input_ids", "attention_mask"),
    lambda: (ids(), ones(last=2)),
    wrapper=NoCache,
    implementation="eager",
)
add(
    "gpt2_dynamic",
    lambda: tf.GPT2LMHeadModel(
        tf.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=1, n_head=2)
    ),
    ("input_ids",),
    lambda: (ids(),),
    wrapper=NoCache,
    dynamic_shapes=batch_and_length(),
    more={"other": (ids(3, 11),)},
)
add(
    "gpt2_decomposed",
    lambda: tf.GPT2LMHeadModel(
        tf.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=1, n_head=2)
    ),
    ("input_ids",),
    lambda: (ids(),),
    wrapper=NoCache,
    implementation="eager",
    change=decomposed,
)
add(
    "bert",
    lambda: tf.BertModel(tf.BertConfig(**SMALL)),
    ("input_ids", "attention_mask", "token_type_ids"),
    lambda: (ids(), ones(last=3), ones() * 0),
    ("last_hidden_state", "pooler_output"),
    wrong="value",
)
add(
    "bert_eager",
    lambda: tf.BertForSequenceClassification(tf.BertConfig(**SMALL, num_labels=3)),
    ("input_ids", "attention_mask"),
    lambda: (ids(), ones(last=3)),
    implementation="eager",
)
add(
    "bert_dynamic",
    lambda: tf.BertForMaskedLM(tf.BertConfig(**SMALL)),
    ("input_ids", "attention_mask"),
    lambda: (ids(), ones(last=3)),
    dynamic_shapes=batch_and_length(1),
    more={"other": (ids(4, 9), ones(4, 9, 2))},
)
add(
    "roberta",
    lambda: tf.RobertaForTokenClassification(tf.RobertaConfig(**SMALL, pad_token_id=1)),
    ("input_ids", "attention_mask"),
    lambda: (ids(), ones(last=3)),
)
add(
    "distilbert",
    lambda: tf.DistilBertForQuestionAnswering(
        tf.DistilBertConfig(vocab_size=50, dim=16, n_layers=2, n_heads=2, hidden_dim=24)
    ),
    ("input_ids", "attention_mask"),
    lambda: (ids(), ones()),
    ("start_logits", "end_logits"),
)
add(
    "electra",
    lambda: tf.ElectraModel(tf.ElectraConfig(**SMALL, embedding_size=8)),
    ("input_ids",),
    lambda: (ids(),),
    ("last_hidden_state",),
)
add(
    "albert",
    lambda: tf.AlbertModel(tf.AlbertConfig(**SMALL, embedding_size=8)),
    ("input_ids",),
    lambda: (ids(),),
    ("last_hidden_state", "pooler_output"),
)
add(
    "deberta_v2",
    lambda: tf.DebertaV2Model(
        tf.DebertaV2Config(**SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"])
    ),
    ("input_ids", "attention_mask"),
    lambda: (ids(), ones()),
    ("last_hidden_state",),
    implementation=None,
)
add_decoder("llama", lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**DECODER)), wrong="value")
add_decoder(
    "llama_eager_attention",
    lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**DECODER)),
    implementation="eager",
)
add_decoder(
    "llama_dynamic",
    lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**DECODER)),
    dynamic_shapes=batch_and_length(),
    more={"other": (ids(3, 10),)},
)
add_decoder(
    "llama_decomposed", lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**DECODER)), change=decomposed
)
add_decoder("llama_strict", lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**DECODER)), strict=True)
add_decoder("llama_bfloat16", lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**DECODER)).bfloat16())
add(
    "llama_masked",
    lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**DECODER)),
    ("input_ids", "attention_mask"),
    lambda: (ids(), ones(last=2)),
    wrapper=NoCache,
)
add_decoder("qwen2", lambda: tf.Qwen2ForCausalLM(tf.Qwen2Config(**DECODER)))
add_decoder("qwen3", lambda: tf.Qwen3ForCausalLM(tf.Qwen3Config(**DECODER, head_dim=4)))
add_decoder("mistral", lambda: tf.MistralForCausalLM(tf.MistralConfig(**DECODER, sliding_window=4)))
add_decoder(
    "mixtral",
    lambda: tf.MixtralForCausalLM(
        tf.MixtralConfig(**DECODER, num_local_experts=4, num_experts_per_tok=2)
    ),
    either="grouped_mm",
)
for _experts in ("batched_mm", "grouped_mm"):
    add_decoder(
        f"mixtral_{_experts}",
        lambda e=_experts: tf.MixtralForCausalLM(
            tf.MixtralConfig(
                **DECODER, num_local_experts=4, num_experts_per_tok=2, experts_implementation=e
            )
        ),
        either=None if _experts == "batched_mm" else "grouped_mm",
    )
add_decoder("gemma", lambda: tf.GemmaForCausalLM(tf.GemmaConfig(**DECODER, head_dim=4)))
add_decoder(
    "gemma2",
    lambda: tf.Gemma2ForCausalLM(tf.Gemma2Config(**DECODER, head_dim=4, sliding_window=4)),
    implementation="eager",
)
add_decoder(
    "phi",
    lambda: tf.PhiForCausalLM(
        tf.PhiConfig(**SMALL, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    ),
)
add_decoder(
    "gpt_neox",
    lambda: tf.GPTNeoXForCausalLM(
        tf.GPTNeoXConfig(**SMALL, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    ),
)
add_decoder(
    "opt",
    lambda: tf.OPTForCausalLM(
        tf.OPTConfig(
            vocab_size=50,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=4,
            ffn_dim=24,
            max_position_embeddings=32,
            word_embed_proj_dim=16,
        )
    ),
)
add_decoder(
    "bloom",
    lambda: tf.BloomForCausalLM(tf.BloomConfig(vocab_size=50, hidden_size=16, n_layer=2, n_head=4)),
    implementation=None,
)
add_decoder(
    "falcon",
    lambda: tf.FalconForCausalLM(
        tf.FalconConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=4)
    ),
)
add_decoder(
    "mamba",
    lambda: tf.MambaForCausalLM(
        tf.MambaConfig(
            vocab_size=50, hidden_size=8, num_hidden_layers=2, state_size=4, time_step_rank=2
        )
    ),
    implementation=None,
)
add_decoder(
    "mamba2",
    lambda: tf.Mamba2ForCausalLM(
        tf.Mamba2Config(
            vocab_size=50,
            hidden_size=8,
            num_hidden_layers=1,
            state_size=4,
            num_heads=4,
            head_dim=4,
            n_groups=1,
            expand=2,
            chunk_size=4,
        )
    ),
    implementation=None,
)
T5 = dict(
    vocab_size=50, d_model=16, d_kv=4, d_ff=24, num_layers=1, num_heads=4, decoder_start_token_id=0
)
add(
    "t5",
    lambda: tf.T5ForConditionalGeneration(tf.T5Config(**T5)),
    ("input_ids", "decoder_input_ids"),
    lambda: (ids(), ids(2, 4)),
    wrapper=NoCache,
    implementation=None,
)
add(
    "t5_encoder",
    lambda: tf.T5EncoderModel(tf.T5Config(**T5)),
    ("input_ids", "attention_mask"),
    lambda: (ids(), ones(last=2)),
    ("last_hidden_state",),
    implementation=None,
)
add(
    "bart",
    lambda: tf.BartForConditionalGeneration(
        tf.BartConfig(
            vocab_size=50,
            d_model=16,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=16,
            decoder_ffn_dim=16,
            max_position_embeddings=32,
        )
    ),
    ("input_ids", "decoder_input_ids"),
    lambda: (ids(), ids(2, 4)),
    wrapper=NoCache,
)
WHISPER = dict(
    vocab_size=50,
    d_model=16,
    encoder_layers=1,
    decoder_layers=1,
    encoder_attention_heads=2,
    decoder_attention_heads=2,
    encoder_ffn_dim=16,
    decoder_ffn_dim=16,
    max_source_positions=10,
    max_target_positions=12,
    num_mel_bins=8,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    decoder_start_token_id=1,
)
add(
    "whisper",
    lambda: tf.WhisperForConditionalGeneration(tf.WhisperConfig(**WHISPER)),
    ("input_features", "decoder_input_ids"),
    lambda: (torch.randn(1, 8, 20), ids(1, 4)),
    wrapper=NoCache,
)
add(
    "wav2vec2",
    lambda: tf.Wav2Vec2Model(
        tf.Wav2Vec2Config(
            vocab_size=50,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            conv_dim=(8, 8),
            conv_stride=(4, 2),
            conv_kernel=(8, 3),
            num_conv_pos_embeddings=4,
            num_conv_pos_embedding_groups=2,
        )
    ),
    ("input_values",),
    lambda: (torch.randn(1, 200),),
    ("last_hidden_state",),
)
CLIP_TEXT = dict(
    vocab_size=50,
    hidden_size=16,
    intermediate_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    max_position_embeddings=12,
    eos_token_id=2,
    bos_token_id=1,
    pad_token_id=0,
)
CLIP_VISION = dict(
    hidden_size=16,
    intermediate_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    image_size=16,
    patch_size=8,
)
add(
    "clip",
    lambda: tf.CLIPModel(
        tf.CLIPConfig(text_config=CLIP_TEXT, vision_config=CLIP_VISION, projection_dim=8)
    ),
    ("input_ids", "pixel_values", "attention_mask"),
    lambda: (ids(), torch.randn(3, 3, 16, 16), ones()),
    ("logits_per_image", "text_embeds", "image_embeds"),
)
add(
    "clip_vision",
    lambda: tf.CLIPVisionModel(tf.CLIPVisionConfig(**CLIP_VISION)),
    ("pixel_values",),
    lambda: (torch.randn(1, 3, 16, 16),),
    ("last_hidden_state", "pooler_output"),
)
add(
    "vit_transformers",
    lambda: tf.ViTForImageClassification(
        tf.ViTConfig(
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=16,
            image_size=16,
            patch_size=8,
            num_labels=3,
        )
    ),
    ("pixel_values",),
    lambda: (torch.randn(1, 3, 16, 16),),
)
add(
    "dinov2",
    lambda: tf.Dinov2Model(
        tf.Dinov2Config(
            hidden_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=28, patch_size=14
        )
    ),
    ("pixel_values",),
    lambda: (torch.randn(1, 3, 28, 28),),
    ("last_hidden_state",),
)
add(
    "swin_transformers",
    lambda: tf.SwinModel(
        tf.SwinConfig(
            image_size=32, patch_size=4, embed_dim=8, depths=[2, 1], num_heads=[2, 2], window_size=4
        )
    ),
    ("pixel_values",),
    lambda: (torch.randn(1, 3, 32, 32),),
    ("last_hidden_state", "pooler_output"),
    implementation=None,
)
add(
    "segformer",
    lambda: tf.SegformerForSemanticSegmentation(
        tf.SegformerConfig(
            num_encoder_blocks=2,
            depths=[1, 1],
            sr_ratios=[2, 1],
            hidden_sizes=[8, 16],
            patch_sizes=[7, 3],
            strides=[4, 2],
            num_attention_heads=[1, 2],
            mlp_ratios=[2, 2],
            decoder_hidden_size=8,
            num_labels=3,
        )
    ),
    ("pixel_values",),
    lambda: (torch.randn(1, 3, 32, 32),),
    implementation=None,
)
add(
    "bert_full_outputs",
    lambda: tf.BertModel(tf.BertConfig(**SMALL, output_hidden_states=True, output_attentions=True)),
    ("input_ids",),
    lambda: (ids(),),
    ("last_hidden_state", "hidden_states", "attentions"),
    implementation="eager",
)


@case("llama_with_cache_output")
def _():
    """Returns the whole output of the package: a dictionary-like class with a cache."""
    from transformers.cache_utils import DynamicCache  # noqa: F401 - registers the pytree

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.model = tf.LlamaForCausalLM(tf.LlamaConfig(**dict(DECODER, num_hidden_layers=1)))

        def forward(self, input_ids):
            out = self.model(input_ids, use_cache=True)
            layers = out.past_key_values.layers
            return {"logits": out.logits, "cache": [(layer.keys, layer.values) for layer in layers]}

    return Case(Model(), (ids(),), atol=1e-3, rtol=1e-3)


@case("llama_static_cache")
def _():
    """A decoding step with the cache in buffers, as the package exports it for small devices."""
    from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

    torch.manual_seed(1)
    model = tf.LlamaForCausalLM(tf.LlamaConfig(**dict(DECODER, num_hidden_layers=1))).eval()
    model.generation_config = tf.GenerationConfig(
        use_cache=True,
        cache_implementation="static",
        cache_config={"batch_size": 1, "max_cache_len": 8},
        max_length=8,
    )
    return Case(
        TorchExportableModuleWithStaticCache(
            model, batch_size=1, max_cache_len=8, device=torch.device("cpu")
        ),
        (),
        {"input_ids": torch.tensor([[5]]), "cache_position": torch.tensor([0])},
        atol=1e-3,
        rtol=1e-3,
    )


@case("distilgpt_generate_step")
def _():
    """Prefill with a past that is given as plain tensors."""
    from transformers.cache_utils import DynamicCache

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.model = tf.LlamaForCausalLM(tf.LlamaConfig(**dict(DECODER, num_hidden_layers=1)))

        def forward(self, input_ids, past):
            cache = DynamicCache()
            for layer, (k, v) in enumerate(past):
                cache.update(k, v, layer)
            out = self.model(input_ids, past_key_values=cache, use_cache=True)
            return out.logits, [(layer.keys, layer.values) for layer in out.past_key_values.layers]

    return Case(
        Model(),
        (torch.tensor([[5, 6]]), [(torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4))]),
        atol=1e-3,
        rtol=1e-3,
    )
