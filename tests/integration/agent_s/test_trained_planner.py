"""Fine-tuning a planner: a tiny random model learns what a memory knows."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent_s.cli.memory import memory as memory_command
from agent_s.llm.fine_tuning import FineTuningError, fine_tune
from agent_s.llm.protocol import PlanResponse
from agent_s.replay.training_pairs import write_training_pairs
from agent_s.terminal.output import sentence
from memory_store import HashingEmbedder, MemoryStore
from tests.unit.agent_s.replay.skills import add

TEMPLATE = (
    "{% for turn in messages %}<|{{ turn.role }}|>{{ turn.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SKILLS = ("turn on bold", "insert a picture", "print the page")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore.open(tmp_path / "memory.sqlite", embedder=HashingEmbedder()) as store:
        for name in SKILLS:
            add(store, name)
        yield store


@pytest.fixture
def pairs(memory: MemoryStore, tmp_path: Path) -> Path:
    file = tmp_path / "pairs.jsonl"
    assert write_training_pairs(memory, file) > len(SKILLS)
    single = file.read_text(encoding="utf-8").splitlines()[: len(SKILLS)]  # all that so small a model can learn
    file.write_text("\n".join(single) + "\n", encoding="utf-8")
    return file


def make_model(folder: Path, texts: list[str]) -> None:
    """Write a language model of one small random layer, and a tokenizer of what the texts consist of."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    words = Tokenizer(models.BPE())
    # A token may hold several words, so that a prompt is short.
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    words.decoder = decoders.ByteLevel()
    special = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    words.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=1200, special_tokens=special, initial_alphabet=alphabet)
    )
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<|end|>", pad_token="<|end|>")
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    shape = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=1,
        initializer_range=0.3,
        num_attention_heads=4,
        max_position_embeddings=8192,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    transformers.LlamaForCausalLM(shape).save_pretrained(folder)


def answer_of(folder: Path, messages: list[dict[str, str]]) -> str:
    """Return what a model in a folder answers, loaded as a server loads it."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    asked = tokenizer(prompt, return_tensors="pt", add_special_tokens=False)["input_ids"]
    whole = model.generate(asked, max_new_tokens=200, do_sample=False)
    return str(tokenizer.decode(whole[0, asked.shape[1] :], skip_special_tokens=True))


@pytest.mark.slow
def test_a_tiny_model_learns_to_plan_with_the_skills_of_a_memory(
    memory: MemoryStore, pairs: Path, tmp_path: Path
) -> None:
    for package in ("torch", "transformers", "peft"):
        pytest.importorskip(package, reason="pip install 'agent-s[train]', several GB")
    conversations = [json.loads(line)["messages"] for line in pairs.read_text(encoding="utf-8").splitlines()]
    make_model(tmp_path / "tiny", [turn["content"] for messages in conversations for turn in messages])
    given = ["train", str(pairs), "--model", str(tmp_path / "tiny"), "--out", str(tmp_path / "planner"), "--json"]
    done = CliRunner().invoke(memory_command, [*given, "--epochs", "60", "--learning-rate", "0.01"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert result["conversations"] == len(conversations) and result["losses"][-1] < 0.1 * result["losses"][0]
    for *question, right in conversations:
        answer = PlanResponse.model_validate_json(answer_of(tmp_path / "planner", question))
        assert answer == PlanResponse.model_validate_json(right["content"])


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is installed")
def test_missing_packages_are_named_before_anything_is_loaded(pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(FineTuningError, match=r"Not installed: torch.*pip install 'agent-s\[train\]'"):
        fine_tune(pairs, tmp_path / "model.gguf", tmp_path / "planner")


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is installed")
def test_other_line_ends_in_a_conversation_do_not_end_it(tmp_path: Path) -> None:
    said = {"messages": [{"role": "user", "content": "Type 'a\u2028b'"}, {"role": "assistant", "content": "{}"}]}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(said, ensure_ascii=False) + "\n", encoding="utf-8")
    with pytest.raises(FineTuningError, match="Not installed"):
        fine_tune(tmp_path / "pairs.jsonl", tmp_path, tmp_path / "out")


def test_a_line_that_is_not_a_conversation_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"messages": [{"role": "user", "content": "Plan"}, {"role": "assistant", "content": "{}"}]}\n{}\n')
    with pytest.raises(FineTuningError, match=r"Line 2 of .* is not a conversation .*export --training"):
        fine_tune(file, tmp_path / "model", tmp_path / "planner")


def test_a_missing_file_is_named_as_it_was_given(tmp_path: Path) -> None:
    done = CliRunner().invoke(memory_command, ["train", "nofile", "--model", str(tmp_path), "--out", "planner"])
    assert isinstance(done.exception, FineTuningError)
    assert sentence(str(done.exception)).startswith("The file nofile cannot be read")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").touch()
    with pytest.raises(FineTuningError, match="no skills yet"):
        fine_tune(tmp_path / "pairs.jsonl", tmp_path / "model", tmp_path / "planner")
