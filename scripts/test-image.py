#!/usr/bin/env python3
"""Tests the image without docker: runs the steps of the Dockerfile's last stage in an unpacked Debian, and starts the result.

    scripts/test-image.py PROGRAM

PROGRAM is a built keymeter with the dashboard in it (`cargo build --profile dist`). As docker and compose.yaml do it, the
program is PID 1, runs as the image's user, and the root is read-only except /data and /tmp. It must become healthy, serve the
dashboard, answer examples/first-charge.sh with the password that it printed, and stop with 0 at the stop signal, twice: the
second start must find the data of the first.

Needs Linux, root, debootstrap and the network. What it unpacks stays in target/image for the next run.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
DIRECTORY = REPOSITORY / "target" / "image"
PORT = 3987
DEADLINE = 120


def say(text):
    print(f"image: {text}", file=sys.stderr, flush=True)


def last_stage(dockerfile):
    """The instructions of the last stage, as pairs of name and text."""
    text = re.sub(r"^\s*#.*\n", "", dockerfile.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    instructions = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    last = max(at for at, (name, _) in enumerate(instructions) if name == "FROM")
    return instructions[last:]


def build(program):
    """Makes the root of the image. Returns its root, environment, user, working directory, check of health and command."""
    stage = last_stage(REPOSITORY / "Dockerfile")
    distribution = re.fullmatch(r"debian:(\w+)-slim AS runtime", stage[0][1]).group(1)
    base, root = DIRECTORY / distribution, DIRECTORY / "root"
    if not base.exists():
        say(f"unpacking Debian {distribution}")
        partial = DIRECTORY / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", distribution, partial], check=True, stdout=subprocess.DEVNULL)
        partial.rename(base)
    say("running the steps of the Dockerfile")
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(["cp", "-a", base, root], check=True)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    image = {"environment": {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, "user": "0:0"}
    for name, text in stage[1:]:
        if name == "RUN":
            environment = image["environment"] | {"DEBIAN_FRONTEND": "noninteractive"}
            step = ["chroot", root, "/bin/sh", "-c", text]
            ran = subprocess.run(step, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if ran.returncode != 0:
                sys.exit(f"{ran.stdout}image: this step failed with {ran.returncode}: RUN {text}")
        elif name == "COPY":
            source, target = text.split()[1:]
            if not text.startswith("--from=builder ") or Path(source).name != "keymeter":
                sys.exit(f"image: this test does not know COPY {text}")
            shutil.copy(program, root / target.lstrip("/"))
        elif name == "ENV":
            image["environment"].update(pair.split("=", 1) for pair in shlex.split(text))
        elif name in ("WORKDIR", "USER", "STOPSIGNAL"):
            image[name.lower()] = text
        elif name in ("ENTRYPOINT", "CMD"):
            image[name.lower()] = json.loads(text)
        elif name == "HEALTHCHECK":
            image["health"] = json.loads(text.partition("CMD ")[2])
        elif name not in ("VOLUME", "EXPOSE"):
            sys.exit(f"image: this test does not know {name}")
    return image | {"root": root}


def in_image(image, data, command):
    """The command line that runs a command in namespaces of its own, as the image's user, on a read-only root."""
    user, group = image["user"].split(":")
    root, target = shlex.quote(str(image["root"])), shlex.quote(str(data))
    prepare = f"""
        mount --bind {root} {root} && mount --bind {target} {root}/data && mount -t proc proc {root}/proc &&
        mount -t tmpfs tmpfs {root}/tmp && mount --rbind /dev {root}/dev && mount -o remount,ro,bind {root} &&
        exec chroot --userspec={user}:{group} --groups= {root} /bin/sh -c 'cd {image["workdir"]} && exec "$@"' - "$@" """
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", prepare, "-", *command]


def start(image, data, output):
    """Starts the image; what it prints goes into a file."""
    environment = image["environment"] | {"KEYMETER_SERVER__LISTEN": f"127.0.0.1:{PORT}"}
    command = in_image(image, data, image["entrypoint"] + image["cmd"])
    return subprocess.Popen(command, env=environment, stdout=output.open("w"), stderr=subprocess.STDOUT)


def stop(image, process):
    """Sends the stop signal to PID 1 of the image, and expects exit code 0."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.Signals[image["stopsignal"]])
    code = process.wait(DEADLINE)
    if code != 0:
        sys.exit(f"image: it stopped with {code}")


def check(image, process):
    """Expects the check of health to succeed, and the dashboard."""
    inside = ["nsenter", "--target", str(process.pid), "--mount", "chroot", str(image["root"])]
    environment = image["environment"] | {"KEYMETER_SERVER__LISTEN": f"127.0.0.1:{PORT}"}
    end = time.monotonic() + DEADLINE
    while subprocess.run(inside + image["health"], env=environment, capture_output=True).returncode != 0:
        if time.monotonic() > end or process.poll() is not None:
            sys.exit("image: it did not become healthy")
        time.sleep(0.2)
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/", headers={"accept": "text/html"})
    page = urllib.request.urlopen(request).read().decode()
    script = re.search(r'src="(/assets/[^"]+\.js)"', page)
    if not script:
        sys.exit("image: it has no dashboard; build it before the program (scripts/dashboard.sh build)")
    urllib.request.urlopen(f"http://127.0.0.1:{PORT}{script.group(1)}").read()


def first_charge(password):
    environment = os.environ | {"BASE": f"http://127.0.0.1:{PORT}", "ROOT_PASSWORD": password}
    answers = subprocess.run([REPOSITORY / "examples/first-charge.sh"], env=environment, capture_output=True, text=True)
    if answers.returncode != 0 or "token_quota_insufficient" not in answers.stdout:
        sys.exit(f"image: the first charge failed:\n{answers.stdout}{answers.stderr}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        sys.exit("image: needs root and debootstrap (apt-get install debootstrap)")
    image = build(Path(sys.argv[1]))
    directory = Path(tempfile.mkdtemp(prefix="keymeter-image-"))
    data, output = directory / "data", directory / "output"
    # A new volume has the owner and the mode of the image's directory.
    shutil.copytree(image["root"] / "data", data)
    user, group = map(int, image["user"].split(":"))
    os.chown(data, user, group)
    process, password = None, None
    try:
        for run in ["starting it", "starting it again"]:
            say(run)
            process = start(image, data, output)
            check(image, process)
            printed = re.search(r"with the password (\S+)", output.read_text())
            if bool(printed) == bool(password):
                sys.exit("image: only the first start prints a password")
            password = password or printed.group(1)
            first_charge(password)
            stop(image, process)
    except BaseException:
        print(output.read_text() if output.exists() else "", file=sys.stderr)
        raise
    finally:
        if process:
            process.kill()
        shutil.rmtree(directory, ignore_errors=True)
    size = sum(file.lstat().st_size for file in image["root"].rglob("*") if file.is_file() and not file.is_symlink())
    say(f"passed; its files are {size >> 20} MiB")


main()
