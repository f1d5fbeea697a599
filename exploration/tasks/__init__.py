"""Tasks for the agent to practise on: proposals, completion checks and coverage."""
