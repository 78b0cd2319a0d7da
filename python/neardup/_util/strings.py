"""Whether a str is Unicode text: Python's can hold halves of characters, which UTF-8 cannot."""


def check_unicode(text: str, name: str) -> str:
    """The text itself, or an error that says which text it is and where it breaks."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} has a lone surrogate at position {error.start}, so it is not Unicode text; "
            'clean it first, for example with text.encode("utf-8", "replace").decode()'
        ) from None
    return text
