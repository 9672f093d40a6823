"""Back ends: ways to run networks. Each has a file that probes the machine and opens networks.

- registry: all back ends and device names, and the choice among them
- backend: what a back end is
- openvino, onnxruntime, torch_devices: the back ends, which import their libraries late
- openvino_evaluator, torch_evaluator, onnxruntime_evaluator: evaluators of these libraries
- network_graph: what a network computes, said once for all that build graphs
- openvino_graph, onnx_graph: networks as OpenVINO graphs and as ONNX files
- openvino_int8: OpenVINO graphs quantized to eight bits
- batch_sizes: the batch sizes that graphs are compiled for
- cuda_buffers: inference buffers on CUDA, for self-play

OpenVINO and ONNX Runtime send usage data to their makers when they are imported, and leave an id in
the user's home folder. This package is imported before any of its modules, and turns that off.
"""

import os
import sys

# Python takes None for "not installed", and OpenVINO then uses a stand-in that does nothing.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
for name in ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED"):  # of different versions
    os.environ[name] = "1"
