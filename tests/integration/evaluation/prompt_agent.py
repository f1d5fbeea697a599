"""Runs OSWorld's own `PromptAgent` on a machine, as OSWorld's run script does; started with the Python that has it.

python prompt_agent.py PROVIDER ADDRESS FOLDER < TASK
"""

from __future__ import annotations

import json
import logging
import sys
import types
from importlib.util import module_from_spec, spec_from_file_location
from unittest.mock import MagicMock

# Clients of providers that are not asked here, and a decorator that repeats calls.
for absent in ("easyocr", "librosa", "dashscope", "google.generativeai", "groq", "openai"):
    sys.modules[absent] = MagicMock()
unchanged = types.SimpleNamespace(constant=None, on_exception=lambda *_, **__: lambda function: function)
sys.modules["backoff"] = unchanged  # type: ignore[assignment]
letters = types.SimpleNamespace(encode=list, decode="".join)
sys.modules["tiktoken"] = types.SimpleNamespace(encoding_for_model=lambda _: letters)  # type: ignore[assignment]

from desktop_env.desktop_env import DesktopEnv  # noqa: E402
from mm_agents.agent import PromptAgent  # noqa: E402

spec = spec_from_file_location("provider", sys.argv[1])
assert spec is not None and spec.loader is not None
provider = module_from_spec(spec)
spec.loader.exec_module(provider)
provider.use_machine(sys.argv[2])

MOST_STEPS = 100

task = json.load(sys.stdin)
env = DesktopEnv(provider_name="docker", action_space="pyautogui", cache_dir=sys.argv[3], screen_size=(1280, 800))
agent = PromptAgent(model="gpt-scripted", action_space="pyautogui", observation_type="screenshot_a11y_tree")
agent.reset(logging.getLogger("run"))
obs, done, steps = env.reset(task), False, 0
while not done and steps < MOST_STEPS:
    _, actions = agent.predict(task["instruction"], obs)
    for action in actions or ():
        obs, _, done, _ = env.step(action, 0.2)
        if done:
            break
    steps += 1
json.dump({"score": float(env.evaluate()), "actions": env.action_history}, sys.stdout)
