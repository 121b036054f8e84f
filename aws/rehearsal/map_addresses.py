"""The command for `--address-map`: looks machines up in what the supervisor wrote. `python map_addresses.py places.json <machines`"""

from __future__ import annotations

import json
import sys
from pathlib import Path

if __name__ == "__main__":
    places = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    machines = json.load(sys.stdin)
    print(
        json.dumps({machine["id"]: places[machine["id"]] for machine in machines if machine["id"] in places})
    )
