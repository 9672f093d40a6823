"""How kernels are compiled: each as a part of the kernels that call it.

Numba links a function's callees into it, then optimises it and makes machine code of it; and then
does all that again for its callers. A kernel ten calls deep is optimised ten times, and all but one
in ten are never called from Python. Here a kernel called by others stays a part without machine
code; only those that Python calls are linked, optimised and translated, each once, as a whole.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

import llvmlite.binding as llvm
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeParforLowering
from numba.core.types.misc import unliteral

# Narrow integers are passed on as this, and constants like other numbers, so that a kernel is not
# compiled again for each of them. Numba calculates with integers of this width in any case.
_NARROW = frozenset({types.int8, types.int16, types.int32})
_WIDE = types.int64


class EntryPoint(CPUDispatcher):  # type: ignore[misc]
    """A kernel as Python calls it; kernels that call it get the part instead."""

    def __init__(self, function: Any, options: Mapping[str, Any]) -> None:
        super().__init__(function, targetoptions=dict(options), pipeline_class=_EntryPointCompiler)
        self._part = _Part(function, {**options, "no_cpython_wrapper": True})

    @property
    def _numba_type_(self) -> Any:
        """What a kernel that mentions this one gets."""
        return self._part._numba_type_


class ParallelEntryPoint(CPUDispatcher):  # type: ignore[misc]
    """A kernel with `prange` loops, which only Python may call.

    Numba makes functions of the loop and of its start: here they are parts of the kernel.
    """

    def __init__(self, function: Any, options: Mapping[str, Any]) -> None:
        super().__init__(
            function,
            targetoptions={**options, "parallel": True},
            pipeline_class=_ParallelCompiler,
        )


def functions_of(entry_point: EntryPoint | ParallelEntryPoint) -> set[Callable[..., Any]]:
    """The kernel's function and those of all kernels that it calls, directly or indirectly."""
    found, todo = set(), [entry_point.py_func]
    while todo:
        function = todo.pop()
        if function not in found:
            found.add(function)
            names = function.__code__.co_names
            named = [function.__globals__.get(name) for name in names]
            modules = [each for each in named if isinstance(each, ModuleType)]
            named += [getattr(module, name, None) for module in modules for name in names]
            todo += [each.py_func for each in named if isinstance(each, EntryPoint)]
    return found


class _Part(CPUDispatcher):  # type: ignore[misc]
    """A kernel as other kernels call it."""

    def __init__(self, function: Any, options: Mapping[str, Any]) -> None:
        super().__init__(function, targetoptions=dict(options), pipeline_class=_PartCompiler)
        self._compiler._customize_flags = _FlagsOfParts.like

    def get_call_template(self, args: Sequence[Any], kws: Mapping[str, Any]) -> Any:
        """Compile it for these types, if it is not yet."""
        return super().get_call_template(
            [_passed_as(argument) for argument in args],
            {name: _passed_as(argument) for name, argument in kws.items()},
        )


class _FlagsOfParts(Flags):  # type: ignore[misc]
    """A part's options, one object for all parts with the same ones, which nobody changes.

    Numba looks them up in a table whenever it types an expression, and compares all of them.
    """

    _known: ClassVar[list[_FlagsOfParts]] = []

    @classmethod
    def like(cls, flags: Any) -> _FlagsOfParts:
        """The one object with these options."""
        for known in cls._known:
            if known.values() == flags.values():
                return known
        cls._known.append(cls(flags))
        return cls._known[-1]

    def copy(self) -> _FlagsOfParts:
        return self

    def __eq__(self, other: object) -> bool:
        same: bool = self is other
        return same if isinstance(other, _FlagsOfParts) else super().__eq__(other)

    def __hash__(self) -> int:
        return _HASH_OF_FLAGS


_HASH_OF_FLAGS = hash(Flags())  # Numba's is the same for all


def _passed_as(argument: Any) -> Any:
    """The type that a kernel gets when this is the type of its argument."""
    plain = unliteral(argument)
    return _WIDE if plain in _NARROW else plain


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part: never loaded, only linked."""

    _finalized = True  # nothing is to be done before it is linked
    _shared_module: Any

    @property
    def codegen(self) -> Any:
        """What would load it."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do not register the function's Python environment: kernels use no Python objects."""

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """No function is loaded: a null pointer."""
        return 0

    def _raise_if_finalized(self) -> None:
        """More may be added, until it is linked."""

    def add_linking_library(self, library: Any) -> None:
        """Remember a library that it calls."""
        if library not in self._linking_libraries:
            self._linking_libraries.append(library)

    def _get_module_for_linking(self) -> Any:
        """Its code and all it calls, in a form of which the linker keeps one copy."""
        if self._shared_module is None:
            module = self._final_module
            for function in module.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = llvm.Linkage.linkonce_odr
            for library in self._linking_libraries:
                self._reload_init.update(library._reload_init)
                module.link_in(library._get_module_for_linking(), preserve=True)
            self._shared_module = module
        return self._shared_module


class _EntryPointLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of an entry point with all its parts."""

    def _optimize_final_module(self) -> None:
        """Optimise it, knowing that nobody else calls its parts.

        So LLVM passes them only the arguments that they use, and constants not at all. Their names
        are made unique: what loads machine code finds internal functions by name, too, and would
        link calls of a part in other kernels to one that expects fewer arguments.
        """
        unique = uuid.uuid4().hex
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = llvm.Linkage.internal
                function.name = f"{function.name}.{unique}"
        super()._optimize_final_module()


class _EntryPointCompiler(Compiler):  # type: ignore[misc]
    """Compiles an entry point."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _EntryPointLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


class _PartCompiler(Compiler):  # type: ignore[misc]
    """Compiles into a part."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


@register_pass(mutates_CFG=True, analysis_only=False)
class _ParallelLowering(NativeParforLowering):  # type: ignore[misc]
    """Makes LLVM's code of a kernel with loops, whose functions become parts of it."""

    _name = "lowering of a parallel kernel"

    def run_pass(self, state: Any) -> Any:
        codegen = state.targetctx.codegen()
        state.library = codegen.create_library(state.func_id.func_qualname)
        state.library.enable_object_caching()
        # Numba asks the code generator for each function's library, under the compiler's lock.
        codegen._library_class = _PartLibrary
        try:
            return super().run_pass(state)
        finally:
            del codegen._library_class


class _ParallelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel with loops."""

    def define_pipelines(self) -> Any:
        (passes,) = super().define_pipelines()
        ours = PassManager(passes.pipeline_name)
        for done, description in passes.passes:
            ours.add_pass(_ParallelLowering if done is NativeParforLowering else done, description)
        ours.finalize()
        return [ours]
