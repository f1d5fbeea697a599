"""Runs tasks by OSWorld's own, unmodified `DesktopEnv` and a scripted agent; started with the Python that has it.

    python environment.py PROVIDER ADDRESS < TASKS

PROVIDER is the path of `evaluation/machine/provider.py`. Each line of TASKS is `{"task", "space", "actions", "cache",
"size"}`; each line of the output is `{"score", "actions"}` or `{"error"}`. The next line is read only then, so that the
machine can be judged in between.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import logging
import re
import sys
import time
import types
from typing import Any

MOST_LOOKS = 150
PAUSE_S = 0.2


def act(env: Any, obs: dict[str, Any], script: list[Any]) -> None:
    """Do what a script says."""
    for entry in script:
        if isinstance(entry, dict) and "until" in entry:
            for _ in range(MOST_LOOKS):
                if re.search(entry["until"], obs["accessibility_tree"] or ""):
                    break
                obs = env.step("WAIT", PAUSE_S)[0]
            else:
                frames = re.findall(r'<frame name="([^"]*)"', obs["accessibility_tree"] or "")
                raise TimeoutError(f"the screen never showed {entry['until']}; its windows are {frames}")
        else:
            obs, _, done, _ = env.step(entry, PAUSE_S)
            if done:
                return


def main() -> None:
    """Run the tasks."""
    for absent in ("easyocr", "librosa"):  # heavy, and needed by two metrics only
        sys.modules[absent] = types.ModuleType(absent)
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        spec = importlib.util.spec_from_file_location("provider", sys.argv[1])
        assert spec is not None and spec.loader is not None  # it is a file of Python
        provider = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(provider)
        from desktop_env.desktop_env import DesktopEnv

        logging.disable(logging.INFO)
        provider.use_machine(sys.argv[2])
        for line in iter(sys.stdin.readline, ""):
            job = json.loads(line)
            try:
                env = DesktopEnv(
                    provider_name="vmware", action_space=job["space"], cache_dir=job["cache"], screen_size=job["size"]
                )
                began = time.monotonic()
                act(env, env.reset(job["task"]), job["actions"])
                done = {"score": float(env.evaluate()), "actions": env.action_history}
                done["seconds"] = time.monotonic() - began
            except Exception as error:  # noqa: BLE001 - whatever breaks is the answer
                done = {"error": f"{type(error).__name__}: {error}"[:400]}
            answers.write(json.dumps(done) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
