#!/usr/bin/env python3
"""Runs a command where no namespace can be made: tests/bare_place.py COMMAND…

As in a restricted pod or on a locked-down host: an ordinary user without capabilities, in a user namespace that allows no further one. As root it
becomes the user of the folder that HONE_BARE_HOME names, or 54321."""
import ctypes, os, sys

NEW_USER_NAMESPACE = 0x10000000


def enter():
    home = os.environ.get("HONE_BARE_HOME")
    if os.geteuid() == 0:
        user = os.stat(home).st_uid if home else 54321
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(4, 1, 0, 0, 0)  # dumpable again, or the maps belong to root
    if libc.unshare(NEW_USER_NAMESPACE) != 0:
        sys.exit(f"no user namespace: {os.strerror(ctypes.get_errno())}")
    for name, text in (("setgroups", "deny"), ("gid_map", f"{group} {group} 1"), ("uid_map", f"{user} {user} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")
    if home:
        os.environ["HOME"] = home


if __name__ == "__main__":
    enter()
    os.execvp(sys.argv[1], sys.argv[1:])  # takes the capabilities away
