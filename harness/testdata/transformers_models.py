"""Models of Hugging Face's transformers, with random weights; see make_archives.py.

    small.bert()

Their attention is transformers' default, scaled_dot_product_attention.
"""

import dataclasses

import transformers
from transformers.integrations.executorch import TorchExportableModuleWithStaticCache


def make(model, use_cache=False, **config):
    return model(model.config_class(use_cache=use_cache, **config))


def returning_tensors(model):
    """Makes `model` return a tuple, so that its archives load without transformers."""
    model.register_forward_hook(lambda module, inputs, output: output.to_tuple())
    return model


class CachedDecoder(TorchExportableModuleWithStaticCache):
    """One step of decoding, with the keys and values of earlier steps in buffers."""

    def forward(self, input_ids, cache_position):
        # torch.export treats tensors that only the cache has as constants.
        for i, layer in enumerate(self.static_cache.layers):
            layer.keys = getattr(self, f"key_cache_{i}")
            layer.values = getattr(self, f"value_cache_{i}")
            layer.cumulative_length = getattr(self, f"cumulative_length_{i}")
        return super().forward(input_ids=input_ids, cache_position=cache_position)


@dataclasses.dataclass(frozen=True)
class Models:
    """All models of one size. Each method makes one model, without arguments."""

    width: int
    layers: int
    words: int
    # Length of the longest input.
    tokens: int
    # Patch size of ViT, which has `tokens` patches.
    patch: int
    heads: int = 4

    def bert(self):
        return returning_tensors(
            make(
                transformers.BertModel, vocab_size=self.words, hidden_size=self.width,
                num_hidden_layers=self.layers, num_attention_heads=self.heads,
                intermediate_size=4 * self.width, max_position_embeddings=self.tokens
            )
        )

    def gpt2(self):
        return returning_tensors(
            make(
                transformers.GPT2LMHeadModel, vocab_size=self.words, n_embd=self.width,
                n_layer=self.layers, n_head=self.heads, n_positions=self.tokens, bos_token_id=0,
                eos_token_id=1
            )
        )

    def llama(self):
        return returning_tensors(self._decoder(transformers.LlamaForCausalLM))

    def llama_cache(self):
        model = self._decoder(transformers.LlamaForCausalLM, use_cache=True)
        model.generation_config = transformers.GenerationConfig(
            use_cache=True, cache_implementation="static"
        )
        return CachedDecoder(model, batch_size=1, max_cache_len=self.tokens)

    def mixtral(self):
        return returning_tensors(
            self._decoder(transformers.MixtralForCausalLM, num_local_experts=4)
        )

    def t5(self):
        return returning_tensors(
            make(
                transformers.T5Model, vocab_size=self.words, d_model=self.width,
                num_layers=self.layers, num_heads=self.heads, d_kv=self.width // self.heads,
                d_ff=4 * self.width, decoder_start_token_id=0
            )
        )

    def vit(self):
        return returning_tensors(
            make(
                transformers.ViTModel, hidden_size=self.width, num_hidden_layers=self.layers,
                num_attention_heads=self.heads, intermediate_size=4 * self.width,
                patch_size=self.patch, image_size=self.patch * int(self.tokens**0.5)
            )
        )

    def whisper_encoder(self):
        return returning_tensors(self._whisper().encoder)

    def whisper_decoder(self):
        return returning_tensors(self._whisper().decoder)

    def _decoder(self, model, **config):
        return make(
            model, vocab_size=self.words, hidden_size=self.width, num_hidden_layers=self.layers,
            num_attention_heads=self.heads, num_key_value_heads=self.heads // 2,
            intermediate_size=2 * self.width, max_position_embeddings=2 * self.tokens, **config
        )

    def _whisper(self):
        return make(
            transformers.WhisperModel, vocab_size=self.words, d_model=self.width,
            encoder_layers=self.layers, decoder_layers=self.layers,
            encoder_attention_heads=self.heads, decoder_attention_heads=self.heads,
            encoder_ffn_dim=4 * self.width, decoder_ffn_dim=4 * self.width,
            num_mel_bins=self.width, max_source_positions=self.tokens,
            max_target_positions=self.tokens, pad_token_id=0, bos_token_id=1, eos_token_id=2,
            decoder_start_token_id=1
        )


small = Models(width=32, layers=2, words=64, tokens=16, patch=8)
large = Models(width=256, layers=4, words=1000, tokens=64, patch=16)
