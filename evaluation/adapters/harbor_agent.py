"""The agent for Harbor, which runs it inside of a task's environment.

    harbor run --agent evaluation.adapters.harbor_agent:AgentSOnDesktop --model anthropic:NAME ...

The environment needs Python 3.11 or newer. The agent works on the environment's screen if DISPLAY is set there, else on
a private desktop. Needs `pip install harbor`, which needs Python 3.12.
"""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

from harbor.agents.base import BaseAgent
from harbor.agents.capabilities import AgentCapabilities
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

from agent_s.runs.reading import read_trajectory
from agent_s.trajectory.atif import write_atif
from agent_s.version import program_version

RUN = "/tmp/agent-s-run"
PACKAGE = "agent-s[anthropic,openai,ocr]"
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")


class AgentSOnDesktop(BaseAgent):
    """Installs `agent-s` in an environment, runs it there, and keeps its trajectory as ATIF."""

    capabilities = AgentCapabilities(atif=True)

    def __init__(
        self, logs_dir: Path, *args: Any, package: str = "agent-s[anthropic,openai,ocr]", **kwargs: Any
    ) -> None:
        super().__init__(logs_dir, *args, **kwargs)
        self._package = package

    @staticmethod
    def name() -> str:
        """Return the agent's name."""
        return "agent-s"

    def version(self) -> str:
        """Return the agent's version."""
        return program_version()

    async def setup(self, environment: BaseEnvironment) -> None:
        """Install the agent unless the environment has it.

        Raises:
            RuntimeError: It cannot be installed.
        """
        install = shlex.join(["python3", "-m", "pip", "install", "--quiet", self._package])
        done = await environment.exec(f"command -v agent-s || {install}")
        if done.return_code != 0:
            raise RuntimeError(f"agent-s cannot be installed: {(done.stderr or done.stdout or '')[-500:]}")

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        """Carry out a task; whether it was done is for the task's own tests to say.

        Raises:
            RuntimeError: The agent could not run at all.
        """
        words = ["agent-s", "run", instruction, "--json", "--quiet", "--confirm", "never", "--record", RUN]
        model = ["--model", self.model_name] if self.model_name else []
        keys = {name: os.environ[name] for name in KEYS if name in os.environ}
        done = await environment.exec(shlex.join([*words, *model]), env=keys)
        try:
            outcome = json.loads((done.stdout or "").strip().splitlines()[-1])
        except (ValueError, IndexError) as error:
            raise RuntimeError(f"agent-s could not run: {(done.stderr or '')[-500:]}") from error
        usage = outcome["usage"]
        context.n_input_tokens, context.n_output_tokens = usage["input_tokens"], usage["output_tokens"]
        context.n_cache_tokens, context.cost_usd = usage["cached_tokens"], usage["dollars"]
        context.metadata = {key: outcome[key] for key in ("status", "verified", "reason", "run_id")}
        await environment.download_dir(RUN, self.logs_dir / "run")
        write_atif(read_trajectory(self.logs_dir / "run"), self.logs_dir)
