"""`isoptimal data`: the data sets of the papers, written into a file that audits and trainings read."""

from __future__ import annotations

import io
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, final, get_args, get_origin

import click

from verify.checker.errors import InputError
from verify.cli.completion import complete_places
from verify.cli.failures import check_solvers_are_ours, debug_option
from verify.cli.places import check_file
from verify.files.writing import write_bytes
from verify.numbers.counts import count

if TYPE_CHECKING:
    from solvers.paper_data import Generator

__all__ = ["data_command"]

MOST_NUMBERS = 10**8  # in X


@final
class _Generators(click.Group):
    """A subcommand for each generator, made when it is asked for, with an option for each of its parameters."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (the signature is that of click)
        """The names, in the order of the papers."""
        from solvers.paper_data import GENERATORS

        return list(GENERATORS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The names with their whole summaries; click would cut them."""
        from solvers.paper_data import GENERATORS

        with formatter.section("Commands"):
            formatter.write_dl([(name, found.summary) for name, found in GENERATORS.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The subcommand of this name."""
        from solvers.paper_data import GENERATORS

        found = GENERATORS.get(cmd_name)
        return None if found is None else _command(found)


@click.command(
    "data",
    cls=_Generators,
    short_help="Write a data set of the papers into a file.",
    epilog="""\b
Examples:
  isoptimal data lyu2021-hinted --out hinted.npz
  isoptimal data chistikov2023-centred --dimension 16 --seed 3 --out centred.npz
""",
)
def data_command() -> None:
    """Draw one of the papers' data sets: X (points, inputs) and y (points,) in an .npz file."""


def _command(generator: Generator) -> click.Command:
    from solvers.paper_data import MEANINGS

    def run(out: str, **values: object) -> int:
        import numpy as np

        check_solvers_are_ours()
        if Path(out).suffix.lower() != ".npz":
            raise InputError(f"--out {out} must end in .npz")
        check_file(out, (), None)
        _check_size(generator, values)
        try:
            made = generator.make(**{name: value for name, value in values.items() if value is not None})
        except ValueError as error:
            raise InputError(f"{generator.name}: {error}") from error
        content = io.BytesIO()
        np.savez(content, X=made.inputs, y=made.targets)
        write_bytes(out, content.getvalue())
        n, d = made.inputs.shape
        known = "".join(f"; {name} {_shown(value)}" for name, value in made.about.items() if value.size <= 4)
        click.echo(f"{out}: {count(n, 'point')} in dimension {d}{known}")
        return 0

    options: list[click.Parameter] = [
        click.Option(
            [f"--{name.replace('_', '-')}", name], default=default, show_default=True, help=MEANINGS[name],
            **_typed(hint),
        )
        for name, (hint, default) in generator.parameters.items()
    ]  # fmt: skip
    options.append(click.Option(["--out"], required=True, metavar="FILE", help="The .npz file to write."))
    callback: Callable[..., Any] = debug_option(run)
    made = click.Command(generator.name, callback=callback, params=options, help=_help(generator))
    made.params += getattr(callback, "__click_params__", [])
    complete_places(made)
    return made


def _check_size(generator: Generator, values: dict[str, object]) -> None:
    """Refuse more numbers than fit into memory; without a number of points some sets have one for each dimension."""
    dimension = values.get("dimension") or 1
    points = values.get("points") or (dimension if "points" in values else 1)
    if not (isinstance(points, int) and isinstance(dimension, int)):
        return
    if min(points, dimension) > 0 and points * dimension > MOST_NUMBERS:
        raise InputError(
            f"{generator.name}: {points:,} points in dimension {dimension:,} are more than {MOST_NUMBERS:,} numbers"
        )


def _help(generator: Generator) -> str:
    return f"{generator.summary}\n\nSource: {generator.source}."


def _typed(hint: Any) -> dict[str, Any]:
    """What click needs to know of a parameter's type."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not types.NoneType)
    if get_origin(hint) is Literal:
        return {"type": click.Choice(list(get_args(hint)))}
    return {"type": hint}


def _shown(value: object) -> str:
    import numpy as np

    return np.array2string(np.asarray(value), precision=6, separator=", ")
