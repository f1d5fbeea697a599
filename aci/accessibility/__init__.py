"""The accessibility tree over D-Bus (AT-SPI 2): what applications say is on the screen."""
