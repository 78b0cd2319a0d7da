"""The building blocks of commands: options as dataclasses, help in sections, and calling them.

A group of options is a frozen dataclass whose fields are made by `option`; the type of a field says
how its value is parsed. A field whose default factory is another group adds its options. `command`
turns a function into a command that takes such groups as objects:

    @command(INPUTS, near=NearOptions, limits=only(ReadingOptions, "max_bytes"))
    def pairs(inputs: tuple[str, ...], near: NearOptions, limits: ReadingOptions) -> int: ...

`--help` lists all options by section, `-h` the daily ones; `load_config` reads options from a file.
`run_commands` calls a command, and turns errors into messages and exit codes.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from neardup.cli import DONE, FAILED, USAGE, console
from neardup.cli.suggestions import USUAL_COMMANDS, USUAL_OPTIONS, suggest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    ParamType = click.ParamType[Any]
else:
    # Generic for type checkers only: older versions of click cannot subscribe it.
    ParamType = click.ParamType

# Sections of the help, as they are listed.
NEAR = "What counts as near"
SHARED = "What counts as shared"
KEPT = "What is kept"
SEARCH = "Search"
SERVICE = "Service"
LIMITS = "Limits"
READING = "Reading"
CAPTURES = "HTTP captures"
ENGINE = "Engine"
OUTPUT = "Output"
SECTIONS = (NEAR, SHARED, KEPT, SEARCH, SERVICE, LIMITS, READING, CAPTURES, ENGINE, OUTPUT)
# A command with so few options shows all of them with -h.
FEW_OPTIONS = 14
# Columns of names in the help; the text of a longer one begins on the next line.
NAME_WIDTH = 25


class FileName(ParamType):
    """The name of a file as a string: patterns, URLs and - are names too."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class Range(ParamType):
    """A number within limits; click's own ranges explain them by inequalities."""

    def __init__(self, number: ParamType, least: float, most: float | None) -> None:
        self.name = number.name
        self._number = number
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = self._number.convert(value, param, ctx)
        least, most = self._least, self._most
        # Also true of nan.
        if not (number >= least and (most is None or number <= most)):
            limits = f"at least {least:g}" if most is None else f"{least:g}–{most:g}"
            self.fail(f"{value} is out of range ({limits})", param, ctx)
        return number


# A path. Whether it can be read or written shows when that is tried.
FILE_PATH = click.Path(path_type=Path, readable=False)
# By the annotation of a field.
TYPES: dict[str, ParamType] = {
    "str": click.STRING,
    "int": click.INT,
    "float": click.FLOAT,
    "Path": FILE_PATH,
}


