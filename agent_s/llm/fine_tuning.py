"""Fine-tunes a local language model on conversations with LoRA, so that a small model can take a role.

Only small matrices beside the layers are trained (Hu et al. 2021, https://arxiv.org/abs/2106.09685); they are merged
into the weights at the end, so that every server can load the result. PyTorch, `transformers` and `peft` are optional.
Nothing is downloaded, no code of a model's folder is run, and only weights as safetensors or GGUF are read.
"""

from __future__ import annotations

import copy
import importlib.util
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from jinja2 import TemplateError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_s.errors import AgentError, install_command

BATCH = 4  # conversations for each change of the weights; a memory holds hundreds
SEED = 0
REPORT_S = 60.0  # time between two reports within an epoch, s


class FineTuningError(AgentError):
    """A model cannot be fine-tuned: a package, a file or a folder is missing or not as it must be."""


class _Turn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str


class _Conversation(BaseModel):
    model_config = ConfigDict(extra="forbid")

    messages: list[_Turn] = Field(min_length=2)


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a model is fine-tuned."""

    epochs: int = 3  # how often each conversation is used
    rank: int = 16  # rank of the trained matrices
    learning_rate: float = 2e-4  # of AdamW
    longest: int = 16_384  # maximum length of a conversation, tokens; longer ones are left out


@dataclass(frozen=True, slots=True)
class Tuned:
    """The result of a fine-tuning."""

    conversations: int  # how many it was trained on
    left_out: int  # how many were too long
    losses: tuple[float, ...]  # mean cross-entropy of the answers' tokens in each epoch, nats, measured while training


def fine_tune(
    file: Path, model: Path, out: Path, tuning: Tuning = Tuning(), report: Callable[[str], None] = lambda line: None
) -> Tuned:
    """Fine-tune a model to give the last message of each conversation, and write it to a new folder.

    It is trained on a GPU if there is one, otherwise on the CPU; in bfloat16 where that has instructions of its own.

    Args:
        file: JSON lines as of `agent_s.replay.training_pairs`: `{"messages": [{"role": ..., "content": ...}, ...]}`.
        model: A causal language model with its tokenizer and chat template: a folder in Hugging Face's format, or a
            file in llama.cpp's (GGUF), whose weights are unpacked.
        out: Folder in Hugging Face's format for the trained model; must not exist, or be empty.
        tuning: How to train.
        report: Receives one line after each epoch, and each minute within one.

    Raises:
        FineTuningError: A package, the file or the model is missing or cannot be used, or the folder is not empty.
    """
    conversations = _read(file)
    missing = [name for name in ("torch", "transformers", "peft", "gguf") if importlib.util.find_spec(name) is None]
    if missing:
        raise FineTuningError(f"Not installed: {', '.join(missing)}. Run: {install_command('train')}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FineTuningError(f"The folder {out} exists and is not empty. Name a new folder for the trained model.")
    import torch

    torch.manual_seed(SEED)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer, tuned = _load(model, tuning, device)
    examples = [_encoded(tokenizer, conversation, model) for conversation in conversations]
    fitting = [(asked, answer) for asked, answer in examples if len(asked) + len(answer) <= tuning.longest]
    if not fitting:
        raise FineTuningError(f"All conversations of {file} have more than {tuning.longest} tokens. Allow longer ones.")
    losses = tuple(_train(tuned, fitting, tuning, report))
    merged = tuned.merge_and_unload()
    merged.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return Tuned(len(fitting), len(examples) - len(fitting), losses)


def _read(file: Path) -> list[_Conversation]:
    try:
        text = file.read_text(encoding="utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FineTuningError(f"The file {file} cannot be read: {error}") from error
    conversations = []
    for number, line in enumerate(text.split("\n") if text else [], start=1):  # texts may hold other line ends
        try:
            conversations.append(_Conversation.model_validate_json(line))
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise FineTuningError(
                f"Line {number} of {file} is not a conversation ({problem}). "
                "Write the file with: agent-s memory export --training FILE"
            ) from error
    if not conversations:
        raise FineTuningError(f"The file {file} is empty: memory holds no skills yet, and no tasks done by skills.")
    return conversations


def _load(model: Path, tuning: Tuning, device: Any) -> tuple[Any, Any]:
    """Return the tokenizer, and the model with the matrices to train."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    fast = device.type == "cuda" or torch.cpu.get_capabilities().get("amx_bf16", False)
    precision = torch.bfloat16 if fast else torch.float32
    folder, where = (model.parent, {"gguf_file": model.name}) if model.suffix == ".gguf" else (model, {})
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, **where)
        base = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=precision, **where
        )
    except (OSError, ValueError) as error:
        raise FineTuningError(f"The model {model} is no causal language model that can be loaded: {error}") from error
    if tokenizer.chat_template is None:
        raise FineTuningError(f"The tokenizer of {model} has no chat template. Use a model that is tuned for chat.")
    if where:
        base = _unpacked(base)
    if device.type == "cuda":  # a prompt has thousands of tokens, and a GPU has less memory than time
        base.gradient_checkpointing_enable()
        base.enable_input_require_grads()
    lora = LoraConfig(r=tuning.rank, lora_alpha=2 * tuning.rank, target_modules="all-linear", task_type="CAUSAL_LM")
    return tokenizer, get_peft_model(base, lora).to(device)


