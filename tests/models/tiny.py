"""Small random checkpoints of real architectures, saved as the hub has them."""

from pathlib import Path
from typing import Any

WORDS = ["the", "cat", "sat", "on", "mat", "a", "dog", "barks", "law", "vote", ".", ",", "!", "##s", "##ed", "c", "##a"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SMALL = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2, "num_hidden_layers": 3}
TEXTS = [
    "the cat sat on the mat .",
    "a dog barks !",
    "",
    "   ",
    "The cats voted on a law, the dog sat",
    "猫はマットの上に座った。",
    "جلست القطة",
    "👩‍👩‍👧 likes 🐈",
    "a",
]
ENCODERS = (
    "bert",
    "roberta",
    "deberta",
    "deberta-v2",
    "xlm-roberta",
    "xlm-roberta-xl",
    "mpnet",
    "albert",
    "t5",
    "byt5",
    "canine",
    "gpt2",
    "distilbert",
    "llama",
)


def checkpoint(kind: str, folder: Path, masked: bool = False) -> Path:
    """A checkpoint of an architecture with random weights."""
    import torch
    import transformers as hf

    torch.manual_seed(len(kind))
    folder.mkdir(parents=True, exist_ok=True)
    _tokenizer(kind, folder)
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    size: dict[str, Any] = {**SMALL, "vocab_size": len(tokenizer), "max_position_embeddings": 64}
    match kind:
        case "bert":
            config = hf.BertConfig(**size)
            model: Any = hf.BertForMaskedLM(config) if masked else hf.BertModel(config)
        case "roberta":
            model = hf.RobertaModel(hf.RobertaConfig(**size, pad_token_id=1))
        case "deberta":
            model = hf.DebertaModel(hf.DebertaConfig(**size, relative_attention=True, pos_att_type=["c2p", "p2c"]))
        case "deberta-v2":
            relative = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 8}
            model = hf.DebertaV2Model(
                hf.DebertaV2Config(**size, **relative, conv_kernel_size=3, norm_rel_ebd="layer_norm")
            )
        case "xlm-roberta":
            model = hf.XLMRobertaModel(hf.XLMRobertaConfig(**size, pad_token_id=0))
        case "xlm-roberta-xl":
            model = hf.XLMRobertaXLModel(hf.XLMRobertaXLConfig(**size, pad_token_id=0))
        case "mpnet":
            model = hf.MPNetModel(hf.MPNetConfig(**size))
        case "albert":
            model = hf.AlbertModel(hf.AlbertConfig(**size, embedding_size=8))
        case "t5" | "byt5":
            config = hf.T5Config(
                vocab_size=max(len(tokenizer), 384),
                d_model=16,
                d_kv=8,
                d_ff=24,
                num_layers=3,
                num_heads=2,
                feed_forward_proj="gated-gelu",
                decoder_start_token_id=0,
            )
            model = hf.T5ForConditionalGeneration(config)
        case "canine":
            model = hf.CanineModel(hf.CanineConfig(**{**SMALL, "max_position_embeddings": 256}, num_hash_buckets=64))
        case "gpt2":
            config = hf.GPT2Config(
                vocab_size=len(tokenizer),
                n_embd=16,
                n_layer=3,
                n_head=2,
                n_positions=64,
                bos_token_id=tokenizer.bos_token_id,
                eos_token_id=tokenizer.eos_token_id,
            )
            model = hf.GPT2LMHeadModel(config)
        case "distilbert":
            shape = {"dim": 16, "hidden_dim": 24, "n_heads": 2, "n_layers": 3, "max_position_embeddings": 64}
            model = hf.DistilBertModel(hf.DistilBertConfig(vocab_size=len(tokenizer), **shape))
        case "llama":
            tokens = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
            config = hf.LlamaConfig(**{**size, "num_attention_heads": 4}, num_key_value_heads=2, **tokens)
            model = hf.LlamaForCausalLM(config)
        case _:
            raise ValueError(kind)
    model.eval().save_pretrained(folder)
    return folder


def _tokenizer(kind: str, folder: Path) -> None:
    import transformers as hf

    if kind == "byt5":
        hf.ByT5Tokenizer().save_pretrained(folder)
    elif kind == "canine":
        hf.CanineTokenizer().save_pretrained(folder)
    elif kind in ("roberta", "gpt2", "llama"):
        _byte_level(folder, kind)
    else:
        (folder / "vocab.txt").write_text("\n".join([*SPECIAL, *WORDS, *"bdefghijklmnopqrstuvwxyz"]), "utf-8")
        hf.BertTokenizer(str(folder / "vocab.txt"), model_max_length=48).save_pretrained(folder)


def _byte_level(folder: Path, kind: str) -> None:
    import transformers as hf
    from tokenizers import ByteLevelBPETokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] if kind == "roberta" else ["<|endoftext|>"]
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator([" ".join(WORDS)] * 20, vocab_size=300, special_tokens=special, show_progress=False)
    trained.save_model(str(folder))
    made = hf.RobertaTokenizer if kind == "roberta" else hf.GPT2Tokenizer
    files = {"vocab": str(folder / "vocab.json"), "merges": str(folder / "merges.txt")}
    made(**files, model_max_length=48).save_pretrained(folder)
