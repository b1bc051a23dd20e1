"""Programs that ``test_probe`` runs, with the runtimes that each can run in."""

from __future__ import annotations

ALL = ["tf1.15", "tf2.15", "tf2-latest"]
TF2 = ALL[1:]
# The first lines of a program, its body starts on line 4 or 5: v1 symbols and v1
# behaviour, in any TensorFlow; or TF2 as it is.
V1 = """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

"""
V2 = "import tensorflow as tf\n\n\n"

PROGRAMS: dict[str, tuple[str, str, list[str]]] = {
    "sessions": (
        V1,
        """
        config = tf.ConfigProto(intra_op_parallelism_threads=3)
        config.gpu_options.per_process_gpu_memory_fraction = 0.4
        tf.Session(config=config)
        tf.Session()
        tf.InteractiveSession(config=tf.ConfigProto())
        tf.InteractiveSession()
        tf.set_random_seed(1)
        tf.Variable(0.0)
        tf.train.create_global_step()
        tf.train.MonitoredTrainingSession(config=tf.ConfigProto(allow_soft_placement=True))
        """,
        ALL,
    ),
    "keras_session": (
        V1,
        """
        tf.keras.backend.get_session()
        """,
        ALL[:2],  # Keras 3 has no session
    ),
    "surroundings": (
        "",
        """
        import os, sys
        print(__name__, os.path.basename(__file__), sys.argv[1:], os.getcwd() == sys.path[0])
        print([name for name in sys.modules if name.startswith("migrate_mgpu")])
        sys.exit(3)
        """,
        ALL,
    ),
    "fails": (
        V1,
        """
        tf.Session()
        raise ValueError("as the user wrote it")
        """,
        ALL,
    ),
    "dies": (
        V1,
        """
        import os
        tf.Session()
        os._exit(5)
        """,
        ALL,
    ),
    "killed": (V1, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", ALL),
    "hangs": ("", "import time\ntime.sleep(60)\n", ALL),
    "order": (
        V1,
        """
        sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))
        print("first")
        sess.run(tf.constant(1.0, name="named"))
        print("last")
        """,
        ALL,
    ),
    "places": (
        V1,
        """
        sess = tf.Session(config=tf.ConfigProto(
            gpu_options=tf.GPUOptions(visible_device_list="2,3")))
        with tf.device("/gpu:1"):
            print(sess.run(tf.constant(1.0) + 2.0))
        with tf.device("/device:GPU:3"):
            print(sess.run(tf.constant(1.0) + 2.0))
        """,
        ALL,
    ),
    "whole_graph": (
        V1,
        """
        with tf.device("/gpu:5"):
            unused = tf.constant(1.0) + 2.0
        wanted = tf.constant(3.0)
        for session in (tf.Session, tf.InteractiveSession):
            try:
                print(session(config=tf.ConfigProto()).run(wanted))
            except tf.errors.InvalidArgumentError:
                print("refused")
        """,
        ALL,
    ),
    "cuda_visible_devices": (
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '3,1'\n" + V1,
        """
        from tensorflow.python.client import device_lib
        print([d.memory_limit >> 20 for d in device_lib.list_local_devices()
               if d.device_type == "GPU"], tf.test.is_gpu_available())
        tf.Session()
        """,
        ALL,
    ),
    "copied_model": (
        "import numpy as np\nimport tensorflow as tf\n",
        """
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, "relu", input_shape=[1])])
        copies = tf.keras.utils.multi_gpu_model(model, gpus=[0, 3])
        copies.compile("sgd", "mse")
        kinds = [d.device_type for d in tf.keras.backend.get_session().list_devices()]
        print(kinds.count("GPU"), copies.predict(np.ones([3, 1])).shape)
        try:
            tf.keras.utils.multi_gpu_model(model, gpus=5)
        except ValueError:
            print("there is no fifth GPU")
        """,
        ["tf1.15"],
    ),
    "native": (
        V2,
        """
        import ctypes
        gpus = tf.config.list_physical_devices("GPU")
        driver = ctypes.CDLL("libcuda.so.1")
        for i, gpu in enumerate(gpus):
            total = ctypes.c_size_t()
            assert driver.cuDeviceTotalMem_v2(ctypes.byref(total), i) == 0
            limit = tf.config.LogicalDeviceConfiguration(memory_limit=total.value // 2**21)
            tf.config.set_logical_device_configuration(gpu, [limit])
        assert driver.cuDeviceTotalMem_v2(ctypes.byref(total), len(gpus)) != 0
        tf.config.set_soft_device_placement(False)
        with tf.device("/gpu:1"):
            print(tf.add(1.0, 2.0).numpy())
        print([d.name for d in tf.config.list_logical_devices()])
        print(tf.config.experimental.get_device_details(gpus[0])["device_name"])
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile("sgd", "mse")
        loss = model.fit(tf.ones([4, 3]), tf.ones([4, 1]), verbose=0).history["loss"]
        print(loss)
        """,
        TF2,
    ),
    "mirrored": (
        V2,
        """
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
            model.compile("sgd", "mse")
        loss = model.fit(tf.ones([8, 3]), tf.ones([8, 1]), batch_size=8, verbose=0)
        print(strategy.num_replicas_in_sync, loss.history["loss"])
        """,
        TF2,
    ),
    "growth_on_one": (
        V2,
        """
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
        """,
        TF2,
    ),
    "visible_order": (
        V2,
        """
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.set_visible_devices([gpus[2], gpus[0]], "GPU")
        """,
        TF2,
    ),
    "estimator": (
        V1,
        """
        def model_fn(features, labels, mode):
            loss = tf.reduce_mean(tf.get_variable("w", []) * features)
            step = tf.train.GradientDescentOptimizer(0.1).minimize(
                loss, tf.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)
        config = tf.estimator.RunConfig(session_config=tf.ConfigProto(
            gpu_options=tf.GPUOptions(allow_growth=True)))
        estimator = tf.estimator.Estimator(model_fn, config=config)
        estimator.train(lambda: tf.data.Dataset.from_tensors(1.0), steps=1)
        """,
        ALL[:2],
    ),
    "server": (
        V1,
        "tf.train.Server.create_local_server(\n  config=tf.ConfigProto("
        "allow_soft_placement=True))\n",
        ALL,
    ),
}
