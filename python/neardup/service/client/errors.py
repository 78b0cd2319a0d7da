"""What a service refuses."""

from __future__ import annotations


class ServiceError(Exception):
    """A service has refused a request, or could not answer it.

    status  of the answer
    title   what kind of problem it is
    detail  what is wrong
    errors  the values that are wrong, one sentence each
    """

    def __init__(self, status: int, title: str, detail: str, errors: tuple[str, ...] = ()) -> None:
        super().__init__(status, title, detail, errors)
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors

    def __str__(self) -> str:
        return "; ".join([f"{self.status} {self.title}: {self.detail}".rstrip(": "), *self.errors])
