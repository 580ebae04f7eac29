"""What is between a door and Keymeter, and fails when a test says so."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Relay:
    """Passes connections on to Keymeter. It loses the answers while `loses`, and all while `breaks`; while `passes` is not set,
    it holds the answers back, and then loses them. `reserving` says that a `reserve` was passed on, and `held_back` that an
    answer is held back."""

    def __init__(self, to: int) -> None:
        self.to, self.loses, self.breaks = to, False, False
        self.passes, self.reserving, self.held_back = threading.Event(), threading.Event(), threading.Event()
        self.passes.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            near, _ = self.listener.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                near.close()
                continue
            threading.Thread(target=self.pump, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self.pump, args=(far, near, True), daemon=True).start()

    def pump(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if answers and not self.passes.is_set():
                    self.held_back.set()
                    self.passes.wait()
                    break
                if self.breaks or (answers and self.loses):
                    break
                target.sendall(data)
                if not answers and b"/api/gateway/reserve " in data:
                    self.reserving.set()
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
