"""Files in and out."""

from neardup.files import reading as reading
