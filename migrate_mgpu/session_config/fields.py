"""Paths of ConfigProto whose options bear on each other."""

GROWTH = "gpu_options.allow_growth"
FRACTION = "gpu_options.per_process_gpu_memory_fraction"
SOFT_PLACEMENT = "allow_soft_placement"
VISIBLE = "gpu_options.visible_device_list"
GPU_COUNT = "device_count.GPU"
THREADS = ("intra_op_parallelism_threads", "inter_op_parallelism_threads")
GPU_FIELDS = {GROWTH, FRACTION, VISIBLE, GPU_COUNT}
