"""A TCP relay that loses packets: it stops forwarding in one direction or both and keeps all connections open.

python relay.py LISTEN_HOST:PORT TARGET_HOST:PORT: reads "up", "down" (the direction to lose, "both") or "none" from
standard input.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path


class Relay:
    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self.passes = {"up": asyncio.Event(), "down": asyncio.Event()}
        self.lose("none")

    def lose(self, which: str) -> None:
        for direction, passes in self.passes.items():
            passes.clear() if which in (direction, "both") else passes.set()

    async def pump(self, direction: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                await self.passes[direction].wait()
                writer.write(data)
                await writer.drain()
            await self.passes[direction].wait()
        writer.close()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The answer to a connection is a packet too.
        await self.passes["up"].wait()
        try:
            there = await asyncio.open_connection(*self.target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self.pump("up", reader, there[1]), self.pump("down", there[0], writer))


async def main(listen: str, target: str) -> None:
    host, port = target.split(":")
    relay = Relay((host, int(port)))
    host, port = listen.split(":")
    server = await asyncio.start_server(relay.accept, host, int(port))
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    print("listens", flush=True)
    while line := await commands.readline():
        relay.lose(line.decode().strip())
        print("done", flush=True)
    server.close()


class RelayProcess:
    """A relay in a process of its own, which ends with the tests."""

    def __init__(self, listen: str, target: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), listen, target],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout and self.process.stdout.readline() == "listens\n"

    def lose(self, which: str) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{which}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
