"""Kernels of GPUs, run by this processor: where there is no GPU, whether they make the processor's choices.

The intermediate code that a GPU's compiler is given is compiled for this processor instead, with products and sums fused as a
GPU fuses them, but for kernels that are exact. Guesses have some twenty bits. A warp is one lane, which takes all turns.

python tests/gpu_emulator.py ROUNDS [WORD [--fused]]   # policies of the tests with this word in their names, beside the processor
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from typing import Any, NamedTuple
from unittest import mock

# Before anything imports it. Tests are looked for in this module too: processes that they start must not inherit this.
if __name__ == "__main__":
    os.environ["LLVMLITE_ENABLE_IR_LAYER_TYPED_POINTERS"] = "0"

import llvmlite.binding as llvm
import numpy as np
from cases import MERITS, name
from test_gpu import LINEAR, POLICIES, STILL, WORLDS, is_linear

from fairx import simulate
from fairx.compiled.tables import all_items
from fairx.simulation.fleets import fleet_of
from fairx.simulation.measures import measures_of
from fairx.simulation.one_run import OneRun
from fairx.simulation.runs import checkpoint_rounds

SPECIAL = re.compile(r'call i32 @"llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.(\w)"\(\)')
ROUGH = """
define double @near_reciprocal(double %x) {
  %found = fdiv double 1.0, %x
  %short = fptrunc double %found to float
  %long = fpext float %short to double
  ret double %long
}
define double @near_inverse_root(double %x) {
  %root = call double @llvm.sqrt.f64(double %x)
  %found = call double @near_reciprocal(double %root)
  ret double %found
}
define double @__nv_sqrt(double %x) {
  %found = call double @llvm.sqrt.f64(double %x)
  ret double %found
}
define double @__nv_fabs(double %x) {
  %found = call double @llvm.fabs.f64(double %x)
  ret double %found
}
define double @__nv_fmax(double %x, double %y) {
  %found = call double @llvm.maxnum.f64(double %x, double %y)
  ret double %found
}
define double @__nv_fmin(double %x, double %y) {
  %found = call double @llvm.minnum.f64(double %x, double %y)
  ret double %found
}
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.minnum.f64(double, double)
@block = global i32 0
@fairx_tables = addrspace(3) global [1024 x double] zeroinitializer
"""


class Tabled(NamedTuple):
    """A policy of others that reads a row of a table in each round, and keeps what was played."""

    table: Any

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Any:
        return np.zeros(arms)

    def propose(
        self, state: Any, arms: Any, contexts: Any, normals: Any, work: Any, out: Any
    ) -> None:
        row, total = self.table[int(state.sum()) % len(self.table)], 0.0
        for position in range(len(arms)):
            out[position] = row[arms[position]]
            total += out[position]
        for position in range(len(arms)):
            out[position] /= total

    def absorb(self, state: Any, arm: int, context: Any, reward: float, work: Any) -> None:
        state[arm] += 1.0


WIDE = (
    np.random.default_rng(0).uniform(size=(5, 100)) ** 3
)  # columns lie side by side in what is turned
OTHERS = [(world, Tabled(table)) for world in (STILL, LINEAR) for table in (WIDE.T, WIDE.T[::2])]
TABLES = all_items()  # a warp, which has none on a GPU, is one lane here, which has


class Found(Exception):
    """The code of a kernel, on its way to a GPU's compiler."""


def code_of(fleet: Any) -> tuple[list[str], bool]:
    """Return the intermediate code of a fleet's kernel, for one lane, and whether it is exact."""
    from fairx.compiled.gpu import assembly, lanes, rounding

    def stop(code: list[str]) -> Any:
        raise Found(*rounding.rounded(code))

    try:
        with mock.patch.object(lanes, "rounded", stop):
            assembly.assembly(fleet)
    except Found as found:
        code, options = found.args
        alone = [part.replace("kernel_of_32_lanes", "kernel_of_1_lanes") for part in code]
        return lanes.specialised(alone), options == {"fma": False}
    raise AssertionError("nothing was compiled")


def for_processors(part: str, *, fused: bool) -> str:
    """Return intermediate code for a GPU as that of a processor, which plays one block after the other."""
    part = re.sub(r"^target .*$", "", part, flags=re.MULTILINE)
    part = SPECIAL.sub(
        lambda found: {"ctaid x": "load i32, ptr @block", "ntid y": "add i32 1, 0"}.get(
            f"{found[1]} {found[2]}", "add i32 0, 0"
        ),
        part,
    )
    part = re.sub(
        r"call double @llvm\.nvvm\.mul\.rn\.d\(double (\S+), double (\S+)\)",
        r"fmul double \1, \2",
        part,
    )
    part = re.sub(r'asm\s+"rcp[^"]*", "=d,d"', "@near_reciprocal", part)
    part = re.sub(r'asm\s+"rsqrt[^"]*", "=d,d"', "@near_inverse_root", part)
    part = re.sub(
        r'call i64 asm sideeffect "mov.u64[^"]*", "=l,l"\(i64 (.*?)\)', r"add i64 \1, 0", part
    )
    part = re.sub(r"^.*bar\.warp\.sync.*$", "", part, flags=re.MULTILINE)
    if "@block" in part:
        part += "\n@block = external global i32\n"
    for guess in ("near_reciprocal", "near_inverse_root"):
        if f"@{guess}" in part:
            part += f"\ndeclare double @{guess}(double)\n"
    return re.sub(r"= (fmul|fadd|fsub) ", r"= \1 contract ", part) if fused else part