class Option(click.Option):
    """An option with a place in the help.

    section  the heading under which --help lists it
    daily    whether -h lists it too
    aliases  further names, which work and are not listed
    values   values to complete [default: those in a metavar such as star|connected]
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        section: str = OUTPUT,
        daily: bool = False,
        aliases: Sequence[str] = (),
        values: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        super().__init__([*names, *aliases], **settings)
        # Values in capitals stand for others.
        listed = (self.metavar or "").split("|")
        self.values = values or [value for value in listed if value.islower()]
        self.section = section
        self.daily = daily
        self.aliases = aliases

    @property
    def names(self) -> list[str]:
        """The names the help shows, the short one first."""
        return sorted(set(self.opts) - set(self.aliases), key=len)

    def get_error_hint(self, ctx: click.Context | None) -> str:
        return " / ".join(f"'{name}'" for name in self.names)

    def help_row(self) -> tuple[str, str]:
        names = ", ".join(self.names) + ("" if self.is_flag else f" {self.metavar}")
        # Padded, so that all sections have the same columns.
        return names.ljust(NAME_WIDTH), self.help or ""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = [CompletionItem(value) for value in self.values if value.startswith(incomplete)]
        return found or super().shell_complete(ctx, incomplete)


class Argument(click.Argument):
    """An argument with a help text."""

    def __init__(self, name: str, *, help: str, **settings: Any) -> None:  # noqa: A002
        super().__init__([name], **settings)
        self.help = help


def argument(
    name: str, metavar: str, help_text: str, *, many: bool = False, **settings: Any
) -> Argument:
    """Declare an argument; a metavar in brackets is optional."""
    settings.setdefault("required", not metavar.startswith("["))
    settings.setdefault("type", FileName())
    return Argument(name, metavar=metavar, help=help_text, nargs=-1 if many else 1, **settings)


def option(*names: str, default: Any = None, **settings: Any) -> Any:
    """Declare a field of a group of options.

    settings  those of `Option`, min and max, and `once` to refuse an option that is repeated: click
              would take the last value silently
    """
    return dataclasses.field(default=default, metadata={"names": names, **settings})


class Subset(NamedTuple):
    """Some options of a group, perhaps with other help texts; the others have their defaults."""

    group: type
    fields: Sequence[str]
    helps: dict[str, str]


def only(group: type, *fields: str, **helps: str) -> Subset:
    """Return a group with these options only; `helps` are fields with another help text."""
    return Subset(group, (*fields, *helps), helps)


def _make_option(section: str, field: dataclasses.Field[Any], help_text: str | None) -> Option:
    settings = dict(field.metadata)
    names = (field.name, *settings.pop("names"))
    if help_text is not None:
        settings["help"] = help_text
    kind = str(field.type).removesuffix(" | None")
    least, most = settings.pop("min", None), settings.pop("max", None)
    if settings.pop("once", False):
        settings["multiple"] = True
    if kind == "bool":
        settings.update(is_flag=True, default=False)
    elif kind.startswith("tuple["):
        kind = kind.removeprefix("tuple[").removesuffix(", ...]")
        settings["multiple"] = True
    elif field.default is not None and not settings.get("required"):
        settings["default"] = field.default
    if kind != "bool" and "type" not in settings:
        settings["type"] = TYPES[kind]
        if least is not None:
            settings["type"] = Range(TYPES[kind], least, most)
    return Option(names, section=settings.pop("section", section), **settings)


def _options_of(group: type | Subset) -> Iterator[Option]:
    part = group if isinstance(group, Subset) else only(group, *_field_names(group))
    fields = {field.name: field for field in dataclasses.fields(part.group)}
    for name in part.fields:
        if inner := _inner_group(fields[name]):
            yield from _options_of(inner)
        else:
            section = getattr(part.group, "SECTION", OUTPUT)
            yield _make_option(section, fields[name], part.helps.get(name))


def _inner_group(field: dataclasses.Field[Any]) -> type | None:
    factory = field.default_factory
    return factory if isinstance(factory, type) and dataclasses.is_dataclass(factory) else None


def _field_names(group: type) -> list[str]:
    return [field.name for field in dataclasses.fields(group)]


def _build(group: type | Subset, values: dict[str, Any]) -> Any:
    """Take the values of a group out of those that click has parsed."""
    of, names = group[:2] if isinstance(group, Subset) else (group, _field_names(group))
    fields = {field.name: field for field in dataclasses.fields(of)}
    given = {}
    for name in names:
        inner = _inner_group(fields[name])
        given[name] = _build(inner, values) if inner else values.pop(name)
        if fields[name].metadata.get("once"):
            given[name] = _only_value(fields[name].metadata["names"][0], given[name])
    return of(**given)


def _only_value(name: str, values: Sequence[str]) -> str | None:
    if len(values) > 1:
        raise click.BadParameter(
            f"is given {len(values)} times ({', '.join(values)}) and takes one value",
            param_hint=f"'{name}'",
        )
    return values[0] if values else None


def command(
    *arguments: Argument, name: str | None = None, **groups: type | Subset
) -> Callable[[Callable[..., int | None]], Command]:
    """Turn a function into a command; it gets the arguments, and an object for each group."""

    def decorate(function: Callable[..., int | None]) -> Command:
        def call(**values: Any) -> int | None:
            built = {name: _build(group, values) for name, group in groups.items()}
            return function(**values, **built)

        options = [each for group in groups.values() for each in _options_of(group)]
        return Command(
            name or function.__name__,
            callback=call,
            params=[*arguments, *options, *_help_options()],
            help=function.__doc__,
            add_help_option=False,
        )

    return decorate


def _help_options() -> list[click.Parameter]:
    def show(full: bool) -> Callable[[click.Context, click.Parameter, bool], None]:
        def callback(ctx: click.Context, param: click.Parameter, value: bool) -> None:
            if value and not ctx.resilient_parsing:
                formatter = ctx.make_formatter()
                write_help(ctx, formatter, full=full)
                print(formatter.getvalue().rstrip("\n"))
                ctx.exit()

        return callback

    how: dict[str, Any] = {"is_flag": True, "expose_value": False, "is_eager": True}
    return [
        click.Option(["-h"], callback=show(False), help="Show the daily options.", **how),
        click.Option(["--help"], callback=show(True), help="Show all options.", **how),
    ]


class Command(click.Command):
    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(ctx, formatter, full=True)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        own = [each for each in self.params if isinstance(each, Option) and each.required]
        needed = [f"{each.names[0]} {each.metavar}" for each in own]
        arguments = [str(p.metavar) for p in self.params if isinstance(p, Argument)]
        return [*arguments, *needed, "[OPTIONS]"]


def write_help(ctx: click.Context, formatter: click.HelpFormatter, *, full: bool) -> None:
    """Write the help of a command: its arguments, then its options."""
    command = ctx.command
    options = [each for each in command.params if isinstance(each, Option)]
    is_short = not full and len(options) > FEW_OPTIONS
    command.format_usage(ctx, formatter)
    command.format_help_text(ctx, formatter)
    if arguments := [each for each in command.params if isinstance(each, Argument)]:
        with formatter.section("Arguments"):
            formatter.write_dl([(str(each.metavar), each.help or "") for each in arguments])
    if is_short:
        daily = [each for each in options if each.daily]
        daily.sort(key=lambda each: (not each.required, SECTIONS.index(each.section)))
        with formatter.section("Daily options"):
            formatter.write_dl([each.help_row() for each in daily], NAME_WIDTH)
    else:
        for section in SECTIONS:
            if rows := [each.help_row() for each in options if each.section == section]:
                with formatter.section(section):
                    formatter.write_dl(rows, NAME_WIDTH)
    formatter.write_paragraph()
    path = ctx.command_path
    if is_short:
        formatter.write_text(f"All {len(options)} options: {path} --help")
    elif len(options) > FEW_OPTIONS:
        formatter.write_text(f"Only the daily options: {path} -h")


class Group(click.Group):
    """Commands of one noun; without a command it shows its help.

    modules  of commands that are imported when they are needed: name → module.attribute
    """

    def __init__(
        self,
        name: str,
        *,
        help: str,  # noqa: A002
        modules: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(name, help=help, context_settings={"help_option_names": ["-h", "--help"]})
        self._modules = modules or {}

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["COMMAND", "..."]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._modules, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if place := self._modules.get(cmd_name):
            module, _, attribute = place.partition(".")
            found = getattr(importlib.import_module(f"neardup.cli.{module}"), attribute)
            assert isinstance(found, click.Command)  # noqa: S101
            return found
        return super().get_command(ctx, cmd_name)

    def add(self, *commands: click.Command) -> None:
        for each in commands:
            self.add_command(each)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            guesses = suggest(args[0], self.list_commands(ctx), USUAL_COMMANDS)
            raise click.UsageError(f"No such command: {args[0]}.{guesses}", ctx)
        return super().resolve_command(ctx, args)


def run_commands(root: Group, arguments: Sequence[str]) -> int:
    """Parse arguments, call the command, and return its exit code."""
    try:
        # Not root.main(), which has its own codes for closed pipes and Ctrl-C.
        with root.make_context("neardup", list(arguments)) as context:
            code = root.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        console.lines(error.format_message())
        return USAGE
    except click.UsageError as error:
        console.error(usage_message(error))
        return USAGE
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        if not console.reason(error):
            raise
        console.failed(error)
        return FAILED
    return code if isinstance(code, int) else DONE


def usage_message(error: click.UsageError) -> str:
    """Return one line: what is wrong, what was probably meant, and how to get help."""
    context = error.ctx
    path = context.command_path if context is not None else "neardup"
    if isinstance(error, click.BadParameter) and not (error.param or error.param_hint):
        # The layers below know a setting by the name of its argument: "similarity is 9.0; …",
        # "distinguish has 'tone'; …".
        name = f"--{re.split(' (?:is|has) ', error.message)[0].replace('_', '-')}"
        params = context.command.params if context is not None else ()
        if any(name in each.opts for each in params):
            error.param_hint = name
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        params = context.command.params if context is not None else ()
        # Aliases need no suggestion.
        known = [
            name
            for each in params
            for name in (each.names if isinstance(each, Option) else each.opts)
            if name.startswith("-")
        ]
        guesses = suggest(error.option_name, known, USUAL_OPTIONS)
        message = f"No such option: {error.option_name}.{guesses}"
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} See '{path} --help'."


class ConfigFile(FileName):
    """A TOML file of options, read as defaults so that the command line wins."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        assert ctx is not None  # noqa: S101
        path = Path(value)
        load_config(ctx, path)
        return path


