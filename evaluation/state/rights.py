"""What tasks may do on this machine."""

from __future__ import annotations

from pathlib import Path

from agent_s.records import Record


class Rights(Record):
    """What tasks may do."""

    # whether commands of task files may run on the private desktop; those of the bundled sets always may
    commands: bool = False
    files: Path | None = None  # folder of the files that tasks download; None if there is none
    online: bool = False  # whether missing files are downloaded into it
