"""Run a loopback vendor by hand: ``python -m tests.vendors openai --port 8099``."""

from __future__ import annotations

import argparse
import threading
from dataclasses import replace

from tests.vendors.default_replies import Answer, obedient_reply
from tests.vendors.replies import Asked, Reply
from tests.vendors.server import LoopbackVendor
from tests.vendors.wires import WIRES


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.vendors", epilog=obedient_reply.__doc__)
    parser.add_argument("vendor", choices=sorted(WIRES), nargs="?", default="openai")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two words")
    chosen = parser.parse_args()

    def reply(asked: Asked) -> Answer:
        answer = obedient_reply(asked)
        return replace(answer, pause=answer.pause or chosen.pause) if isinstance(answer, Reply) else answer

    with LoopbackVendor(chosen.vendor, port=chosen.port) as vendor:
        vendor.reply_with(reply)
        print(" ".join(f"{name}={value}" for name, value in vendor.environ.items()), flush=True)
        print(f"otto chat -m {vendor.model} --api-base {vendor.api_base}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