def load_config(context: click.Context, path: Path) -> None:
    """Set the defaults of a command from a TOML file."""
    import tomllib

    from neardup._util.settings_file import read_settings

    def refuse(message: str) -> click.BadParameter:
        return click.BadParameter(message, param_hint="--config")

    try:
        content = read_settings(path, "file")
    except (OSError, ValueError) as error:
        raise refuse(console.reason(error)) from error
    try:
        values = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise refuse(f"{path}: not TOML: {error}") from error
    known = _names_in_file(context.command)
    chosen: dict[str, Any] = {}
    for name, value in values.items():
        option = known.get(name.replace("_", "-"))
        if option is None:
            raise refuse(f"{path}: no option {name!r}; there are {', '.join(sorted(known))}")
        if expected := _expected_type(option, value):
            raise refuse(f"{path}: {name} is {_as_toml(value)}; it must be {expected}")
        # Numbers are parsed like those on the command line, which are strings.
        shown = str(value) if type(value) in (int, float) else value
        is_list = isinstance(shown, str) and _takes_several(option)
        chosen[str(option.name)] = [shown] if is_list else shown
    context.default_map = {**(context.default_map or {}), **chosen}


def _names_in_file(command: click.Command) -> dict[str, click.Parameter]:
    """Return the parameters a file may set, by the names it uses."""
    found: dict[str, click.Parameter] = {}
    for param in command.params:
        if isinstance(param, click.Argument):
            found["input"] = param
        else:
            names = (name.removeprefix("--") for name in param.opts if name.startswith("--"))
            found |= dict.fromkeys(names, param)
    return {name: param for name, param in found.items() if name not in ("config", "help")}


def _expected_type(param: Any, value: object) -> str | None:
    """Return what a value must be, if it has another type."""
    kind = type(value)
    if getattr(param, "is_flag", False):
        return None if kind is bool else "true or false"
    if _takes_several(param):
        strings = kind is list and all(type(part) is str for part in cast("list[object]", value))
        return None if kind is str or strings else "a string or a list of strings"
    if param.type.name.startswith("int"):
        return None if kind is int else "a whole number"
    if param.type.name.startswith("float"):
        return None if kind in (int, float) else "a number"
    return None if kind is str else "a string"


def _takes_several(param: Any) -> bool:
    return bool(getattr(param, "multiple", False) or param.nargs == -1)


def _as_toml(value: object) -> str:
    return str(value).lower() if type(value) is bool else repr(value)
