"""How Numba compiles our code: a function that is part of a loop is lowered once, and no more than that.

Numba optimises every function it meets and makes machine code of it, with wrappers to be called from
Python and from C, though a function that is inlined is never called: a loop of fifty small functions
was compiled fifty times over. Here a function of ours stays intermediate code, which the loop links in,
and only the loop becomes machine code. What others wrote goes Numba's way, whatever it does.
"""

from __future__ import annotations

from typing import Any

import numba.core

from .origins import is_our_code

core: Any = numba.core  # Numba has no types
Flags: Any = core.compiler.Flags
CompilerBase: Any = core.compiler.CompilerBase
JITCodeLibrary: Any = core.codegen.JITCodeLibrary
NativeLowering: Any = core.typed_passes.NativeLowering
register_pass: Any = core.compiler_machinery.register_pass

# What is said of one function alone, and not of those that it calls.
OF_ITS_OWN = ("release_gil", "no_compile", "no_cpython_wrapper", "no_cfunc_wrapper", "inline")
HASH = hash(Flags())  # Numba's is the same for all


class Inherited(Flags):  # type: ignore[misc]
    """The flags that callees inherit, one object for all that are equal.

    Numba looks up each call of each function under them, thousands of times for a loop, and
    compares all of them each time: not if they are the same object.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return HASH

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is not Inherited and super().__eq__(other))

    def copy(self) -> Any:
        """Return flags that may be changed."""
        return Flags(self)


class Own(Flags):  # type: ignore[misc]
    """The flags of a function of ours."""

    __slots__ = ()

    def copy(self) -> Inherited:
        """Return the flags for callees: Numba copies them for that, and in our code for nothing else.

        The same for a loop and for its parts, so that what both call is compiled once.
        """
        flags = Flags(self)
        for name in OF_ITS_OWN:
            flags.discard(name)
        flags.forceinline = True
        return _inherited(flags.summary(), flags)


_known: dict[str, Inherited] = {}


def _inherited(name: str, flags: Any) -> Inherited:
    return _known.setdefault(name, Inherited(flags))


class Library(JITCodeLibrary):  # type: ignore[misc]
    """Code of one function with all that it calls."""

    def _optimize_functions(self, module: Any) -> None:
        """Do as Numba does, less what is declared here and written elsewhere."""
        module.data_layout = self._codegen._data_layout
        manager, builder = self._codegen._function_pass_manager()
        for function in module.functions:
            if not function.is_declaration:
                manager.run(function, builder)


class InnerLibrary(Library):
    """Intermediate code, ready to be linked."""

    def _optimize_final_module(self) -> None:
        """Leave it to the loop, where all is inlined."""

    def _finalize_final_module(self) -> None:
        """Add nothing to the process."""
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LoopLowering(NativeLowering):  # type: ignore[misc]
    """Lower a loop, and make machine code of it."""

    _name = "fairx_loop_lowering"
    library: type[Library] = Library

    def run_pass(self, state: Any) -> bool:
        """Lower into a library of our own."""
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(LoopLowering):
    """Lower a part of a loop, and register it for its callers."""

    _name = "fairx_inner_lowering"
    library = InnerLibrary

    def run_pass(self, state: Any) -> bool:
        """Lower without wrappers."""
        flags = state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().run_pass(state)
        # Numba wants a function in C for a key: one that nobody else has, and nobody calls.
        lowered = state["cr"]
        key: Any = [].append
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


class LoopCompiler(CompilerBase):  # type: ignore[misc]
    """The passes of nopython mode, with the lowering exchanged for code of ours."""

    lowering: type[LoopLowering] = LoopLowering

    def define_pipelines(self) -> list[Any]:
        """Return one pipeline."""
        manager = core.compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        if is_our_code(self.state.func_id.func):
            manager.passes = [
                (self.lowering if one is NativeLowering else one, said)
                for one, said in manager.passes
            ]
            manager.finalize()
        return [manager]

    def _compile_core(self) -> Any:
        if is_our_code(self.state.func_id.func):
            self.state.flags = Own(self.state.flags)
        return super()._compile_core()


class InnerCompiler(LoopCompiler):
    """The same for parts of loops."""

    lowering = InnerLowering
