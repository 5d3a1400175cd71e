"""The command line: runs the jobs one after the other on one core and writes the table, after each job anew."""

from __future__ import annotations

import argparse
import resource
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path

from benchmarks.against import compare
from benchmarks.jobs import JOBS, job
from benchmarks.machine import about
from benchmarks.measuring import Plan, warm_up
from benchmarks.table import Row, markdown


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the jobs; 1 when one of them failed."""
    given = _parser().parse_args(arguments)
    unknown = sorted(set(given.only) - set(JOBS))
    if unknown:
        print(f"no job is called {unknown[0]!r}; there are {', '.join(JOBS)}", file=sys.stderr)
        return 2
    if given.against is not None:
        return _compare(given.against, given.examples, given.repeat or 1, given.out)
    limit = int(given.memory * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("ignore")  # solvers warn of inaccurate iterates; the certified gap is in the table
    plan = Plan(repeat=given.repeat or (1 if given.quick else 5), quick=given.quick)
    chosen = [name for name in JOBS if name in given.only or not given.only]
    head = about(f"{plan.repeat} run{'s' if plan.repeat > 1 else ''}", quick=plan.quick)
    rows: list[Row] = []
    warm_up()
    failed = False
    for name in chosen:
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            for row in job(name)(plan):
                rows.append(row)
                print(f"  {row.summary}", file=sys.stderr, flush=True)
                _write(given.out, markdown(head, rows), done=False)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the other jobs' figures are kept)
            failed = True
            rows.append(Row(name, "failed", note=_failure(error)))
            print(f"  {rows[-1].note}", file=sys.stderr, flush=True)
            if isinstance(error, KeyboardInterrupt):
                break
    _write(given.out, markdown(head, rows), done=True)
    return int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help=f"of {', '.join(JOBS)}")
    parser.add_argument("--repeat", type=int, metavar="N", help="runs of each side (default 5; long ones get fewer)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one run: does everything still run?")
    parser.add_argument("--out", type=Path, metavar="FILE.md", help="where the table goes (default: standard output)")
    parser.add_argument("--against", metavar="REVISION", help="compare audits of the examples with it")
    parser.add_argument("--examples", nargs="+", metavar="NAME", default=[], help="of --against: parts of names")
    parser.add_argument("--memory", type=float, default=8.0, metavar="GB", help="address space allowed (default 8)")
    return parser


def _compare(revision: str, names: Sequence[str], repeat: int, out: Path | None) -> int:
    """Audits of the examples by a revision and by this checkout."""
    told = [*about(f"{repeat} run{'s' if repeat > 1 else ''}", quick=False), ""]
    for line in compare(revision, names, repeat):
        told.append(line)
        print(line, flush=True)
        if out is not None:
            out.write_text("\n".join(["# Benchmarks", "", *told]) + "\n", encoding="utf-8")
    return 0


def _failure(error: BaseException) -> str:
    """The error and the place where it came up."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(place.filename).name}, {place.name}: {error}"[:200]


def _write(out: Path | None, text: str, *, done: bool) -> None:
    if out is not None:
        out.write_text(text, encoding="utf-8")
    elif done:
        print(text, end="")


if __name__ == "__main__":
    sys.exit(main())
