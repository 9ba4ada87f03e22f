"""Confinement: which file or folder a path means, and opening it so that nothing outside of the workspace is read.

A path is resolved first, links included, and refused unless it then lies in the workspace. It is opened folder by
folder from the workspace's root, and no link is followed on that way. So nothing that is swapped for a link between
the check and the opening leads outside.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from sessions.display import one_line
from sessions.private_files import reason
from sessions.toolbox import ToolRefused
from sessions.workspace.secret_files import likely_secret

SYSTEM_FOLDERS = (Path("/proc"), Path("/sys"), Path("/dev"))
"""What looks like files there is the system itself: a process's environment with its keys, devices."""

LONGEST_SHOWN = 200
"""Characters of a path that a sentence shows."""

_PASS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)

# A pipe that took the place of a file would otherwise be waited for.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}

Identity = tuple[int, int]
"""Device and inode: which folder it is, under whatever name."""


@dataclass(frozen=True, slots=True)
class Place:
    """Something in the workspace, links resolved."""

    parts: tuple[str, ...]
    """From the workspace's root; empty for the root itself."""

    @property
    def shown(self) -> str:
        return shown("/".join(self.parts) or ".")


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder, and what of it stays closed."""

    root: Path
    """Absolute, links resolved."""
    closed: tuple[Path, ...] = ()
    """Folders that are never read, wherever they lie: Otto's own, with everybody's tapes and settings."""
    system: tuple[Path, ...] = ()
    """Folders of the system that stay closed as well, unless the workspace lies in one of them."""

    @staticmethod
    def at(root: Path, closed: Iterable[Path] = ()) -> Workspace:
        """The workspace at ``root``, which need not exist yet."""
        found = Path(os.path.realpath(root))
        own = tuple(Path(os.path.realpath(folder)) for folder in closed)
        return Workspace(found, own, tuple(each for each in SYSTEM_FOLDERS if not found.is_relative_to(each)))

    def find(self, path: str) -> Place:
        """What ``path`` means: relative to the root, or absolute and inside of it.

        Raises:
            ToolRefused: it lies outside, does not exist, or leads in a circle.
        """
        if any(self.root.is_relative_to(folder) for folder in self.closed):
            raise ToolRefused("The workspace is a folder of Otto's own, so tools read nothing here.")
        name = shown(path)
        try:
            wanted = self.root / Path(path).expanduser()
            # Whether something exists outside must not show, so this comes before any question to the file.
            loose = Path(os.path.realpath(wanted))
            if not loose.is_relative_to(self.root):
                raise ToolRefused(f"{name} is outside of the workspace, and tools read only what is in it.")
            found = Path(os.path.realpath(wanted, strict=True))
        except (ValueError, RuntimeError) as error:
            raise ToolRefused(f"{name} is not a path.") from error
        except OSError as error:
            if not self.root.is_dir():
                raise ToolRefused("The workspace's folder does not exist any more.") from error
            raise refusal(name, error) from error
        if not found.is_relative_to(self.root):
            raise ToolRefused(f"{name} is outside of the workspace, and tools read only what is in it.")
        return Place(found.relative_to(self.root).parts)

    @contextmanager
    def open_file(self, place: Place) -> Iterator[FileIO]:
        """The regular file at ``place``, for reading from its start.

        Raises:
            ToolRefused: it is no regular file, cannot be read, or usually holds secrets.
        """
        name = place.shown
        if not place.parts:
            raise ToolRefused("The workspace itself is a folder; list_files shows what is in it.")
        if likely_secret(place.parts):
            raise ToolRefused(
                f"{name} usually holds passwords or keys, so tools do not open it. The person can attach it with @."
            )
        try:
            with self._folder(place.parts[:-1]) as folder:
                before = os.stat(place.parts[-1], dir_fd=folder, follow_symlinks=False)
                require_regular(before, name)
                opened = os.open(place.parts[-1], os.O_RDONLY | _NO_LINK | _AT_ONCE, dir_fd=folder)
        except OSError as error:
            raise refusal(name, error) from error
        with os.fdopen(opened, "rb", buffering=0) as file:
            require_regular(os.fstat(opened), name)
            yield file

    def scan(self, place: Place) -> list[os.DirEntry[str]]:
        """What the folder at ``place`` holds, in no order.

        Raises:
            ToolRefused: it is no folder, or cannot be read.
        """
        try:
            with self._folder(place.parts) as folder:
                listed = os.open(".", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0), dir_fd=folder)
                try:
                    with os.scandir(listed) as entries:
                        # What an entry is must be known before the folder is closed: it is asked through it.
                        return [entry for entry in entries if _known(entry)]
                finally:
                    os.close(listed)
        except OSError as error:
            raise refusal(place.shown, error) from error

    def is_folder(self, place: Place) -> bool:
        """Raises ``ToolRefused`` where that cannot be known."""
        if not place.parts:
            return True
        try:
            with self._folder(place.parts[:-1]) as folder:
                return stat.S_ISDIR(os.stat(place.parts[-1], dir_fd=folder, follow_symlinks=False).st_mode)
        except OSError as error:
            raise refusal(place.shown, error) from error

    @contextmanager
    def _folder(self, parts: tuple[str, ...]) -> Iterator[int]:
        """A descriptor of the folder, reached from the root without following a link."""
        closed = self._closed_identities()
        folder = os.open(self.root, _PASS)
        try:
            for part in parts:
                below = os.open(part, _PASS | _NO_LINK, dir_fd=folder)
                os.close(folder)
                folder = below
                found = os.fstat(folder)
                if (found.st_dev, found.st_ino) in closed:
                    raise ToolRefused(f"{shown('/'.join(parts))} is closed to tools.")
            yield folder
        finally:
            os.close(folder)

    def _closed_identities(self) -> frozenset[Identity]:
        found = set()
        for folder in (*self.closed, *self.system):
            try:
                facts = folder.stat()
            except OSError:
                continue
            found.add((facts.st_dev, facts.st_ino))
        return frozenset(found)


def require_regular(facts: os.stat_result, name: str) -> None:
    """Raises ``ToolRefused`` for whatever is not a regular file: reading the others may wait forever."""
    kind = stat.S_IFMT(facts.st_mode)
    if kind == stat.S_IFDIR:
        raise ToolRefused(f"{name} is a folder; list_files shows what is in it.")
    if kind != stat.S_IFREG:
        raise ToolRefused(f"{name} is {_KINDS.get(kind, 'not a file')}, and only regular files are read.")


def shown(path: str) -> str:
    """A path as a sentence or a list shows it: whatever is not a visible character is escaped."""
    if path.isprintable():
        return one_line(path, LONGEST_SHOWN)
    escaped = "".join(each if each.isprintable() else _escaped(each) for each in path)
    return one_line(escaped, LONGEST_SHOWN)


def _escaped(character: str) -> str:
    # Bytes of a name that is not UTF-8 come as lone surrogates.
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def _known(entry: os.DirEntry[str]) -> bool:
    """Whether the entry still exists. Asking keeps its facts in the entry."""
    try:
        entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return True


def refusal(name: str, error: OSError) -> ToolRefused:
    """What the system's refusal to open or read ``name`` means."""
    match error.errno:
        case errno.ENOENT:
            return ToolRefused(f"There is no {name} in the workspace; list_files shows what there is.")
        case errno.ELOOP:
            return ToolRefused(f"{name} is a link that leads back to itself or was changed just now.")
        case errno.ENOTDIR:
            return ToolRefused(f"{name} cannot be reached: a part of it is not a folder.")
        case _:
            return ToolRefused(f"{name} cannot be read: {reason(error)}.")
