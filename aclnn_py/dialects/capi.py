# SPDX-License-Identifier: Apache-2.0
"""Phase 1 for C hosts: the planner behind the C names, found and called by the native library.

Importing this module hands the library its entry. C remembers what each thread has asked lately;
another known call costs one lookup by the words that C has packed, and an unknown one goes through
the same door as every other face.
"""

from __future__ import annotations

import struct
import traceback
from typing import TYPE_CHECKING, Any, Final

from aclnn_native import ffi, lib
from aclnn_py.core import settings
from aclnn_py.core.desc import TensorDesc, device_of_layout
from aclnn_py.core.errors import INNER
from aclnn_py.core.loading import loading
from aclnn_py.twophase import operator
from aclnn_runtime import AclError, AclnnError, raise_last

if TYPE_CHECKING:
    from aclnn_py.core.spec import AttrParam, TensorParam
    from aclnn_py.twophase import Entry

__all__ = ["Face"]

_KEPT: Final = 16384


def _letter(param: TensorParam | AttrParam) -> str:
    real = param.kind == "attr" and param.ctype in ("double", "float")
    return "d" if real else "q"


class Face:
    """One operator as C hosts see it: how its keys read, and what they have found so far.

    Attributes
    ----------
    entries, older : dict
        Plans by packed key, in two generations: one that was just handed out must not die before
        its executor is made.
    """

    __slots__ = ("_layout", "_operator", "entries", "older")

    def __init__(self, name: str) -> None:
        self._operator = operator(name)
        letters = "".join(_letter(param) for param in self._operator.spec.params)
        self._layout = struct.Struct(f"={letters}Q")
        self.entries: dict[bytes, Entry] = {}
        self.older: dict[bytes, Entry] = {}
        settings.on_change(self.forget)

    def forget(self) -> None:
        """Plans were made under settings that no longer hold."""
        self.older, self.entries = self.entries, {}
        lib.aclpy_planner_forget()

    def plan(self, key: bytes, handles: Any) -> Entry:
        """The entry of a key that is not among `entries`.

        Raises
        ------
        AclnnError
            As the operator's checks say.
        """
        *words, same_bits = self._layout.unpack(key)
        params = self._operator.spec.params
        places = [at for at, param in enumerate(params) if param.kind != "attr"]
        descs = []
        for i, at in enumerate(places):
            # Another thread may have changed the tensor since C read its layout.
            words[at], desc = _describe(self._operator.spec.planner, int(handles[i]))
            descs.append(desc)
        key = self._layout.pack(*words, same_bits)
        layouts = [words[at] for at in places]
        values = [
            bool(word) if param.ctype == "bool" else word
            for word, param in zip(words, params, strict=True)
            if param.kind == "attr"
        ]
        count = len(layouts)
        pairs = count * (count - 1) // 2
        found = self._operator.entry_of(
            layouts,
            descs,
            values,
            [bool(same_bits >> bit & 1) for bit in range(pairs)],
        )
        if len(self.entries) >= _KEPT:
            self.forget()
        self.entries[key] = found
        return found


def _describe(function: str, handle: int) -> tuple[int, TensorDesc | None]:
    """The layout of a tensor and what it says; of NULL 0 and nothing."""
    if not handle:
        return 0, None
    raw = ffi.new("aclpy_tensor_desc *")
    status = lib.aclpy_tensor_describe(function.encode(), handle, raw)
    if status:
        raise_last(status, error=AclnnError)
    view, storage = raw.view_rank, raw.storage_rank
    desc = TensorDesc(
        tuple(raw.view_dims[0:view]),
        tuple(raw.view_strides[0:view]),
        raw.offset,
        tuple(raw.storage_dims[0:storage]),
        raw.dtype,
        raw.format,
        device_of_layout(raw.layout),
    )
    return int(raw.layout), desc


_faces: dict[object, Face] = {}


def _face(name: Any) -> Face:
    with loading:
        return _faces.setdefault(name, Face(ffi.string(name).decode().removeprefix("aclnn")))


@ffi.def_extern(name="aclpy_py_plan", error=-INNER)  # type: ignore[untyped-decorator]
def _plan(name: object, key: object, n_key: int, handles: object, workspace: Any) -> int:
    try:
        # C names each operator by one constant string, so its address is as good as the text.
        face = _faces.get(name)
        if face is None:
            face = _face(name)
        packed = ffi.buffer(key, 8 * n_key)[:]
        entry = face.entries.get(packed)
        if entry is None:
            with loading:  # the first plan of its kind loads what it needs
                entry = face.plan(packed, handles)
        workspace[0] = entry.workspace_bytes
    except AclError as error:
        return -error.status
    except BaseException:  # noqa: BLE001  # nothing may unwind into C; the host sees 561000
        text = traceback.format_exc()
        lib.aclpy_error_push(
            INNER, f"the planner failed, which is a fault of its own:\n{text}".encode()
        )
        return -INNER
    return entry.handle


lib.aclpy_planner_install(lib.aclpy_py_plan)
