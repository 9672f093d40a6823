"""Back ends: ways to run networks. Each has a file that probes the machine and opens networks.

- registry: all back ends and device names, and the choice among them
- backend: what a back end is
- openvino, onnxruntime, torch_devices: the back ends, which import their libraries late
- openvino_evaluator, torch_evaluator, onnxruntime_evaluator: evaluators of these libraries
- openvino_graph, openvino_int8: networks as OpenVINO graphs, and quantized to eight bits
- cuda_buffers: inference buffers on CUDA, for self-play
"""
