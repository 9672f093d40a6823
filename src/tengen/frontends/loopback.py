"""Loopback: addresses that only this machine can reach."""

from __future__ import annotations

from ipaddress import ip_address

LOOPBACK = "127.0.0.1"


def is_loopback(host: str | None) -> bool:
    """Is it an address or a name of this machine that no other machine can reach?"""
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False
