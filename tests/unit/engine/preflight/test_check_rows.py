"""Of several faults in the rows that a MERGE writes, each is told once."""

from __future__ import annotations

from engine.model.plan import Refused
from engine.preflight.check_rows import MOST_TOLD, _with_others

CASTS = Refused(condition="CAST_INVALID_INPUT", message="The value of f cannot be computed: it is no number.")
CHECK = Refused(condition="DELTA_VIOLATE_CONSTRAINT", message="2 rows violate the CHECK constraint b.")


def test_the_first_fault_tells_of_the_others() -> None:
    first, other = _with_others([CASTS, CHECK])
    assert first.message == f"{CASTS.message} Also: 2 rows violate the CHECK constraint b."
    assert other == CHECK


def test_one_fault_that_several_clauses_have_is_told_once() -> None:
    assert [*_with_others([CASTS, CASTS])] == [CASTS, CASTS]
    assert _with_others([CASTS, CHECK, CASTS, CHECK])[0].message.count("2 rows violate") == 1


def test_of_many_faults_the_rest_is_counted() -> None:
    many = [Refused(condition="X", message=f"Fault {number}.") for number in range(MOST_TOLD + 3)]
    assert _with_others(many)[0].message.endswith(f"Fault {MOST_TOLD}, and 2 more.")
