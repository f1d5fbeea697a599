"""One file for each kind of command: its fields, how it is read from a sentence (`read`), and its policy (`run`).

A new command is a new file here and its rows in `agent_s/offline/sentences.yaml`.
"""