def _unpacked(packed: Any) -> Any:
    """Return a model of a GGUF file as one that can be saved, which `transformers` refuses for what it has loaded."""
    from transformers import AutoModelForCausalLM

    config = packed.config.to_dict()
    config.pop("quantization_config", None)
    plain = AutoModelForCausalLM.from_config(type(packed.config).from_dict(config), dtype=packed.dtype)
    plain.load_state_dict(packed.state_dict())
    return plain


def _encoded(tokenizer: Any, conversation: _Conversation, model: Path) -> tuple[list[int], list[int]]:
    """Return the tokens of a conversation up to the answer, and those of the answer with its end."""
    turns = [turn.model_dump() for turn in conversation.messages]
    try:
        asked: str = tokenizer.apply_chat_template(turns[:-1], tokenize=False, add_generation_prompt=True)
        whole: str = tokenizer.apply_chat_template(turns, tokenize=False)
    except TemplateError as error:
        raise FineTuningError(f"The chat template of {model} does not take these conversations: {error}") from error
    if not whole.startswith(asked):
        raise FineTuningError(f"The chat template of {model} writes a question in another way once it is answered.")
    asked_ids, answer_ids = (
        tokenizer(text, add_special_tokens=False)["input_ids"] for text in (asked, whole[len(asked) :])
    )
    return asked_ids, answer_ids


def _train(
    model: Any, examples: Sequence[tuple[list[int], list[int]]], tuning: Tuning, report: Callable[[str], None]
) -> Iterator[float]:
    """Train epoch by epoch, and yield the mean loss of each.

    On the CPU, the instructions that all conversations begin with are read once for each change of the weights, and
    nothing is learned from how they are read, which saves more than half of the time and memory. Checkpointing allows
    no such beginning.
    """
    import torch

    alike = takewhile(lambda tokens: len(set(tokens)) == 1, zip(*(asked[:-1] for asked, _ in examples), strict=False))
    begins = [token for token, *_ in alike] if model.device.type == "cpu" else []
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=tuning.learning_rate)
    order, chance = list(examples), random.Random(SEED)
    model.train()
    for epoch in range(1, tuning.epochs + 1):
        chance.shuffle(order)
        losses: list[float] = []
        reported = time.monotonic()
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            begun = _read_once(model, begins)
            for asked, answer in batch:
                tokens = torch.tensor([(asked + answer)[len(begins) :]], device=model.device)
                # The last token predicts nothing; of the others, only those that predict the answer are needed.
                kept = {"past_key_values": copy.deepcopy(begun), "use_cache": begun is not None}
                logits = model(input_ids=tokens, logits_to_keep=len(answer) + 1, **kept).logits[0, :-1]
                loss = torch.nn.functional.cross_entropy(logits.float(), tokens[0, -len(answer) :])
                (loss / len(batch)).backward()
                losses.append(loss.item())
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            optimizer.zero_grad()
            if len(losses) == len(order) or time.monotonic() - reported >= REPORT_S:
                reported = time.monotonic()
                mean = sum(losses) / len(losses)
                report(f"epoch {epoch} of {tuning.epochs}: {len(losses)} of {len(order)}, loss {mean:.4f}")
        yield sum(losses) / len(losses)


def _read_once(model: Any, tokens: Sequence[int]) -> Any:
    """Return what a model keeps of the tokens that it has read; None if there are none."""
    import torch

    if not tokens:
        return None
    with torch.no_grad():
        return model(input_ids=torch.tensor([tokens], device=model.device), use_cache=True).past_key_values
