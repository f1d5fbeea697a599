"""Summaries of settings in GSettings schemas."""

from __future__ import annotations

from pathlib import Path

from exploration.search.schemas import summary_of

SCHEMA = """<schemalist><schema id="org.app.view" path="/org/app/view/">
<key name="zeroes" type="b"><default>false</default><summary>Show trailing\n zeroes.</summary></key>
</schema></schemalist>"""


def test_summary_comes_from_the_schema(tmp_path: Path) -> None:
    (tmp_path / "org.app.gschema.xml").write_text(SCHEMA)
    (tmp_path / "broken.gschema.xml").write_text("<schemalist>")
    assert summary_of("org/app/view/zeroes", (tmp_path,)) == "Show trailing zeroes"
    assert summary_of("org/app/view/other", (tmp_path,)) == ""
