"""How to install the packages of an extra."""


def install_hint(extra: str) -> str:
    """Return the commands that install an extra, from a package index and in a clone."""
    return f"pip install 'neardup[{extra}]', or in a clone pip install -r requirements/{extra}.txt"
