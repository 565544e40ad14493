"""One sentence per rewrite: graphs before and after, by hand, and what a person would say of them."""

from __future__ import annotations

import pytest

from qdqviz.explain.effect import effect_of
from qdqviz.explain.sentence import sentence_of
from qdqviz.explain.title import title_of
from qdqviz.ir.node import OpInfo

Q = "quantized_decomposed.quantize_per_tensor.default"
DQ = "quantized_decomposed.dequantize_per_tensor.default"
DQC = "quantized_decomposed.dequantize_per_channel.default"
OPS = {
    "aten.permute_copy.default": OpInfo("aten.permute_copy.default", ("self", "dims")),
    "aten.add.Tensor": OpInfo("aten.add.Tensor", ("self", "other")),
    DQ: OpInfo(DQ, ("input", "scale", "zero_point", "quant_min", "quant_max", "dtype")),
    DQC: OpInfo(DQC, ("input", "scales", "zero_points", "axis", "quant_min", "quant_max", "dtype")),
}

TABLE = {
    "quantize above a view": (
        f"""x = placeholder() : float32[1,4096]
            view_2 = aten.view_copy.default(x, [64,64]) : float32[64,64]
            q_7 = {Q}(view_2, 0.1, 0, -128, 127, int8) : int8[64,64]
            output(q_7)""",
        f"""x = placeholder() : float32[1,4096]
            q_9 = {Q}(x, 0.1, 0, -128, 127, int8)
            view_2 = aten.view_copy.default(q_9, [64,64]) : float32[64,64]
            output(view_2)""",
        "moved",
        "q_7 above view_2",
        "Moved q_7 above view_2; view_2 now moves 4,096 B instead of 16,384 B.",
    ),
    "dequantize below a view, one copy for each user": (
        f"""x = placeholder() : int8[4,4]
            dq = {DQ}(x, 0.1, 0, -128, 127, int8) : float32[4,4]
            view = aten.view_copy.default(dq, [16]) : float32[16]
            a = aten.relu.default(view)
            b = aten.tanh.default(view)
            output(a, b)""",
        f"""x = placeholder() : int8[4,4]
            view = aten.view_copy.default(x, [16]) : float32[16]
            dq_1 = {DQ}(view, 0.1, 0, -128, 127, int8) : float32[16]
            dq_2 = {DQ}(view, 0.1, 0, -128, 127, int8) : float32[16]
            a = aten.relu.default(dq_1)
            b = aten.tanh.default(dq_2)
            output(a, b)""",
        "moved",
        "dq below view",
        "Moved dq below view, as 2 copies; view now moves 16 B instead of 64 B.",
    ),
    "per-channel dequantize below a permute, its axis remapped": (
        f"""w = placeholder() : int8[8,4]
            s = get_attr('scale', None)
            z = get_attr('zero', None)
            dq = {DQC}(w, s, z, 0, -128, 127, int8) : float32[8,4]
            p = aten.permute_copy.default(dq, [1,0]) : float32[4,8]
            output(p)""",
        f"""w = placeholder() : int8[8,4]
            s = get_attr('scale', None)
            z = get_attr('zero', None)
            p = aten.permute_copy.default(w, [1,0]) : int8[4,8]
            dq_1 = {DQC}(p, s, z, 1, -128, 127, int8) : float32[4,8]
            output(dq_1)""",
        "moved",
        "dq below p",
        "Moved dq below p, with axis 1 instead of 0; p now moves 32 B instead of 128 B.",
    ),
    "quantize above a chain, in place": (
        f"""x = placeholder() : float32[4]
            v1 = aten.view_copy.default(x, [2,2]) : float32[2,2]
            v2 = aten.view_copy.default(v1, [4,1]) : float32[4,1]
            v3 = aten.view_copy.default(v2, [1,4]) : float32[1,4]
            v4 = aten.view_copy.default(v3, [4]) : float32[4]
            q = {Q}(v4, 0.1, 0, -128, 127, int8) : int8[4]
            r = aten.relu.default(q)
            output(r)""",
        f"""x = placeholder() : float32[4]
            q = {Q}(x, 0.1, 0, -128, 127, int8) : int8[4]
            v1 = aten.view_copy.default(q, [2,2]) : float32[2,2]
            v2 = aten.view_copy.default(v1, [4,1]) : float32[4,1]
            v3 = aten.view_copy.default(v2, [1,4]) : float32[1,4]
            v4 = aten.view_copy.default(v3, [4]) : float32[4]
            r = aten.relu.default(v4)
            output(r)""",
        "moved",
        "q above 4 view",
        "Moved q above 4 nodes (v4 to v1); v4 and 3 more now move 16 B instead of 64 B.",
    ),
    "equal quantizes of three slices merged into one above them": (
        f"""x = placeholder() : float32[6]
            s1 = aten.slice_copy.Tensor(x, 0, 0, 2) : float32[2]
            s2 = aten.slice_copy.Tensor(x, 0, 2, 4) : float32[2]
            q1 = {Q}(s1, 0.1, 0, -128, 127, int8) : int8[2]
            q2 = {Q}(s2, 0.1, 0, -128, 127, int8) : int8[2]
            output(q1, q2)""",
        f"""x = placeholder() : float32[6]
            q = {Q}(x, 0.1, 0, -128, 127, int8) : int8[6]
            s1 = aten.slice_copy.Tensor(q, 0, 0, 2) : float32[2]
            s2 = aten.slice_copy.Tensor(q, 0, 2, 4) : float32[2]
            output(s1, s2)""",
        "moved",
        "2 quantize above 2 slice",
        "Moved q1 and q2 above s1 and s2, merged into 1 node; s1 and s2 now move 4 B instead of 16 B.",
    ),
    "permute below an unsqueeze, in place, is what the pass looked at": (
        """x = placeholder() : float32[2,3]
           perm = aten.permute_copy.default(x, [1,0]) : float32[3,2]
           u = aten.unsqueeze_copy.default(perm, 0) : float32[1,3,2]
           output(u)""",
        """x = placeholder() : float32[2,3]
           u = aten.unsqueeze_copy.default(x, 0) : float32[1,2,3]
           perm = aten.permute_copy.default(u, [0,2,1]) : float32[1,3,2]
           output(perm)""",
        "moved",
        "perm below u",
        "Moved perm below u, with dims [0,2,1] instead of [1,0].",
    ),
    "two nodes fused into one": (
        """x = placeholder() : float32[2,2]
           mm = aten.mm.default(x, x) : float32[2,2]
           add = aten.add.Tensor(mm, x) : float32[2,2]
           output(add)""",
        """x = placeholder() : float32[2,2]
           addmm = aten.addmm.default(x, x, x) : float32[2,2]
           output(addmm)""",
        "fused",
        "mm, add → addmm",
        "Fused mm and add into addmm.",
    ),
    "two views into the second": (
        """x = placeholder() : float32[4]
           v1 = aten.view_copy.default(x, [2,2]) : float32[2,2]
           v2 = aten.view_copy.default(v1, [1,4]) : float32[1,4]
           output(v2)""",
        """x = placeholder() : float32[4]
           v3 = aten.view_copy.default(x, [1,4]) : float32[1,4]
           output(v3)""",
        "fused",
        "view → view",
        "Fused v1 and v2 into v3; 16 B less to move.",
    ),
    "one node replaced by another": (
        """x = placeholder() : float32[4]
           a = aten.addmm.default(x, x, x)
           output(a)""",
        """x = placeholder() : float32[4]
           b = aten.linear.default(x, x, x)
           output(b)""",
        "replaced",
        "addmm → linear",
        "Replaced a by b.",
    ),
    "a target set in place": (
        """x = placeholder() : float32[4]
           a = aten.relu.default(x)
           output(a)""",
        """x = placeholder() : float32[4]
           a = aten.tanh.default(x)
           output(a)""",
        "replaced",
        "relu → tanh",
        "Turned a from relu into tanh.",
    ),
    "one node split in two": (
        """x = placeholder() : float32[4]
           l = aten.linear.default(x, x)
           output(l)""",
        """x = placeholder() : float32[4]
           t = aten.permute_copy.default(x, [0])
           m = aten.mm.default(x, t)
           output(m)""",
        "split",
        "linear → permute, mm",
        "Split l into t and m.",
    ),
    "a multiplication folded into a scale": (
        f"""x = placeholder() : int8[4]
            dq = {DQ}(x, 0.25, 0, -128, 127, int8) : float32[4]
            mul = aten.mul.Scalar(dq, 2) : float32[4]
            r = aten.relu.default(mul)
            output(r)""",
        f"""x = placeholder() : int8[4]
            dq = {DQ}(x, 0.5, 0, -128, 127, int8) : float32[4]
            r = aten.relu.default(dq)
            output(r)""",
        "folded",
        "mul into dq",
        "Folded mul into dq, with scale 0.5 instead of 0.25.",
    ),
    "a clone removed": (
        """x = placeholder() : float32[4]
           c = aten.clone.default(x) : float32[4]
           r = aten.relu.default(c)
           output(r)""",
        """x = placeholder() : float32[4]
           r = aten.relu.default(x)
           output(r)""",
        "removed",
        "remove c",
        "Removed c: r now reads x; 16 B less to move.",
    ),
    "dead code removed": (
        """x = placeholder() : float32[4]
           a = aten.relu.default(x)
           output(x)""",
        """x = placeholder() : float32[4]
           output(x)""",
        "removed",
        "remove a",
        "Removed a, which nothing used.",
    ),
    "a duplicate merged": (
        """x = placeholder() : float32[4]
           a = aten.view_copy.default(x, [2,2]) : float32[2,2]
           b = aten.view_copy.default(x, [2,2]) : float32[2,2]
           r = aten.add.Tensor(a, b)
           output(r)""",
        """x = placeholder() : float32[4]
           a = aten.view_copy.default(x, [2,2]) : float32[2,2]
           r = aten.add.Tensor(a, a)
           output(r)""",
        "merged",
        "b merged into a",
        "Merged b into a, which does the same; 16 B less to move.",
    ),
    "a pair inserted": (
        """x = placeholder() : float32[4]
            r = aten.relu.default(x)
            output(r)""",
        f"""x = placeholder() : float32[4]
            q = {Q}(x, 0.1, 0, -128, 127, int8)
            dq = {DQ}(q, 0.1, 0, -128, 127, int8)
            r = aten.relu.default(dq)
            output(r)""",
        "inserted",
        "insert q and 1 more",
        "Inserted q and dq between x and r.",
    ),
    "a node copied for its second user": (
        f"""x = placeholder() : int8[4]
            dq = {DQ}(x, 0.1, 0, -128, 127, int8) : float32[4]
            a = aten.relu.default(dq)
            b = aten.tanh.default(dq)
            output(a, b)""",
        f"""x = placeholder() : int8[4]
            dq = {DQ}(x, 0.1, 0, -128, 127, int8) : float32[4]
            dq_1 = {DQ}(x, 0.1, 0, -128, 127, int8) : float32[4]
            a = aten.relu.default(dq)
            b = aten.tanh.default(dq_1)
            output(a, b)""",
        "copied",
        "copy dq",
        "Copied dq as dq_1 for b.",
    ),
    "an input rewired": (
        """x = placeholder() : float32[4]
           a = aten.relu.default(x)
           b = aten.tanh.default(x)
           c = aten.add.Tensor(a, 1)
           output(c, b)""",
        """x = placeholder() : float32[4]
           a = aten.relu.default(x)
           b = aten.tanh.default(x)
           c = aten.add.Tensor(b, 1)
           output(c, b)""",
        "rewired",
        "rewire c",
        "Rewired c to read b instead of a.",
    ),
    "an argument changed": (
        """x = placeholder() : float32[2,2]
           p = aten.permute_copy.default(x, [0,1]) : float32[2,2]
           output(p)""",
        """x = placeholder() : float32[2,2]
           p = aten.permute_copy.default(x, [1,0]) : float32[2,2]
           output(p)""",
        "arguments",
        "arguments of p",
        "Changed p: dims [1,0] instead of [0,1].",
    ),
    "a constant edited": (
        """w = get_attr('conv.weight', 'aaaa')
           r = aten.relu.default(w)
           output(r)""",
        """w = get_attr('conv.weight', 'bbbb')
           r = aten.relu.default(w)
           output(r)""",
        "constants",
        "constant of w",
        "Edited the content of conv.weight.",
    ),
    "an attribute renamed": (
        """w = get_attr('folded', 'aaaa')
           r = aten.relu.default(w)
           output(r)""",
        """w = get_attr('param_constant0', 'aaaa')
           r = aten.relu.default(w)
           output(r)""",
        "renamed",
        "w renamed",
        "Renamed the attribute folded to param_constant0.",
    ),
    "a node moved in the order only": (
        """x = placeholder() : float32[4]
           a = aten.relu.default(x)
           b = aten.tanh.default(x)
           c = aten.sin.default(x)
           output(a, b, c)""",
        """x = placeholder() : float32[4]
           c = aten.sin.default(x)
           a = aten.relu.default(x)
           b = aten.tanh.default(x)
           output(a, b, c)""",
        "reordered",
        "c earlier",
        "Moved c earlier in the execution order, nearer to x.",
    ),
    "metadata only": (
        """x = placeholder() : float32[4]
           a = aten.relu.default(x) # quantization_tag=1
           output(a)""",
        """x = placeholder() : float32[4]
           a = aten.relu.default(x) # quantization_tag=2 debug_handle=5
           output(a)""",
        "metadata",
        "metadata of a",
        "Metadata only: quantization_tag and debug_handle of a.",
    ),
    "quantize above a view that is made anew as well": (
        f"""x = placeholder() : float32[16]
            view_1 = aten.view_copy.default(x, [4,4]) : float32[4,4]
            q_1 = {Q}(view_1, 0.1, 0, -128, 127, int8) : int8[4,4]
            r = aten.relu.default(q_1)
            output(r)""",
        f"""x = placeholder() : float32[16]
            q_2 = {Q}(x, 0.1, 0, -128, 127, int8)
            view_2 = aten.view_copy.default(q_2, [4,4]) : float32[4,4]
            r = aten.relu.default(view_2)
            output(r)""",
        "moved",
        "q_1 above view_1",
        "Moved q_1 above view_1, which now moves 16 B instead of 64 B.",
    ),
    "an argument that was left out, on a node made anew, beside a new node": (
        """x = placeholder() : float32[2,2]
           c = cadence.conv2d.default(x, x) : float32[2,2]
           output(c)""",
        """x = placeholder() : float32[2,2]
           f = aten.full.default([2], 0) : float32[2]
           c_1 = cadence.conv2d.default(x, x, f) : float32[2,2]
           output(c_1)""",
        "inserted",
        "insert f",
        "Inserted f before c_1.",
    ),
    "two pairs that cancel out": (
        f"""x = placeholder() : int8[4]
            a = {DQ}(x, 0.1, 0, -128, 127, int8)
            b = {Q}(a, 0.1, 0, -128, 127, int8)
            y = aten.view_copy.default(b, [4]) : int8[4]
            c = {DQ}(y, 0.2, 0, -128, 127, int8)
            d = {Q}(c, 0.2, 0, -128, 127, int8)
            z = aten.relu.default(d)
            output(z)""",
        """x = placeholder() : int8[4]
            y = aten.view_copy.default(x, [4]) : int8[4]
            z = aten.relu.default(y)
            output(z)""",
        "removed",
        "remove a and 3 more",
        "Removed 4 nodes (dequantize, quantize): y now reads x, z now reads y.",
    ),
    "an unknown size gives no figures": (
        f"""x = placeholder() : float32[u0]
            view = aten.view_copy.default(x, [1,4]) : float32[1,u0]
            q = {Q}(view, 0.1, 0, -128, 127, int8) : int8[1,u0]
            output(q)""",
        f"""x = placeholder() : float32[u0]
            q_1 = {Q}(x, 0.1, 0, -128, 127, int8) : int8[u0]
            view = aten.view_copy.default(q_1, [1,4]) : float32[1,u0]
            output(view)""",
        "moved",
        "q above view",
        "Moved q above view.",
    ),
    "a node made anew where it stood": (
        """x = placeholder() : float32[4]
           a = aten.relu.default(x) : float32[4]
           output(a)""",
        """x = placeholder() : float32[4]
           b = aten.relu.default(x) : float32[4]
           output(b)""",
        "renewed",
        "a made anew",
        "Made a anew as b.",
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_a_rewrite_is_told_in_one_sentence(case, rewritten):
    before, after, kind, title, sentence = TABLE[case]
    it = rewritten(before, after, focus="perm" if "perm =" in before else None)
    effect = effect_of(it.rewrite, it.before, it.after)
    told = (
        str(effect.kind),
        title_of(effect, it.before, it.after),
        sentence_of(effect, it.before, it.after, OPS),
    )
    assert told == (kind, title, sentence)


def test_a_replacement_by_the_same_op_of_another_library_is_told_apart(rewritten):
    it = rewritten(
        f"x = placeholder()\na = {Q}(x, 0.1, 0, -128, 127, int8)\noutput(a)",
        "x = placeholder()\nb = cadence.quantize_per_tensor.default(x, 0.1, 0, -128, 127, int8)\noutput(b)",
    )
    effect = effect_of(it.rewrite, it.before, it.after)
    assert title_of(effect, it.before, it.after) == "quantized_decomposed.quantize → cadence.quantize"


def test_edits_that_cancel_out_are_said_to_change_nothing(rewritten):
    text = "x = placeholder() : float32[4]\noutput(x)"
    it = rewritten(text, text)
    effect = effect_of(it.rewrite, it.before, it.after)
    assert sentence_of(effect, it.before, it.after) == "Changed nothing in the end: the edits cancel out."


def test_a_graph_that_could_not_be_followed_is_said_to_be_replaced(rewritten):
    it = rewritten(
        "x = placeholder() : float32[4]\na = aten.relu.default(x)\noutput(a)",
        "y = placeholder() : float32[4]\noutput(y)",
        note="graph replaced",
    )
    effect = effect_of(it.rewrite, it.before, it.after)
    assert sentence_of(effect, it.before, it.after) == "Replaced the whole graph: 2 nodes by 1 node."


def test_long_names_are_shortened(rewritten):
    long_view, long_q = "aten_view_copy_default_2", "quantized_decomposed_quantize_per_tensor_default"
    it = rewritten(
        f"""x = placeholder() : float32[4]
            {long_view} = aten.view_copy.default(x, [2,2]) : float32[2,2]
            {long_q}_7 = {Q}({long_view}, 0.1, 0, -128, 127, int8)
            output({long_q}_7)""",
        f"""x = placeholder() : float32[4]
            {long_q}_8 = {Q}(x, 0.1, 0, -128, 127, int8)
            {long_view} = aten.view_copy.default({long_q}_8, [2,2]) : float32[2,2]
            output({long_view})""",
    )
    effect = effect_of(it.rewrite, it.before, it.after)
    assert title_of(effect, it.before, it.after) == "quantize_7 above view_2"
