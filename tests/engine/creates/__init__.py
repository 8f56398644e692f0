"""Statements that create, replace and clone, each with what is there before it; Delta itself says what is right.

``{dir}`` is a directory of the test. A case that is not ``quick`` is for the thorough run.
"""

from __future__ import annotations

from tests.engine.creates.adopted import ADOPTED
from tests.engine.creates.copied import CLONED, LIKED
from tests.engine.creates.made import MADE
from tests.engine.creates.refused import REFUSED
from tests.engine.creates.replaced import REPLACED
from tests.engine.creates.selected import SELECTED

EVERY = (*MADE, *REPLACED, *SELECTED, *LIKED, *CLONED, *ADOPTED, *REFUSED)
