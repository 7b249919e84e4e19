"""What a run is asked to do besides running, from either command line."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

#: Option, what it means when it is given bare, and its words in warnings.
_DUMP, _SWIMLANE, _PMU = 1, 4, 2


@dataclass(frozen=True)
class Flags:
    """The options of one run."""

    rounds: int = 1
    skip_golden: bool = False
    dump: int = 0
    swimlane: int = 0
    pmu: int = 0
    dep_gen: bool = False
    scope_stats: bool = False

    @property
    def diagnostics(self) -> bool:
        return bool(self.dump or self.swimlane or self.pmu or self.dep_gen or self.scope_stats)

    @staticmethod
    def of_pytest(config: Any) -> Flags:
        """From the options of pytest."""

        def option(*names: str) -> Any:
            for name in names:
                value = config.getoption(name, default=None)
                if value:
                    return value
            return 0

        flags = Flags(
            rounds=int(option("--rounds") or 1),
            skip_golden=bool(option("--skip-golden")),
            dump=int(option("--dump-args", "--dump-tensor")),
            swimlane=int(option("--enable-l2-swimlane", "--enable-chip-swimlane")),
            pmu=int(option("--enable-pmu")),
            dep_gen=bool(option("--enable-dep-gen")),
            scope_stats=bool(option("--enable-scope-stats")),
        )
        return flags.of_rounds("august")

    def of_rounds(self, generation: str) -> Flags:
        """Without what several rounds cannot have. June kept dump and PMU in programs of their own."""
        if self.rounds <= 1 or not self.diagnostics:
            return self
        off = {"swimlane": "swimlane", "dep_gen": "dep_gen", "scope_stats": "scope_stats"}
        if generation == "august":
            off |= {"dump": "args dump", "pmu": "PMU"}
        for name, words in off.items():
            if getattr(self, name):
                sys.stderr.write(f"[WARNING] {words} disabled: --rounds > 1\n")
        return replace(self, **{name: type(getattr(self, name))() for name in off})

    def for_run(self, prefix: str) -> dict[str, Any]:
        """As keywords of ``_run_and_validate_l2``, in the words of both generations."""
        return {
            "rounds": self.rounds,
            "skip_golden": self.skip_golden,
            "enable_l2_swimlane": self.swimlane,
            "enable_chip_swimlane": self.swimlane,
            "enable_dump_tensor": self.dump,
            "enable_dump_args": self.dump,
            "enable_pmu": self.pmu,
            "enable_dep_gen": self.dep_gen,
            "enable_scope_stats": self.scope_stats,
            "output_prefix": prefix,
        }


def add_options(add: Any) -> None:
    """The options that both command lines have; ``add`` is called like ``argparse.ArgumentParser.add_argument``."""
    add("--case", action="append", default=None, metavar="SEL", help="Case, Class::Case or Class::; may be repeated")
    add("--manual", choices=["exclude", "include", "only"], default="exclude", help="what to do with manual cases")
    add("--rounds", type=int, default=1, help="how often each case runs")
    add("--skip-golden", action="store_true", default=False, help="do not compare with the golden")
    add("--dump-tensor", action="store_true", default=False, help="capture every argument of every task")
    add("--dump-args", nargs="?", type=int, const=_DUMP, default=0, choices=range(4), metavar="LEVEL",
        help="capture arguments: 1 marked ones, 2 all, 3 all but without the bytes of unmarked ones")
    for name in ("--enable-l2-swimlane", "--enable-chip-swimlane"):
        add(name, nargs="?", type=int, const=_SWIMLANE, default=0, choices=range(5), metavar="LEVEL",
            help="write when what ran where")
    add("--enable-pmu", nargs="?", type=int, const=_PMU, default=0, metavar="EVENT", help="write a table of counters")
    add("--enable-dep-gen", action="store_true", default=False, help="write the graph to deps.json")
    add("--enable-scope-stats", action="store_true", default=False, help="write what scopes used of their rings")
    add("--enable-swimlane-overhead", action="store_true", default=False, help="add tracks of overhead")
    add("--runtime", default=None, help="only tests of this runtime")
    add("--max-parallel", default=None, metavar="N", help="accepted; tests run one after the other")
    add("--sanitizer", default="none", help="none")
    add("--pto-isa-commit", default=None, help="accepted; the headers come with Argus")
    add("--clone-protocol", default=None, help="accepted; nothing is fetched")
    add("--generation", choices=["april", "june", "august"], default=None,
        help="the generation of the interface that the sources use [default: by their words]")


def _validate_diagnostic_flags(*_: Any, **given: Any) -> None:
    """Refuses combinations that mean nothing."""
    if given.get("enable_swimlane_overhead") and not given.get("enable_chip_swimlane"):
        raise ValueError("--enable-swimlane-overhead needs --enable-chip-swimlane")
