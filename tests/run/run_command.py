"""kftc run from outside: its exit codes, what it prints, what it leaves. Arguments: kftc, kft-rank, source folder."""
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

KFTC, RANK, SOURCE = (os.path.abspath(path) for path in sys.argv[1:4])
DIGITS = os.path.join(SOURCE, "examples/digits/digits.kft")
READY = 'touch "$KFT_RUN_DIR/ready-$OMPI_COMM_WORLD_RANK"\n'


def environment_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


class RunCommand(unittest.TestCase):
    def setUp(self):
        self.started = []
        self.folder = tempfile.mkdtemp(prefix="kft-run-")
        self.run_dir = os.path.join(self.folder, "run")
        self.environment = dict(os.environ, TERM="xterm")
        self.environment.pop("KFT_RANK", None)

    def tearDown(self):
        for process in self.started:  # those that a failed test left
            process.kill()
            process.communicate()
        self.assertEqual(self.wait_for(lambda: not self.processes()), True, self.processes())
        shutil.rmtree(self.folder, ignore_errors=True)

    def script(self, body):
        path = os.path.join(self.folder, "rank.sh")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + body)
        os.chmod(path, 0o755)
        self.environment["KFT_RANK"] = path

    def arguments(self, *more, file=DIGITS):
        return [KFTC, "run", file, "--run-dir", self.run_dir, "--oversubscribe", "--allow-root", "--bind", "none", *more]

    def run_it(self, *more, file=DIGITS):
        return subprocess.run(self.arguments(*more, file=file), cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60)

    def start(self, *more):
        process = subprocess.Popen(self.arguments(*more), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def wait_for(self, condition, seconds=30):
        end = time.time() + seconds
        while time.time() < end:
            if condition():
                return True
            time.sleep(0.02)
        return False

    def ready(self, ranks=2):
        self.assertTrue(self.wait_for(lambda: all(os.path.exists(f"{self.run_dir}/ready-{rank}") for rank in range(ranks))))

    def processes(self):
        marker = b"KFT_RUN_DIR=" + self.run_dir.encode()
        return [pid for pid in os.listdir("/proc") if pid.isdigit() and marker in environment_of(pid)]

    def json(self, name):
        with open(os.path.join(self.run_dir, name)) as file:
            return json.load(file)

    def lines(self, name):
        with open(os.path.join(self.run_dir, name)) as file:
            return [json.loads(line) for line in file]

    def test_digits_train_and_everything_is_left_behind(self):
        self.environment["KFT_RANK"] = RANK
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("finished in", done.stdout)
        self.assertIn("export/model.safetensors", done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        for line in done.stdout.splitlines():
            if "run/export" not in line and self.run_dir not in line:
                self.assertLessEqual(len(line), 80, line)
        status = self.json("status.json")
        self.assertEqual((status["state"], status["exit"], status["percent"]), ("finished", 0, 100.0))
        self.assertGreaterEqual(status["metrics"]["test_accuracy"], 0.96)
        self.assertGreater(status["firstStepSeconds"], 0)
        self.assertEqual(self.json("env.json")["plan"], status["plan"])
        self.assertEqual([entry["event"] for entry in self.lines("events.jsonl") if entry["event"] in ("prepared", "started", "ended")], ["prepared", "started", "ended"])
        for name in ("lock", "job.kft", "resolved.json", "plan.json", "metrics.jsonl", "logs/attempt-1/rank-0001.err", "logs/attempt-1/launcher.log", "export/model.safetensors"):
            self.assertTrue(os.path.exists(os.path.join(self.run_dir, name)), name)
        with open(DIGITS) as ours, open(os.path.join(self.run_dir, "job.kft")) as frozen:
            self.assertEqual(ours.read(), frozen.read())

    def test_events_for_programs(self):
        self.environment["KFT_RANK"] = RANK
        done = self.run_it("--json", "--set", "epochs=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = [json.loads(line)["event"] for line in done.stdout.splitlines()]
        self.assertEqual(events[0], "run")
        self.assertEqual(events[-1], "finished")
        self.assertIn("step", events)

    def test_first_failing_rank_decides(self):
        self.script('if [ $OMPI_COMM_WORLD_RANK = 1 ]; then echo "it broke" >&2; exit 3; fi; sleep 60')
        done = self.run_it()
        self.assertEqual(done.returncode, 3)
        self.assertIn("rank 1 exited with code 3 (first of 2)", done.stderr)
        self.assertIn("it broke", done.stderr)
        self.assertIn("none left", done.stderr)
        self.assertEqual(self.json("status.json")["state"], "failed")

    def test_ctrl_c_asks_for_the_end_of_the_step(self):
        self.script("trap 'exit 75' TERM\n" + READY + "while :; do sleep 0.05; done")
        process = self.start()
        self.ready()
        self.assertTrue(self.wait_for(lambda: self.json("status.json")["state"] == "running"))
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75)
        self.assertIn("stop requested", output)
        self.assertIn("exit status 75", output)
        self.assertEqual(self.json("status.json")["state"], "stopped")

    def test_a_second_ctrl_c_does_not_wait(self):
        self.script("trap '' TERM INT\n" + READY + "while :; do sleep 0.05; done")
        process = self.start()
        self.ready()
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)

    def test_killing_a_rank(self):
        self.script(READY + "sleep 60")
        process = self.start()
        self.ready()
        started = [entry for entry in self.lines("logs/attempt-1/ranks.jsonl") if entry["event"] == "started"]
        os.kill(next(entry["pid"] for entry in started if entry["rank"] == 0), signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)
        self.assertIn("rank 0 was killed by SIGKILL", errors)

    def test_killing_mpirun(self):
        self.script(READY + "sleep 60")
        process = self.start()
        self.ready()
        os.kill(next(entry["mpirun"] for entry in self.lines("events.jsonl") if "mpirun" in entry), signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 76)
        self.assertIn("mpirun was killed by SIGKILL", errors)

    def test_killing_kftc_leaves_nothing(self):
        self.script(READY + "sleep 60 & wait")
        process = self.start()
        self.ready()
        before = [name for name in os.listdir("/dev/shm") if name.startswith(f"kft-{process.pid}-")]
        self.assertEqual(len(before), 1)
        process.kill()
        process.communicate()
        self.assertTrue(self.wait_for(lambda: not self.processes()))
        self.assertTrue(self.wait_for(lambda: not os.path.exists(self.run_dir + "/tmp")))
        self.assertFalse(os.path.exists("/dev/shm/" + before[0]))

    def test_a_terminal_gets_a_live_block_that_goes_away(self):
        self.environment["KFT_RANK"] = RANK
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(KFTC, self.arguments("--set", "epochs=1000"), self.environment)
        output = b""
        while select.select([terminal], [], [], 30)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            output += data
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        text = output.decode()
        self.assertIn("eta", text)
        self.assertIn("\x1b[1A", text)
        # The last thing drawn over the block is its removal; below it stands the summary.
        self.assertGreater(text.rfind("\x1b[J"), text.rfind("ctrl-c stops"))
        self.assertLess(text.rfind("\x1b[J"), text.rfind("finished in"))

    def test_refusals_name_the_reason(self):
        self.environment["KFT_RANK"] = "/nonexistent/kft-rank"
        done = self.run_it()
        self.assertEqual(done.returncode, 69)
        self.assertIn("KFT6203", done.stderr)
        self.assertIn("/nonexistent/kft-rank", done.stderr)
        self.assertFalse(os.path.exists(self.run_dir))
        self.script("exit 0")
        core = min(os.sched_getaffinity(0))
        done = subprocess.run([KFTC, "run", DIGITS, "--run-dir", self.run_dir, "--allow-root"], env=self.environment, cwd=self.folder,
                              capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        self.assertEqual(done.returncode, 69)
        self.assertIn("2 ranks need 2 cores; this run may use 1 core", done.stderr)
        self.assertIn("--oversubscribe", done.stderr)
        done = self.run_it("--bogus")
        self.assertEqual(done.returncode, 64)
        done = self.run_it("--job", "other")
        self.assertEqual(done.returncode, 64)
        done = self.run_it(file="nothing.kft")
        self.assertEqual(done.returncode, 66)
        done = self.run_it(file=os.path.join(SOURCE, "examples/jax/linear.kft"))
        self.assertEqual(done.returncode, 65)
        self.assertIn("KFT6201", done.stderr)

    def test_a_stop_at_any_moment_of_the_start_is_no_failure(self):
        self.environment["KFT_RANK"] = RANK
        for number, delay in enumerate((0.02, 0.05, 0.08, 0.11, 0.15, 0.2)):
            self.run_dir = os.path.join(self.folder, f"run-{number}")
            process = self.start("--set", "epochs=1000")
            self.assertTrue(self.wait_for(lambda: os.path.exists(self.run_dir + "/status.json")))
            time.sleep(delay)
            process.send_signal(signal.SIGTERM)
            output, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 75, output + errors)
            self.assertEqual(self.json("status.json")["state"], "stopped")
            self.assertFalse(self.processes())

    def test_signals_at_the_end_do_not_change_the_exit_code(self):
        self.script("trap 'exit 75' TERM\n" + READY + "while :; do sleep 0.05; done")
        process = self.start()
        self.ready()
        process.send_signal(signal.SIGTERM)
        # Until it is gone: also while it says how the run ended.
        self.assertTrue(self.wait_for(lambda: self.json("status.json")["state"] == "stopped"))
        while process.poll() is None:
            process.send_signal(signal.SIGTERM)
            time.sleep(0.001)
        process.communicate()
        self.assertIn(process.returncode, (75, 128 + signal.SIGTERM))
        self.assertEqual(process.returncode, self.json("status.json")["exit"])

    def test_nohup_outlives_its_terminal(self):
        self.environment["KFT_RANK"] = RANK
        process = subprocess.Popen(self.arguments("--set", "epochs=20"), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.started.append(process)
        self.assertTrue(self.wait_for(lambda: os.path.exists(self.run_dir + "/status.json")))
        process.send_signal(signal.SIGHUP)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)

    def test_killing_kftc_before_there_are_ranks_leaves_nothing(self):
        # An mpirun that takes its time.
        slow = os.path.join(self.folder, "mpirun")
        with open(slow, "w") as file:
            file.write("#!/bin/sh\nsleep 60\n")
        os.chmod(slow, 0o755)
        self.script("exit 0")
        self.environment["PATH"] = self.folder + ":" + self.environment["PATH"]
        process = self.start()
        self.assertTrue(self.wait_for(lambda: os.path.exists(self.run_dir + "/events.jsonl") and any("mpirun" in entry for entry in self.lines("events.jsonl"))))
        process.kill()
        process.communicate()
        self.assertTrue(self.wait_for(lambda: not self.processes()))
        self.assertTrue(self.wait_for(lambda: not os.path.exists(self.run_dir + "/tmp")))
        self.assertTrue(self.wait_for(lambda: not [name for name in os.listdir("/dev/shm") if name.startswith(f"kft-{process.pid}-")]))

    def test_closed_and_gone_outputs(self):
        self.environment["KFT_RANK"] = RANK

        def close_all():
            for number in (0, 1, 2):
                os.close(number)

        done = subprocess.run(self.arguments("--set", "epochs=2"), cwd=self.folder, env=self.environment, timeout=60, preexec_fn=close_all)
        self.assertEqual(done.returncode, 0)
        with open(self.run_dir + "/lock") as file:  # what is printed must not end up in the file that took the number
            self.assertEqual(len(file.read().splitlines()), 1)
        self.run_dir += "-2"
        process = self.start("--set", "epochs=2")
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0, process.stderr.read())
        process.stdout = None

    def test_files_that_may_not_grow(self):
        self.environment["KFT_RANK"] = RANK
        done = subprocess.run(self.arguments(), cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)))
        self.assertEqual(done.returncode, 74)
        self.assertIn("File too large", done.stderr)

    def test_the_run_directory_goes_away(self):
        self.script(READY + "sleep 60")
        process = self.start()
        self.ready()
        shutil.rmtree(self.run_dir)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 74)
        self.assertIn("was removed while the run was going on", errors)

    def test_programs_that_train_nothing_do_not_finish(self):
        self.script("exit 0")
        done = self.run_it()
        self.assertEqual(done.returncode, 76)
        self.assertIn("rank.sh the engine?", done.stderr)

    def test_one_of_the_ranks_says_why_all_failed(self):
        # The silent one is first.
        self.script('if [ $OMPI_COMM_WORLD_RANK = 0 ]; then echo "the reason" >&2; ' + READY + "sleep 0.05; else while [ ! -e $KFT_RUN_DIR/ready-0 ]; do sleep 0.01; done; fi; exit 65")
        done = self.run_it()
        self.assertEqual(done.returncode, 65)
        self.assertIn("the reason", done.stderr)

    def numpy(self, name, kind, shape, values):
        head = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        head += b" " * (63 - (len(head) + 10) % 64) + b"\n"
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(values)}{ {'f4': 'f', 'i8': 'q'}[kind] }", *values))

    def numpy_job(self, arguments, more="", epochs=1):
        self.numpy("x.npy", "f4", "(4000, 4)", [i % 7 for i in range(16000)])
        self.numpy("y.npy", "i8", "(4000,)", [i % 3 for i in range(4000)])
        path = os.path.join(self.folder, "npy.kft")
        with open(path, "w") as file:
            file.write(f"""edition = 1
import std.datasets
import std.nn
import std.runtimes
import std.trainers
trainer t extends trainers.native {{ loss = "cross_entropy", optimizer = nn.sgd(lr = 0.01), batch = 4, epochs = {epochs} }}
job npy {{
  dataset {{ source = "./x.npy", format = datasets.npy({arguments}), {more} }}
  model {{ input = [4], layers = [nn.dense(3)] }}
  trainer = trainer.t
  runtime = runtimes.mpi
  nodes = 2
}}
""")
        return path

    def test_data_cut_short_under_the_ranks(self):
        self.environment["KFT_RANK"] = RANK
        file = self.numpy_job('labels = "./y.npy"', epochs=1000000)
        process = subprocess.Popen(self.arguments(file=file), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        self.assertTrue(self.wait_for(lambda: os.path.exists(self.run_dir + "/metrics.jsonl") and os.path.getsize(self.run_dir + "/metrics.jsonl") > 1000, 30))
        os.truncate(os.path.join(self.folder, "x.npy"), 100)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 65, errors)
        self.assertIn("x.npy: the file was cut short", errors)

    def test_numpy_test_file(self):
        self.environment["KFT_RANK"] = RANK
        file = self.numpy_job('labels = "./y.npy", test_labels = "./ty.npy"', 'test = "./tx.npy"')
        self.numpy("tx.npy", "f4", "(3, 4)", list(range(12)))
        self.numpy("ty.npy", "i8", "(3,)", [0, 1, 2])
        done = self.run_it(file=file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("on 3 rows", done.stdout)
        done = self.run_it("--dry-run", file=self.numpy_job('labels = "./y.npy"', 'test = "./tx.npy"'))
        self.assertEqual(done.returncode, 65)
        self.assertIn("`test_labels`", done.stderr)
        done = self.run_it("--dry-run", file=self.numpy_job('labels = "./y.npy", test_labels = "./ty.npy"'))
        self.assertEqual(done.returncode, 65)
        self.assertIn("no `test` file", done.stderr)

    def test_a_pipe_is_no_data_file(self):
        file = self.numpy_job('labels = "./y.npy"')
        os.remove(os.path.join(self.folder, "x.npy"))
        os.mkfifo(os.path.join(self.folder, "x.npy"))
        done = self.run_it(file=file)
        self.assertEqual(done.returncode, 65)
        self.assertIn("not a regular file", done.stderr)

    def test_a_run_directory_that_cannot_be_used(self):
        self.script("exit 0")
        os.mkdir(self.run_dir)
        with open(os.path.join(self.run_dir, "precious"), "w") as file:
            file.write("x")
        done = self.run_it()
        self.assertEqual(done.returncode, 73)
        self.assertIn("KFT6207", done.stderr)
        self.assertIn("not empty", done.stderr)
        self.run_dir = "/proc/kft"
        done = self.run_it()
        self.assertEqual(done.returncode, 73)

    def test_a_dry_run_starts_nothing(self):
        self.script("exit 9")
        done = self.run_it("--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(re.search(r"dense\(128\)\s+\[128\]", done.stdout), done.stdout)
        self.assertFalse(os.path.exists(self.run_dir))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
