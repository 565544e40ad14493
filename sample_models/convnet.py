"""A small convolutional classifier, static int8 per tensor: batch norms, depthwise, pooling, linear.

What there is to see
    The first layer keeps its precision: a float convolution whose batch norm is still in the graph. From
    there on all is int8: PT2E has folded the batch norm of the depthwise convolution, the residual add has a
    dequantize on each side, pooling and flatten carry the quantization of their input.

Passes to try
    `cadence-reorder`. Then FuseBatchNormWithConv, which leaves the batch norm of the first layer alone: ask
    why not. FuseBatchNormWithConvPass of executorch.backends.transforms does fold it.
"""

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)

from qdqviz.load.pt2e import edge, export, quantize, seeded


def conv_bn_relu(inputs, outputs, groups=1):
    """A 3x3 convolution with its batch norm and ReLU."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(inputs, outputs, 3, padding=1, groups=groups, bias=False),
        torch.nn.BatchNorm2d(outputs),
        torch.nn.ReLU(),
    )


class Body(torch.nn.Module):
    """A residual depthwise separable block between two poolings, and a head."""

    def __init__(self):
        super().__init__()
        self.pool = torch.nn.MaxPool2d(2)
        self.depthwise = conv_bn_relu(8, 8, groups=8)
        self.pointwise = torch.nn.Conv2d(8, 8, 1)
        self.head = torch.nn.Linear(8 * 4 * 4, 10)

    def forward(self, x):
        x = self.pool(x)
        x = x + self.pointwise(self.depthwise(x))
        return self.head(torch.flatten(self.pool(x), 1))


def trained(module):
    """Give the batch norms statistics as training would, so that folding them does something."""
    for layer in module.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(layer.running_mean, -0.2, 0.2)
            torch.nn.init.uniform_(layer.running_var, 0.5, 1.5)
            torch.nn.init.uniform_(layer.weight, 0.8, 1.2)
            torch.nn.init.uniform_(layer.bias, -0.1, 0.1)
    return module


def example_inputs():
    """One image of 3 channels, 16 by 16."""
    return (torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(2)),)


def build():
    """The classifier in the edge dialect: a float first layer and a quantized body."""
    with seeded(2):
        stem, body = trained(conv_bn_relu(3, 8)).eval(), trained(Body()).eval()
    image = example_inputs()
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
    with torch.no_grad():
        features = (stem(*image),)
    return edge(export(torch.nn.Sequential(stem, quantize(body, features, quantizer)), image))
