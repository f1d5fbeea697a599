"""Desktops of other machines, driven over the HTTP protocol of OSWorld's virtual machines."""
