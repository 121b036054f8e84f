"""`python3 -m runnel_aws`."""

import sys

from .cli import main

sys.exit(main())
