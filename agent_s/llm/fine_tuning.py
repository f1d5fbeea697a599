"""Fine-tunes a local language model on conversations with LoRA, so that a small model can take a role.

Only small matrices beside the layers are trained (Hu et al. 2021, https://arxiv.org/abs/2106.09685); they are merged
into the weights at the end, so that every server can load the result. PyTorch, `transformers` and `peft` are optional.
Nothing is downloaded, no code of a model's folder is run, and only weights in the safetensors format are read.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jinja2 import TemplateError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_s.errors import AgentError

BATCH = 8  # conversations for each change of the weights
SEED = 0


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

    It is trained on a GPU if there is one (in bfloat16), otherwise on the CPU.

    Args:
        file: JSON lines as of `agent_s.replay.training_pairs`: `{"messages": [{"role": ..., "content": ...}, ...]}`.
        model: Folder of a causal language model with its tokenizer and chat template, in Hugging Face's format.
        out: Folder for the same with the new weights; must not exist, or be empty.
        tuning: How to train.
        report: Receives one line after each epoch.

    Raises:
        FineTuningError: A package, the file or the model is missing or cannot be used, or the folder is not empty.
    """
    conversations = _read(file)
    missing = [name for name in ("torch", "transformers", "peft") if importlib.util.find_spec(name) is None]
    if missing:
        raise FineTuningError(f"Not installed: {', '.join(missing)}. Run: pip install 'agent-s[train]'")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FineTuningError(f"{out} exists and is not empty. Name a new folder for the trained model.")
    import torch

    torch.manual_seed(SEED)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer, tuned = _load(model, tuning, device)
    examples = [_encoded(tokenizer, conversation, model) for conversation in conversations]
    fitting = [(asked, answer) for asked, answer in examples if len(asked) + len(answer) <= tuning.longest]
    if not fitting:
        raise FineTuningError(f"All conversations of {file} have more than {tuning.longest} tokens. Allow longer ones.")
    losses = []
    for number, loss in enumerate(_train(tuned, fitting, tuning, device), start=1):
        losses.append(loss)
        report(f"epoch {number} of {tuning.epochs}: loss {loss:.4f}")
    merged = tuned.merge_and_unload()
    merged.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return Tuned(len(fitting), len(examples) - len(fitting), tuple(losses))


def _read(file: Path) -> list[_Conversation]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FineTuningError(f"{file} cannot be read: {error}") from error
    conversations = []
    for number, line in enumerate(lines, start=1):
        try:
            conversations.append(_Conversation.model_validate_json(line))
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise FineTuningError(
                f"Line {number} of {file} is not a conversation ({problem}). "
                "Write the file with: agent-s memory export --training FILE"
            ) from error
    if not conversations:
        raise FineTuningError(f"{file} is empty: memory holds no skills yet, and no tasks that were done by skills.")
    return conversations


def _load(folder: Path, tuning: Tuning, device: Any) -> tuple[Any, Any]:
    """Return the tokenizer, and the model with the matrices to train."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    precision = torch.bfloat16 if device.type == "cuda" else torch.float32
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        base = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=precision
        )
    except (OSError, ValueError) as error:
        raise FineTuningError(f"{folder} holds no causal language model that can be loaded: {error}") from error
    if tokenizer.chat_template is None:
        raise FineTuningError(f"The tokenizer of {folder} has no chat template. Use a model that is tuned for chat.")
    if device.type == "cuda":  # a prompt has thousands of tokens, and a GPU has less memory than time
        base.gradient_checkpointing_enable()
        base.enable_input_require_grads()
    lora = LoraConfig(r=tuning.rank, lora_alpha=2 * tuning.rank, target_modules="all-linear", task_type="CAUSAL_LM")
    return tokenizer, get_peft_model(base, lora).to(device)


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


def _train(model: Any, examples: Sequence[tuple[list[int], list[int]]], tuning: Tuning, device: Any) -> Iterator[float]:
    """Train epoch by epoch, and yield the mean loss of each."""
    import torch

    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=tuning.learning_rate)
    order, chance = list(examples), random.Random(SEED)
    model.train()
    for _ in range(tuning.epochs):
        chance.shuffle(order)
        losses = []
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            for asked, answer in batch:
                tokens = torch.tensor([asked + answer], device=device)
                # The last token predicts nothing; of the others, only those that predict the answer are needed.
                logits = model(input_ids=tokens, use_cache=False, logits_to_keep=len(answer) + 1).logits[0, :-1]
                loss = torch.nn.functional.cross_entropy(logits.float(), tokens[0, len(asked) :])
                (loss / len(batch)).backward()
                losses.append(loss.item())
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            optimizer.zero_grad()
        yield sum(losses) / len(losses)
