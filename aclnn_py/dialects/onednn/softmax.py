# SPDX-License-Identifier: Apache-2.0
"""The softmax primitive: descriptors for both directions, and the primitives made from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_py.dialects.onednn import attr_checks, checks
from aclnn_py.dialects.onednn.enums import (
    DNNL_ARG_DIFF_DST,
    DNNL_ARG_DIFF_SRC,
    DNNL_ARG_DST,
    DNNL_ARG_SRC,
    engine_kind,
    format_kind,
    prop_kind,
)
from aclnn_py.dialects.onednn.extras import (
    backward_arguments,
    forward_arguments,
    forward_extras,
    log_or_not,
)
from aclnn_py.dialects.onednn.implementations import implementations, taken_types
from aclnn_py.dialects.onednn.primitive import primitive
from aclnn_py.dialects.onednn.primitive_desc import description_of, softmax_primitive_desc
from aclnn_py.twophase import fused_backward, fused_forward

if TYPE_CHECKING:
    from aclnn_py.dialects.onednn.attr import primitive_attr
    from aclnn_py.dialects.onednn.descriptors import memory_desc
    from aclnn_py.dialects.onednn.engines import engine, engine_description
    from aclnn_py.dialects.onednn.enums import algorithm, internal_algorithm

__all__ = ["softmax_backward", "softmax_forward"]


class softmax_forward(primitive):
    """dst = softmax(src) or log(softmax(src)) along an axis, then what the attributes say.

    Notes
    -----
    Order of application: value in f32, src scale, dropout, post-ops, division by the dst scale,
    saturation and one rounding. A row of only -inf gives NaN under softmax_accurate and
    softmax_log (implementations of oneDNN differ here); inf-as-zero, which the Graph API asks
    for, gives zeros, row by row. +inf and NaN spoil their row only.
    """

    class primitive_desc(softmax_primitive_desc):
        """A checked and planned forward softmax.

        Parameters
        ----------
        engine : engine or engine_description
            Where it is to run; a description serves checks only.
        prop_kind : prop_kind
            forward_training or forward_inference, which mean the same here.
        algorithm : algorithm
            softmax_accurate or softmax_log.
        src_desc : memory_desc
            With a definite layout.
        dst_desc : memory_desc
            Of the same dimensions; ``any`` becomes dense in the order of src's axes.
        axis : int
            0 <= axis < rank.
        attr : primitive_attr, optional
            Attributes.

        Raises
        ------
        OneDnnError
            invalid_arguments or unimplemented, by the first check that fails.
        """

        def __init__(
            self,
            engine: engine | engine_description,
            prop_kind: prop_kind | int,
            algorithm: algorithm | internal_algorithm | int,
            src_desc: memory_desc,
            dst_desc: memory_desc,
            axis: int,
            attr: primitive_attr | None = None,
        ) -> None:
            name = self._name
            on = description_of(name, engine)
            self.engine = engine
            self._prop_kind = checks.check_forward_kind(name, prop_kind)
            checks.check_descs(name, {"dst_desc": dst_desc, "src_desc": src_desc})
            self._algorithm = checks.softmax_algorithm(name, algorithm)
            self._axis = checks.check_axis(name, axis, dst_desc)
            checks.check_not_any(name, "src_desc", src_desc)
            checks.check_known(name, {"src_desc": src_desc, "dst_desc": dst_desc})
            dst = dst_desc.in_order_of(src_desc) if _takes(dst_desc, src_desc) else dst_desc
            self._attr = checks.attributes_of(name, attr)
            attr_checks.check_forward(name, self._attr, on, src_desc, dst)
            checks.check_shapes(name, on, {"src": src_desc, "dst": dst}, "dst")
            if not any(row.takes_forward(src_desc, dst) for row in implementations(on)):
                _no_types(name, on, f"{src_desc!r} -> {dst!r}", backward=False)
            checks.check_zero_rows(name, self._algorithm, src_desc)
            self.arguments = forward_arguments(self._attr, src_desc, dst)
            self.operator = fused_forward(
                forward_extras(self._algorithm, self._attr, src_desc, dst)
            )
            self._plan()

        def src_desc(self) -> memory_desc:
            """Descriptor of the source."""
            return self.query_md(DNNL_ARG_SRC)

        def dst_desc(self) -> memory_desc:
            """Descriptor of the destination, its layout decided."""
            return self.query_md(DNNL_ARG_DST)


class softmax_backward(primitive):
    """diff_src from diff_dst and dst, the forward result; along an axis."""

    class primitive_desc(softmax_primitive_desc):
        """A checked and planned backward softmax.

        Parameters
        ----------
        engine : engine or engine_description
            Where it is to run; a description serves checks only.
        algorithm : algorithm
            softmax_accurate, or softmax_log: then dst holds log-probabilities.
        diff_src_desc, diff_dst_desc : memory_desc
            Gradients; ``any`` takes the layout of diff_dst, and of dst, gaps included.
        dst_desc : memory_desc
            The forward result, with a definite layout and the type of diff_dst.
        axis : int
            0 <= axis < rank.
        hint_fwd_pd : softmax_forward.primitive_desc, optional
            The forward descriptor; nothing is taken from it.
        attr : primitive_attr, optional
            Only scratchpad, accumulation and fpmath modes may differ from the defaults.

        Raises
        ------
        OneDnnError
            invalid_arguments or unimplemented, by the first check that fails.
        """

        def __init__(
            self,
            engine: engine | engine_description,
            algorithm: algorithm | internal_algorithm | int,
            diff_src_desc: memory_desc,
            diff_dst_desc: memory_desc,
            dst_desc: memory_desc,
            axis: int,
            hint_fwd_pd: softmax_forward.primitive_desc | None = None,
            attr: primitive_attr | None = None,
        ) -> None:
            name = self._name
            on = description_of(name, engine)
            self.engine = engine
            self._prop_kind = prop_kind.backward_data
            given = {
                "dst_desc": dst_desc,
                "diff_src_desc": diff_src_desc,
                "diff_dst_desc": diff_dst_desc,
            }
            checks.check_descs(name, given)
            checks.check_hint(name, hint_fwd_pd, softmax_forward.primitive_desc)
            self._algorithm = checks.softmax_algorithm(name, algorithm)
            self._axis = checks.check_axis(name, axis, dst_desc)
            checks.check_not_any(name, "dst_desc", dst_desc)
            checks.check_known(name, given)
            diff_dst = _laid_out(diff_dst_desc, dst_desc)
            diff_src = _laid_out(diff_src_desc, diff_dst)
            self._attr = checks.attributes_of(name, attr)
            attr_checks.check_backward(name, self._attr)
            descs = {"dst": dst_desc, "diff_dst": diff_dst, "diff_src": diff_src}
            checks.check_shapes(name, on, descs, "diff_src")
            rows = implementations(on)
            if not any(row.takes_backward(dst_desc, diff_dst, diff_src) for row in rows):
                got = f"{dst_desc!r}, {diff_dst!r} -> {diff_src!r}"
                if dst_desc.data_type is not diff_dst.data_type:
                    got += ": dst and diff_dst differ in type"
                _no_types(name, on, got, backward=True)
            self.arguments = backward_arguments(dst_desc, diff_dst, diff_src)
            self.operator = fused_backward(log_or_not(self._algorithm))
            self._plan()

        def dst_desc(self) -> memory_desc:
            """Descriptor of the forward result."""
            return self.query_md(DNNL_ARG_DST)

        def diff_dst_desc(self) -> memory_desc:
            """Descriptor of the incoming gradient, its layout decided."""
            return self.query_md(DNNL_ARG_DIFF_DST)

        def diff_src_desc(self) -> memory_desc:
            """Descriptor of the outgoing gradient, its layout decided."""
            return self.query_md(DNNL_ARG_DIFF_SRC)


def _laid_out(desc: memory_desc, giver: memory_desc) -> memory_desc:
    return desc.with_layout_of(giver) if _takes(desc, giver) else desc


def _takes(desc: memory_desc, giver: memory_desc) -> bool:
    """Whether `desc` has no layout yet and could take that of `giver`."""
    fits = giver.format_kind is format_kind.blocked and giver.ndims == desc.ndims
    return desc.format_kind is format_kind.any and fits


def _no_types(function: str, engine: engine_description, got: str, *, backward: bool) -> None:
    checks.unimplemented(
        function,
        "dst_desc",
        f"makes a combination of types that no {engine.kind.name} implementation takes",
        got,
        taken_types(engine, backward=backward),
        "f32 for every tensor is taken everywhere"
        + ("; engine(allow_f64=True) adds f64" if engine.kind is engine_kind.cpu else ""),
    )