class Emulated:
    """The runs of a fleet, played by its kernel on this processor."""

    def __init__(self, fleet: Any, *, fused: bool | None = None) -> None:
        code, self.exact = code_of(fleet)
        self.fleet, fused = fleet, not self.exact if fused is None else fused
        self.engine, name = compiled([for_processors(part, fused=fused) for part in code])
        self.block = ctypes.c_int32.from_address(self.engine.get_global_value_address("block"))
        room = self.engine.get_global_value_address("fairx_tables")
        np.copyto(
            np.ctypeslib.as_array((ctypes.c_double * 1024).from_address(room))[: len(TABLES)],
            TABLES,
        )
        self.values = [
            np.ascontiguousarray(leaf.stacked(by_run=fleet.warps)) if leaf.is_own else leaf.shared
            for leaf in fleet.written.leaves
        ]
        self.arguments = [part for value in self.values for part in passed(value)]
        kinds = [ctypes.c_int64] * 3 + [type(part) for part in self.arguments]
        self.call = ctypes.CFUNCTYPE(None, *kinds)(self.engine.get_function_address(name))

    def play(self, start: int, stop: int) -> None:
        """Play these rounds of all runs."""
        for run in range(self.fleet.runs):
            self.block.value = run
            self.call(self.fleet.runs, start, stop, *self.arguments)

    def result(self, name: str) -> Any:
        """Return an array of the tally, with the runs along its first axis."""
        found = self.values[self.fleet.written.leaves.index(self.fleet.results[name])]
        return found if self.fleet.warps else found.transpose(-1, *range(found.ndim - 1))


def compiled(parts: list[str]) -> tuple[Any, str]:
    """Compile code for this processor; return what holds it, and the name of its kernel."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    whole = llvm.parse_assembly(ROUGH)
    for part in parts:
        whole.link_in(llvm.parse_assembly(part))
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3,
        codemodel="jitdefault", jit=True,
    )  # fmt: skip
    whole.triple, whole.data_layout = llvm.get_default_triple(), str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(whole, builder)
    kernels = [one.name for one in whole.functions if "kernel_of" in one.name]
    engine = llvm.create_mcjit_compiler(whole, machine)
    engine.finalize_object()
    return engine, kernels[0]


def passed(value: Any) -> list[Any]:
    """Return a number or an array as a kernel takes it."""
    if not isinstance(value, np.ndarray):
        return [ctypes.c_int64(value) if isinstance(value, int) else ctypes.c_double(value)]
    numbers = [value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
    kinds = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, *[ctypes.c_int64] * 2 * value.ndim]
    parts = [kind(number) for kind, number in zip(kinds, numbers, strict=True)]
    return [ctypes.c_void_p(0), ctypes.c_void_p(0), *parts]


def world_for(policy: Any) -> Any:
    """Return a world that a policy of the tests can be played in."""
    if "Logistic" in name(policy):
        return WORLDS[-1]
    return LINEAR if is_linear(policy) else STILL


def compared(world: Any, policy: Any, rounds: int, *, fused: bool | None) -> str:
    """Return in how many of four runs the choices are the processor's, and how far regrets are apart."""
    records, marks = (policy, world, MERITS[0], measures_of({})), checkpoint_rounds(100, rounds)
    runs = [OneRun(records, 0, marks, 1, run) for run in range(4)]
    there = Emulated(fleet_of(runs), fused=fused)
    there.play(0, rounds)
    here = simulate(*records[:3], rounds=rounds, runs=4, seed=1, checkpoints=100)
    regrets, earned = there.result("curves")[:, 0], there.result("curves")[:, 3]
    alike = (there.result("pulls") == here.pulls).all(axis=1)
    alike &= (earned == here.reward_earned).all(axis=1)
    apart = np.abs(regrets - here.fairness_regret).max() / max(here.fairness_regret.max(), 1e-9)
    way = "exact" if there.exact else "fused"
    return f"{alike.sum()} of 4 {way}, regrets to {apart:.1e}"


def main() -> None:
    """Print a line for each policy."""
    rounds, word = int(sys.argv[1]), (sys.argv[2:] or [""])[0]
    fused = True if "--fused" in sys.argv else None
    for world, policy in [(world_for(policy), policy) for policy in POLICIES] + OTHERS:
        if word in name(policy):
            said = compared(world, policy, rounds, fused=fused)
            line = f"{said}: {name(policy).splitlines()[0][:90]}\n"
            sys.stdout.write(line)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
