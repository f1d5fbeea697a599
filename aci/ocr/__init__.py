"""Text that is only pixels: engines that recognize it, and where and when to look for it."""
