"""The D-Bus client behind the accessibility reader."""
