"""`python -m tests.differential --count N --seed S`: a table of what agreed, what is open and what is wrong."""

import argparse
import json
import re
import sys
import time
import warnings
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

from tests.differential import losses
from tests.differential.auditing import case_file
from tests.differential.comparing import QUESTIONS, Remark, compare
from tests.differential.drawing import draw
from tests.differential.relations import related

KINDS = ("agreed", "unknown", "limit", "differs", "open", "wrong")
TOLD = ("differs", "open", "wrong")


def main(arguments=None):
    """Run, print, and return 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many instances")
    parser.add_argument("--seed", type=int, default=1, help="of the series")
    parser.add_argument("--first", type=int, default=0, help="the number of the first instance of the series")
    parser.add_argument("--cases", type=Path, help="folder for case files of what is open or wrong")
    parser.add_argument("--relations", action="store_true", help="metamorphic relations instead of oracles")
    parser.add_argument("--losses", action="store_true", help="losses with weight decay instead of constraints")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given = parser.parse_args(arguments)
    kind = "losses" if given.losses else "relations" if given.relations else "oracles"
    numbers = [(given.seed, number, kind) for number in range(given.first, given.first + given.count)]
    began, cpu = time.monotonic(), time.process_time()
    if given.jobs > 1:
        with Pool(given.jobs) as pool:
            done = list(pool.imap(run, numbers))
    else:
        done = [run(number) for number in numbers]
    for remarks in done:
        _tell(remarks, given.cases)
    _table(done)
    print(f"{time.monotonic() - began:.0f} s, {time.process_time() - cpu:.0f} s of CPU in this process")
    return int(any(remark.kind == "wrong" for _, _, remarks in done for remark in remarks))


def run(number):
    """((seed, number), instance, remarks) of one instance; an exception of the audit is a wrong answer."""
    *number, kind = number
    instance = losses.drawn(*number)[0] if kind == "losses" else draw(*number)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if kind == "losses":
                return number, instance, losses.compare(*number)
            return number, instance, related(instance, *number) if kind == "relations" else compare(instance)
    except Exception as error:  # noqa: BLE001 (whatever an audit raises is what is looked for)
        return number, instance, [Remark("audit", "wrong", f"{type(error).__name__}: {error}")]


def _tell(done, folder):
    (seed, number), instance, remarks = done
    for remark in remarks:
        if remark.kind in TOLD:
            print(f"{remark.kind:5} {seed}/{number} {instance.family:8} {remark.about}: {remark.text}")
    kinds = [remark for remark in remarks if remark.kind in TOLD]
    if folder is None or not kinds:
        return
    folder.mkdir(parents=True, exist_ok=True)
    expect = {
        r.about: "proved" if r.known else "refuted" for r in remarks if r.about in QUESTIONS and r.known is not None
    }
    comment = "; ".join(f"{r.kind}: {r.about}: {r.text}" for r in kinds)
    comment += f" (tol {instance.tol}, stationary_tol {instance.stationary_tol}, doubles {instance.floats})"
    case = case_file(instance, comment, expect)
    place = folder / f"{kinds[0].kind}-{seed}-{number}.json"
    place.write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")


def _table(done):
    print(f"\n{'instances':24} {'count':>6}" + "".join(f"{kind:>9}" for kind in KINDS))
    groups = {"all": done}
    for entry in done:
        groups.setdefault(entry[1].family, []).append(entry)
        for tag in entry[1].tags:
            groups.setdefault(tag, []).append(entry)
    for name, entries in groups.items():
        worst = Counter(max((KINDS.index(r.kind) for r in remarks), default=0) for _, _, remarks in entries)
        print(f"{name:24} {len(entries):6}" + "".join(f"{worst[k]:9}" for k in range(len(KINDS))))
    print(f"\n{'questions':24} {'':6}" + "".join(f"{kind:>9}" for kind in KINDS))
    for about in dict.fromkeys(r.about for _, _, remarks in done for r in remarks):
        kinds = Counter(r.kind for _, _, remarks in done for r in remarks if r.about == about)
        print(f"{about:24} {'':6}" + "".join(f"{kinds[kind]:9}" for kind in KINDS))
    reasons = Counter(
        f"{r.kind}: {r.about}: {_reason(r.text)}"
        for _, _, remarks in done
        for r in remarks
        if r.kind not in ("agreed", "wrong")
    )
    print()
    for reason, count in reasons.most_common(40):
        print(f"{count:6}  {reason}")


def _reason(text):
    """The words of a reason, without what differs from instance to instance."""
    return re.sub(r"[0-9][0-9.e+-]*", "#", text.split(";")[0])[:110]


if __name__ == "__main__":
    sys.exit(main())
