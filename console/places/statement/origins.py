"""Where the text of an editor comes from: which of the texts that came from elsewhere it was made of."""

from __future__ import annotations


class Origins:
    """``now`` numbers the text from elsewhere that the text of now was made of; edits keep it, undo brings it back."""

    def __init__(self, file: str = "") -> None:
        self.now = 0
        self._of: dict[str, int] = {}
        """That of texts which may come back."""
        self._files = {0: file}

    @property
    def file(self) -> str:
        """The file that it was opened from, "" if from none."""
        return self._files[self.now]

    def came(self, before: str, text: str, file: str) -> None:
        """``text`` came from elsewhere, maybe from a ``file``, in place of ``before``."""
        if before != text:
            self._of |= {before: self.now, text: max(self._files) + 1}
            self.now = self._of[text]
        self._files[self.now] = file

    def typed(self, text: str) -> None:
        """``text`` is there by now, typed or undone."""
        self.now = self._of.get(text, self.now)
