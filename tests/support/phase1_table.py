# SPDX-License-Identifier: Apache-2.0
"""Calls of phase 1: which status, and which argument is blamed, typed from the vendor's facts.

Columns: operator, SoC, arguments in C order, status, argument. ``{a,b}`` stands for one case each
(see expand.py). Where two faults meet, the row shows which check comes first.
"""
# ruff: noqa: E501  # one row of a table is one line

from __future__ import annotations

from support.expand import expand
from support.tensors import build

OK, NULLPTR, INVALID, INNER, NO_KERNEL = 0, 161001, 161002, 561103, 561003
NO_BF16 = "{910,310,310P,310B,310C,610Lite,350,KirinX90,Kirin9030}"
WITH_BF16 = "{910B,910_93,950,910E}"
HUGE = 2**40

# fmt: off
SOFTMAX = [
    # 1. NULL: self, out
    ("Softmax", "910B", (None, 0, None), NULLPTR, "self"),
    ("Softmax", "910B", (None, 99, "INT8[2]"), NULLPTR, "self"),
    ("Softmax", "910B", ("INT32[2,3]", 99, None), NULLPTR, "out"),
    ("Softmax", "910B", ("FLOAT[0,3]", 0, None), NULLPTR, "out"),
    # 2. an empty self returns success before any other check
    ("Softmax", "{910,910B,950}", ("FLOAT[0,3]", 0, "FLOAT[0,3]"), OK, None),
    ("Softmax", "910B", ("FLOAT[2,0]", "{99,-99}", "FLOAT[5,4]"), OK, None),
    ("Softmax", "910B", ("INT32[0]", 0, "STRING[7]"), OK, None),
    ("Softmax", "910", ("BF16[0,3]", 0, "BF16[0,3]"), OK, None),
    ("Softmax", "910B", ("FLOAT[1,1,1,1,1,1,1,1,1,0]", 0, "FLOAT[1]"), OK, None),
    ("Softmax", "910B", ("FLOAT[0,3] strides=9,-7 offset=-50 storage=1", 0, "FLOAT[0,3]"), OK, None),
    ("Softmax", "910B", ("FLOAT[0,-3]", 0, "FLOAT[1]"), OK, None),
    ("Softmax", "910B", ("FLOAT[2,3]", 0, "FLOAT[0,3]"), INVALID, "out"),
    # 3. dtype: self, then out
    ("Softmax", "{910B,910,310P,950}", ("{FLOAT,FLOAT16,DOUBLE}[2,3]", 1, "{FLOAT,FLOAT16,DOUBLE}[2,3]"), OK, None),
    ("Softmax", WITH_BF16, ("BF16[2,3]", 1, "BF16[2,3]"), OK, None),
    ("Softmax", "910_93", ("BF16[2,3]", 1, "{FLOAT,FLOAT16,DOUBLE}[2,3]"), OK, None),
    ("Softmax", NO_BF16, ("BF16[2,3]", 1, "FLOAT[2,3]"), INVALID, "self"),
    ("Softmax", NO_BF16, ("FLOAT[2,3]", 1, "BF16[2,3]"), INVALID, "out"),
    ("Softmax", "910B", ("{INT8,INT32,UINT8,INT64,BOOL,STRING,COMPLEX64,COMPLEX32,INT4,UINT1,DT_UNDEFINED,DT5,DT28}[2,3]", 1, "FLOAT[2,3]"), INVALID, "self"),
    ("Softmax", "{910B,950}", ("FLOAT[2,3]", 1, "{INT32,BOOL,COMPLEX64,FLOAT8_E5M2,HIFLOAT8,DT18}[2,3]"), INVALID, "out"),
    ("Softmax", "910B", ("INT8[2,3]", 1, "INT8[2,3]"), INVALID, "self"),
    ("Softmax", "910B", ("INT8[2,3]", 99, "FLOAT[5]"), INVALID, "self"),
    ("Softmax", "910B", ("FLOAT[2,3]", 99, "INT8[5]"), INVALID, "out"),
    # 4. dim
    ("Softmax", "910B", ("FLOAT[2,3]", "{-2,-1,0,1}", "FLOAT[2,3]"), OK, None),
    ("Softmax", "910B", ("FLOAT[2,3]", "{-3,2,3,9223372036854775807,-9223372036854775808}", "FLOAT[2,3]"), INVALID, "dim"),
    ("Softmax", "910B", ("FLOAT[]", "{-1,0}", "FLOAT[]"), OK, None),
    ("Softmax", "910B", ("FLOAT[]", "{-2,1}", "FLOAT[]"), INVALID, "dim"),
    ("Softmax", "910B", ("FLOAT[1,1,1,1,1,1,1,1,1]", 9, "FLOAT[1,1,1,1,1,1,1,1,1]"), INVALID, "dim"),
    ("Softmax", "910B", ("FLOAT[2,3]", 2, "FLOAT[3,2]"), INVALID, "dim"),
    # 5. rank of self
    ("Softmax", "910B", ("FLOAT[1,1,1,2,1,1,1,3]", "{-8,7}", "FLOAT[1,1,1,2,1,1,1,3]"), OK, None),
    ("Softmax", "910B", ("FLOAT[1,1,1,1,1,1,1,1,1]", "{0,8,-9}", "FLOAT[1,1,1,1,1,1,1,1,1]"), INVALID, "self"),
    ("Softmax", "910B", ("FLOAT[1,1,1,1,1,1,1,1,1]", 0, "FLOAT[2]"), INVALID, "self"),
    # 6. shape
    ("Softmax", "910B", ("FLOAT[2,3]", 0, "FLOAT[{3,2|6|1|}]"), INVALID, "out"),
    ("Softmax", "910B", ("FLOAT[1]", 0, "FLOAT[]"), INVALID, "out"),
    ("Softmax", "910B", ("FLOAT[]", 0, "FLOAT[1]"), INVALID, "out"),
    ("Softmax", "910B", ("FLOAT[2]", 0, "FLOAT[1,1,1,1,1,1,1,1,2]"), INVALID, "out"),
]
LOG_SOFTMAX = [
    # 1. NULL: self, out
    ("LogSoftmax", "910B", (None, 0, None), NULLPTR, "self"),
    ("LogSoftmax", "910B", ("INT8[2]", 99, None), NULLPTR, "out"),
    # 2. dim comes before everything else, emptiness included
    ("LogSoftmax", "910B", ("FLOAT[2,3]", "{-2,-1,0,1}", "FLOAT[2,3]"), OK, None),
    ("LogSoftmax", "910B", ("FLOAT[2,3]", "{-3,2}", "FLOAT[2,3]"), INVALID, "dim"),
    ("LogSoftmax", "910B", ("FLOAT[]", "{-1,0}", "FLOAT[]"), OK, None),
    ("LogSoftmax", "910B", ("FLOAT[]", "{-2,1}", "FLOAT[]"), INVALID, "dim"),
    ("LogSoftmax", "910B", ("INT8[2,3]", 2, "INT8[3]"), INVALID, "dim"),
    ("LogSoftmax", "910", ("BF16[2,3]", 2, "BF16[2,3]"), INVALID, "dim"),
    ("LogSoftmax", "910B", ("FLOAT[1,1,1,1,1,1,1,1,1]", 9, "FLOAT[1]"), INVALID, "dim"),
    ("LogSoftmax", "910B", ("FLOAT[0,3]", "{2,-3}", "FLOAT[0,3]"), INVALID, "dim"),
    # 3. BF16 on a SoC without it, self or out, before the dtype lists
    ("LogSoftmax", NO_BF16, ("BF16[2,3]", 1, "BF16[2,3]"), INVALID, "self"),
    ("LogSoftmax", NO_BF16, ("FLOAT[2,3]", 1, "BF16[2,3]"), INVALID, "out"),
    ("LogSoftmax", "910", ("INT8[2,3]", 1, "BF16[2,3]"), INVALID, "out"),
    ("LogSoftmax", "910", ("BF16[2,3]", 1, "INT8[2,3]"), INVALID, "self"),
    ("LogSoftmax", WITH_BF16, ("BF16[2,3]", 1, "BF16[2,3]"), OK, None),
    # 4. dtype: self, then out
    ("LogSoftmax", "910B", ("{FLOAT,FLOAT16,DOUBLE,BF16}[2,3]", 1, "{FLOAT,FLOAT16,DOUBLE,BF16}[2,3]"), OK, None),
    ("LogSoftmax", "310P", ("{FLOAT,FLOAT16,DOUBLE}[2,3]", 1, "{FLOAT,FLOAT16,DOUBLE}[2,3]"), OK, None),
    ("LogSoftmax", "910B", ("{INT8,INT32,BOOL,STRING,COMPLEX64,DT_UNDEFINED,DT14}[2,3]", 1, "FLOAT[2,3]"), INVALID, "self"),
    ("LogSoftmax", "910B", ("FLOAT[2,3]", 1, "{INT8,INT32,BOOL,STRING,COMPLEX64,DT_UNDEFINED}[2,3]"), INVALID, "out"),
    ("LogSoftmax", "910B", ("INT8[2,3]", 1, "INT8[2,3]"), INVALID, "self"),
    ("LogSoftmax", "910B", ("FLOAT[1,1,1,1,1,1,1,1,1]", 0, "INT8[2]"), INVALID, "out"),
    ("LogSoftmax", "910B", ("INT8[0,3]", 0, "FLOAT[0,3]"), INVALID, "self"),
    ("LogSoftmax", "910B", ("FLOAT[0,3]", 0, "INT8[0,3]"), INVALID, "out"),
    # 6. rank: self, then out, both before the shapes
    ("LogSoftmax", "910B", ("FLOAT[1,1,1,2,1,1,1,3]", 7, "FLOAT[1,1,1,2,1,1,1,3]"), OK, None),
    ("LogSoftmax", "910B", ("FLOAT[1,1,1,1,1,1,1,1,1]", 0, "FLOAT[1,1,1,1,1,1,1,1,1]"), INVALID, "self"),
    ("LogSoftmax", "910B", ("FLOAT[2,3]", 0, "FLOAT[1,1,1,1,1,1,1,2,3]"), INVALID, "out"),
    ("LogSoftmax", "910B", ("FLOAT[0,1,1,1,1,1,1,1,1]", 0, "FLOAT[0,1,1,1,1,1,1,1,1]"), INVALID, "self"),
    # 7. shape; 10. and only then emptiness
    ("LogSoftmax", "910B", ("FLOAT[2,3]", 0, "FLOAT[3,2]"), INVALID, "out"),
    ("LogSoftmax", "910B", ("FLOAT[]", 0, "FLOAT[1]"), INVALID, "out"),
    ("LogSoftmax", "910B", ("FLOAT[0,3]", 0, "FLOAT[0,4]"), INVALID, "out"),
    ("LogSoftmax", "{910B,950,310P}", ("FLOAT[0,3]", 0, "FLOAT[0,3]"), OK, None),
    ("LogSoftmax", "910B", ("FLOAT16[2,0,3]", 1, "FLOAT[2,0,3]"), OK, None),
]
SOFTMAX_BACKWARD = [
    # 1. NULL: gradOutput, output, out
    ("SoftmaxBackward", "910B", (None, None, 0, None), NULLPTR, "gradOutput"),
    ("SoftmaxBackward", "910B", ("INT8[2,3]", None, 9, None), NULLPTR, "output"),
    ("SoftmaxBackward", "910B", ("INT8[2,3]", "INT8[4]", 9, None), NULLPTR, "out"),
    ("SoftmaxBackward", "910B", ("FLOAT[0]", None, 0, "FLOAT[0]"), NULLPTR, "output"),
    # 2. one empty input is enough, except on 950
    ("SoftmaxBackward", "{910,910B,910_93,310P,910E}", ("FLOAT[0,3]", "FLOAT[0,3]", 0, "FLOAT[0,3]"), OK, None),
    ("SoftmaxBackward", "910B", ("FLOAT[0,3]", "INT8[5]", 99, "STRING[7]"), OK, None),
    ("SoftmaxBackward", "910B", ("COMPLEX64[2,3]", "FLOAT[2,0]", -9, "FLOAT[1]"), OK, None),
    ("SoftmaxBackward", "910", ("BF16[0,3]", "BF16[0,3]", 0, "BF16[0,3]"), OK, None),
    ("SoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[2,3]", 0, "FLOAT[0,3]"), INVALID, "out"),
    ("SoftmaxBackward", "950", ("FLOAT[0,3]", "FLOAT[0,3]", 0, "FLOAT[0,3]"), OK, None),
    ("SoftmaxBackward", "950", ("FLOAT[0,3]", "FLOAT[0,3]", "{2,-3}", "FLOAT[0,3]"), INVALID, "dim"),
    ("SoftmaxBackward", "950", ("INT8[0,3]", "FLOAT[0,3]", 0, "FLOAT[0,3]"), INVALID, "gradOutput"),
    ("SoftmaxBackward", "950", ("FLOAT[0,3]", "FLOAT16[0,3]", 0, "FLOAT[0,3]"), INVALID, "output"),
    ("SoftmaxBackward", "950", ("FLOAT[0,3]", "FLOAT[2,3]", 0, "FLOAT[0,3]"), INVALID, "output"),
    ("SoftmaxBackward", "950", ("FLOAT[0,3]", "FLOAT[0,3]", 0, "FLOAT[2,3]"), INVALID, "out"),
    # 3. the BF16 gate looks at gradOutput only
    ("SoftmaxBackward", NO_BF16, ("BF16[2,3]", "BF16[2,3]", 0, "BF16[2,3]"), INVALID, "gradOutput"),
    ("SoftmaxBackward", "910", ("BF16[2,3]", "INT8[2,3]", 0, "FLOAT[2,3]"), INVALID, "gradOutput"),
    ("SoftmaxBackward", "910", ("INT8[2,3]", "BF16[2,3]", 0, "FLOAT[2,3]"), INVALID, "gradOutput"),
    ("SoftmaxBackward", "910", ("FLOAT[2,3]", "BF16[2,3]", 0, "FLOAT[2,3]"), INVALID, "output"),
    ("SoftmaxBackward", WITH_BF16, ("BF16[2,3]", "BF16[2,3]", 0, "BF16[2,3]"), OK, None),
    # 4. dtype: gradOutput, then output (DOUBLE is in neither list)
    ("SoftmaxBackward", "{910,910B,950}", ("{=t FLOAT,FLOAT16}[2,3]", "{=t}[2,3]", 0, "{=t}[2,3]"), OK, None),
    ("SoftmaxBackward", "{910,910B,950}", ("DOUBLE[2,3]", "DOUBLE[2,3]", 0, "DOUBLE[2,3]"), INVALID, "gradOutput"),
    ("SoftmaxBackward", "910B", ("{INT8,INT32,BOOL,COMPLEX64,DT_UNDEFINED}[2,3]", "INT8[2,3]", 0, "FLOAT[2,3]"), INVALID, "gradOutput"),
    ("SoftmaxBackward", "910B", ("FLOAT[2,3]", "{DOUBLE,INT8,STRING}[2,3]", 0, "FLOAT[2,3]"), INVALID, "output"),
    # 5. one dtype for both
    ("SoftmaxBackward", "910B", ("FLOAT[2,3]", "{FLOAT16,BF16}[2,3]", 0, "FLOAT[2,3]"), INVALID, "output"),
    ("SoftmaxBackward", "910B", ("FLOAT16[2,3]", "FLOAT[2,3]", 99, "FLOAT[4]"), INVALID, "output"),
    # 6. dim of gradOutput
    ("SoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[2,3]", "{-2,-1,0,1}", "FLOAT[2,3]"), OK, None),
    ("SoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[2,3]", "{-3,2}", "FLOAT[2,3]"), INVALID, "dim"),
    ("SoftmaxBackward", "910B", ("FLOAT[]", "FLOAT[]", "{-1,0}", "FLOAT[]"), OK, None),
    ("SoftmaxBackward", "910B", ("FLOAT[]", "FLOAT[]", "{-2,1}", "FLOAT[]"), INVALID, "dim"),
    ("SoftmaxBackward", "910B", ("FLOAT[1,1,1,1,1,1,1,1,1]", "FLOAT[2]", 9, "FLOAT[3]"), INVALID, "dim"),
    ("SoftmaxBackward", "910B", ("FLOAT[2]", "FLOAT[2,3]", 1, "FLOAT[2]"), INVALID, "dim"),
    # 7. rank of gradOutput
    ("SoftmaxBackward", "910B", ("FLOAT[1,2,1,1,1,1,1,3]", "FLOAT[1,2,1,1,1,1,1,3]", 7, "FLOAT[1,2,1,1,1,1,1,3]"), OK, None),
    ("SoftmaxBackward", "910B", ("FLOAT[1,1,1,1,1,1,1,1,1]", "FLOAT[1]", 0, "FLOAT[1]"), INVALID, "gradOutput"),
    # 8. shape: gradOutput against output, then against out
    ("SoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[3,2]", 0, "FLOAT[4]"), INVALID, "output"),
    ("SoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[1,1,1,1,1,1,1,2,3]", 0, "FLOAT[2,3]"), INVALID, "output"),
    ("SoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[2,3]", 0, "FLOAT[3,2]"), INVALID, "out"),
    ("SoftmaxBackward", "910B", ("FLOAT[]", "FLOAT[1]", 0, "FLOAT[]"), INVALID, "output"),
]
LOG_SOFTMAX_BACKWARD = [
    # 1. NULL: output first, then gradOutput, out
    ("LogSoftmaxBackward", "910B", (None, None, 0, None), NULLPTR, "output"),
    ("LogSoftmaxBackward", "910B", ("INT8[2,3]", None, 9, None), NULLPTR, "output"),
    ("LogSoftmaxBackward", "910B", (None, "INT8[2,3]", 9, None), NULLPTR, "gradOutput"),
    ("LogSoftmaxBackward", "910B", ("INT8[2,3]", "INT8[4]", 9, None), NULLPTR, "out"),
    # 2. empties as in SoftmaxBackward
    ("LogSoftmaxBackward", "{910,910B,910_93,310P,910E}", ("FLOAT[0,3]", "FLOAT[0,3]", 0, "FLOAT[0,3]"), OK, None),
    ("LogSoftmaxBackward", "910B", ("FLOAT[0,3]", "INT8[5]", 99, "STRING[7]"), OK, None),
    ("LogSoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[0]", 99, "FLOAT[7]"), OK, None),
    ("LogSoftmaxBackward", "950", ("FLOAT[0,3]", "FLOAT[0,3]", 0, "FLOAT[0,3]"), OK, None),
    ("LogSoftmaxBackward", "950", ("FLOAT[0,3]", "FLOAT[0,3]", 2, "FLOAT[0,3]"), INVALID, "dim"),
    ("LogSoftmaxBackward", "950", ("FLOAT[0,3]", "FLOAT[0,4]", 2, "FLOAT[0,3]"), INVALID, "output"),
    # 3. the BF16 gate looks at either input
    ("LogSoftmaxBackward", NO_BF16, ("BF16[2,3]", "BF16[2,3]", 0, "BF16[2,3]"), INVALID, "output/gradOutput"),
    ("LogSoftmaxBackward", "910", ("INT8[2,3]", "BF16[2,3]", 0, "FLOAT[2,3]"), INVALID, "output"),
    ("LogSoftmaxBackward", "910", ("BF16[2,3]", "INT8[2,3]", 0, "FLOAT[2,3]"), INVALID, "gradOutput"),
    ("LogSoftmaxBackward", WITH_BF16, ("BF16[2,3]", "BF16[2,3]", 0, "BF16[2,3]"), OK, None),
    # 4. dtype: output first, then gradOutput
    ("LogSoftmaxBackward", "{910,910B,950}", ("{=t FLOAT,FLOAT16}[2,3]", "{=t}[2,3]", 0, "{=t}[2,3]"), OK, None),
    ("LogSoftmaxBackward", "{910,910B,950}", ("DOUBLE[2,3]", "DOUBLE[2,3]", 0, "DOUBLE[2,3]"), INVALID, "output"),
    ("LogSoftmaxBackward", "910B", ("INT8[2,3]", "INT32[2,3]", 0, "FLOAT[2,3]"), INVALID, "output"),
    ("LogSoftmaxBackward", "910B", ("{DOUBLE,INT8,BOOL,COMPLEX64}[2,3]", "FLOAT[2,3]", 0, "FLOAT[2,3]"), INVALID, "gradOutput"),
    # 5. one dtype for both
    ("LogSoftmaxBackward", "910B", ("FLOAT16[2,3]", "FLOAT[2,3]", 0, "FLOAT[2,3]"), INVALID, "output/gradOutput"),
    ("LogSoftmaxBackward", "910B", ("FLOAT16[1,1,1,1,1,1,1,1,1]", "FLOAT[2,3]", 99, "FLOAT[2]"), INVALID, "output/gradOutput"),
    # 6. rank of either input
    ("LogSoftmaxBackward", "910B", ("FLOAT[1,2,1,1,1,1,1,3]", "FLOAT[1,2,1,1,1,1,1,3]", 7, "FLOAT[1,2,1,1,1,1,1,3]"), OK, None),
    ("LogSoftmaxBackward", "910B", ("FLOAT[1,1,1,1,1,1,1,1,1]", "FLOAT[1]", 99, "FLOAT[1]"), INVALID, "gradOutput"),
    ("LogSoftmaxBackward", "910B", ("FLOAT[1]", "FLOAT[1,1,1,1,1,1,1,1,1]", 99, "FLOAT[1]"), INVALID, "output"),
    # 7. shape, 8. and dim last of all (its upper bound is open, whatever the vendor's page prints)
    ("LogSoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[3,2]", 99, "FLOAT[4]"), INVALID, "output"),
    ("LogSoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[2,3]", 99, "FLOAT[3,2]"), INVALID, "out"),
    ("LogSoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[2,3]", "{-3,2}", "FLOAT[2,3]"), INVALID, "dim"),
    ("LogSoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[2,3]", "{-2,-1,0,1}", "FLOAT[2,3]"), OK, None),
    ("LogSoftmaxBackward", "910B", ("FLOAT[]", "FLOAT[]", "{-1,0}", "FLOAT[]"), OK, None),
    ("LogSoftmaxBackward", "910B", ("FLOAT[]", "FLOAT[]", "{-2,1}", "FLOAT[]"), INVALID, "dim"),
    ("LogSoftmaxBackward", "910B", ("FLOAT[]", "FLOAT[1]", 0, "FLOAT[]"), INVALID, "output"),
]
CASTS = [  # `out` of the backwards is limited by the internal cast alone
    ("{SoftmaxBackward,LogSoftmaxBackward}", "910B", ("FLOAT[2,3]", "FLOAT[2,3]", 1,
     "{FLOAT16,BF16,DOUBLE,BOOL,INT8,INT16,INT32,INT64,UINT8,UINT16,UINT32,UINT64,COMPLEX64,COMPLEX128}[2,3]"), OK, None),
    ("SoftmaxBackward", "{910,310P}", ("{=t FLOAT,FLOAT16}[2,3]", "{=t}[2,3]", 1, "{BF16,BOOL,UINT16,COMPLEX64}[2,3]"), OK, None),
    ("{SoftmaxBackward,LogSoftmaxBackward}", "{910,910B,910_93}", ("FLOAT16[2,3]", "FLOAT16[2,3]", 1,
     "{HIFLOAT8,FLOAT8_E5M2,FLOAT8_E4M3FN,FLOAT4_E2M1,FLOAT4_E1M2,COMPLEX32}[2,3]"), INNER, "out"),
    ("{SoftmaxBackward,LogSoftmaxBackward}", "950", ("{=t FLOAT,FLOAT16,BF16}[2,3]", "{=t}[2,3]", 1, "{FLOAT8_E5M2,FLOAT8_E4M3FN}[2,3]"), OK, None),
    ("SoftmaxBackward", "950", ("FLOAT16[2,3]", "FLOAT16[2,3]", 1, "{HIFLOAT8,FLOAT4_E2M1,FLOAT4_E1M2,COMPLEX32}[2,3]"), NO_KERNEL, "out"),  # the vendor takes them; NumPy has no such types
    ("SoftmaxBackward", "950", ("{=t FLOAT,BF16}[2,3]", "{=t}[2,3]", 1, "COMPLEX32[2,3]"), INNER, "out"),
    ("{SoftmaxBackward,LogSoftmaxBackward}", "{910B,950}", ("FLOAT[2,3]", "FLOAT[2,3]", 1,
     "{STRING,INT4,UINT1,FLOAT8_E8M0,FLOAT6_E3M2,FLOAT6_E2M3,DT_UNDEFINED,DT19}[2,3]"), INNER, "out"),
    ("SoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[2,3]", 9, "STRING[2,3]"), INVALID, "dim"),
    ("SoftmaxBackward", "910B", ("FLOAT[2,3]", "FLOAT[2,3]", 1, "STRING[3,2]"), INVALID, "out"),
    # a non-contiguous out of these types needs 950, or must be a permutation
    ("{SoftmaxBackward,LogSoftmaxBackward}", "{910,910B}", ("FLOAT[4,3]", "FLOAT[4,3]", 1, "{UINT16,UINT32,UINT64}[4,3] strides=12,2 storage=48"), INNER, "out"),
    ("SoftmaxBackward", "910B", ("FLOAT[4,3]", "FLOAT[4,3]", 1, "{UINT16,UINT32,UINT64}[4,3] strides=1,4 storage=12"), OK, None),
    ("SoftmaxBackward", "950", ("FLOAT[4,3]", "FLOAT[4,3]", 1, "{UINT16,UINT32,UINT64}[4,3] strides=12,2 storage=48"), OK, None),
    ("SoftmaxBackward", "910B", ("FLOAT[4,3]", "FLOAT[4,3]", 1, "{INT16,INT32,INT64,UINT8,BOOL,COMPLEX64}[4,3] strides=12,2 storage=48"), OK, None),
]
VIEWS = [
    # formats are never looked at, even where they cannot fit the rank
    ("Softmax", "910B", ("FLOAT[2,3] format={ND,NCHW,NHWC,HWCN,NDHWC,NCDHW,NC,NCL,UNDEFINED}", 1, "FLOAT[2,3] format=NHWC"), OK, None),
    ("LogSoftmax", "910B", ("FLOAT[2,3,4,5] format=NDHWC", 1, "FLOAT[2,3,4,5] format=NHWC"), OK, None),
    ("SoftmaxBackward", "910B", ("FLOAT[2,3] format=NCHW", "FLOAT[2,3] format=NHWC", 1, "FLOAT[2,3] format=HWCN"), OK, None),
    ("LogSoftmaxBackward", "910B", ("FLOAT[2,3] format=NCDHW", "FLOAT[2,3]", 1, "FLOAT[2,3] format=NCHW"), OK, None),
    ("Softmax", "910B", ("FLOAT[4,3] strides=1,4 storage=12 format=FRACTAL_NZ", 1, "FLOAT[4,3]"), OK, None),
    # legal views: transposed, sliced with an offset, broadcast, reversed, size-1 dims with any stride
    ("{Softmax,LogSoftmax}", "910B", ("FLOAT[4,3] strides=1,4 storage=12", 1, "FLOAT[4,3]"), OK, None),
    ("{Softmax,LogSoftmax}", "910B", ("FLOAT[4,3] strides=8,2 offset=3 storage=32", 1, "FLOAT[4,3] strides=8,2 offset=1 storage=30"), OK, None),
    ("Softmax", "910B", ("FLOAT[4,3] strides=0,1 storage=3", 1, "FLOAT[4,3]"), OK, None),
    ("Softmax", "910B", ("FLOAT[4,3] strides=-3,-1 offset=11 storage=12", 1, "FLOAT[4,3]"), OK, None),
    ("Softmax", "910B", ("FLOAT[1,3] strides=-77,1 storage=3", 1, "FLOAT[1,3] strides=99,1 storage=3"), OK, None),
    ("Softmax", "910B", ("FLOAT[1,1] strides=-77,50 storage=1", 1, "FLOAT[1,1]"), OK, None),
    ("{SoftmaxBackward,LogSoftmaxBackward}", "910B", ("FLOAT[4,3] strides=1,4 storage=12", "FLOAT[4,3] strides=0,0 storage=1", 1, "FLOAT[4,3] strides=-3,-1 offset=11 storage=12"), OK, None),
    # non-contiguous inputs out of their storage: below the start, past the end
    ("{Softmax,LogSoftmax}", "910B", ("FLOAT[4,3] strides=1,4 storage=11", 1, "FLOAT[4,3]"), INNER, "self"),
    ("{Softmax,LogSoftmax}", "910B", ("FLOAT[4,3] strides=-3,1 offset=8 storage=12", 1, "FLOAT[4,3]"), INNER, "self"),
    ("Softmax", "910B", ("FLOAT[4,3] strides=1,4 offset=1 storage=12", 1, "FLOAT[4,3]"), INNER, "self"),
    ("Softmax", "910B", ("FLOAT[4,3] strides=1,4 storage=11", 2, "FLOAT[4,3]"), INVALID, "dim"),
    ("{SoftmaxBackward,LogSoftmaxBackward}", "910B", ("FLOAT[4,3] strides=1,4 storage=11", "FLOAT[4,3]", 1, "FLOAT[4,3]"), INNER, "gradOutput"),
    ("{SoftmaxBackward,LogSoftmaxBackward}", "910B", ("FLOAT[4,3]", "FLOAT[4,3] strides=1,4 storage=11", 1, "FLOAT[4,3]"), INNER, "output"),
    # contiguous ones past their storage: undefined at the vendor's, refused here, after all vendor checks
    ("{Softmax,LogSoftmax}", "910B", ("FLOAT[4,3] storage=11", 1, "FLOAT[4,3]"), INVALID, "self"),
    ("{Softmax,LogSoftmax}", "910B", ("FLOAT[4,3] offset={1,-1} storage=12", 1, "FLOAT[4,3]"), INVALID, "self"),
    ("{Softmax,LogSoftmax}", "910B", ("FLOAT[4,3]", 1, "FLOAT[4,3] storage=11"), INVALID, "out"),
    ("Softmax", "910B", ("FLOAT[1] offset=4 storage=4", 0, "FLOAT[1]"), INVALID, "self"),
    ("{SoftmaxBackward,LogSoftmaxBackward}", "910B", ("FLOAT[4,3]", "FLOAT[4,3] storage=3", 1, "FLOAT[4,3]"), INVALID, "output"),
    ("SoftmaxBackward", "910B", ("FLOAT[4,3] storage=11", "FLOAT[4,3]", 1, "STRING[4,3]"), INNER, "out"),
    ("Softmax", "910B", ("FLOAT[4,3] storage=11", 2, "FLOAT[4,3]"), INVALID, "dim"),
    # dims that no memory can have: created without complaint, reported here
    ("{Softmax,LogSoftmax}", "910B", ("FLOAT[-2,3]", 1, "FLOAT[-2,3]"), INVALID, "self"),
    ("SoftmaxBackward", "910B", ("FLOAT[2,-3]", "FLOAT[2,-3]", 1, "FLOAT[2,-3]"), INVALID, "gradOutput/output"),
    ("{Softmax,LogSoftmax}", "910B", ("FLOAT[-2,-3]", 1, "FLOAT[-2,-3]"), INVALID, "self"),
    ("Softmax", "910B", (f"FLOAT[{HUGE},{HUGE}]", 1, f"FLOAT[{HUGE},{HUGE}]"), INVALID, "self"),
    ("Softmax", "910B", (f"FLOAT[{2**32},{2**32}] strides=0,0 storage=1", 1, f"FLOAT[{2**32},{2**32}]"), INVALID, "self"),
    ("Softmax", "910B", (f"FLOAT[{2**62}]", 0, f"FLOAT[{2**62}]"), INVALID, "self"),
    ("{Softmax,LogSoftmax}", "910B", (f"FLOAT[{2**60}]", 0, f"FLOAT[{2**60}]"), INVALID, "self"),
    ("{Softmax,LogSoftmax}", "910B", (f"FLOAT[{2**40},{2**20}] strides=1,{2**40}", 1, f"DOUBLE[{2**40},{2**20}]"), INVALID, "self"),
    ("{SoftmaxBackward,LogSoftmaxBackward}", "910B", (f"FLOAT[{2**56}]", f"FLOAT[{2**56}]", 0, f"FLOAT[{2**56}]"), INVALID, "gradOutput/output"),
    ("Softmax", "910B", (f"FLOAT[2,2] strides={2**62},{2**62} storage=4", 0, "FLOAT[2,2]"), INNER, "self"),
    ("Softmax", "910B", (f"FLOAT[2,2] storage={2**40},{2**40}", 0, "FLOAT[2,2]"), INVALID, "self"),
    # destroyed tensors
    ("{Softmax,LogSoftmax}", "910B", ("destroyed FLOAT[2,3]", 1, "FLOAT[2,3]"), INVALID, "self"),
    ("{Softmax,LogSoftmax}", "910B", ("FLOAT[2,3]", 1, "destroyed FLOAT[2,3]"), INVALID, "out"),
    ("{SoftmaxBackward,LogSoftmaxBackward}", "910B", ("FLOAT[2,3]", "destroyed FLOAT[2,3]", 1, "FLOAT[2,3]"), INVALID, "output"),
]
# fmt: on
ROWS = [*SOFTMAX, *LOG_SOFTMAX, *SOFTMAX_BACKWARD, *LOG_SOFTMAX_BACKWARD, *CASTS, *VIEWS]
CASES = list(dict.fromkeys(case for row in ROWS for case in expand(row)))


def arguments_of(cells):
    """Cells of the table as arguments: dims become numbers, tensor lines tensors."""
    for cell in cells:
        if isinstance(cell, str) and cell.lstrip("-").isdigit():
            yield int(cell)
        else:
            yield build(cell)


def name_of(case):
    """For a test of this case."""
    operator, soc, arguments, status, blamed = case
    return f"{operator}-{soc}-{' '.join(map(str, arguments))}-{status}-{blamed}"
