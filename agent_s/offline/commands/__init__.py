"""Commands, one file per kind: its fields, its parser (`read`), and its execution (`run`).

A new command is a new file here and its rows in `agent_s/offline/sentences.yaml`.
"""
