import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of experiments on emulated and real networks. */
export const emulationErrors = {
  INVALID_ARGUMENT: {
    summary: 'Not an argument of this experiment',
    remedy: 'Correct the option that the message names. --help lists all options.',
  },
  INVALID_HOSTS: {
    summary: 'Not a file of hosts',
    remedy: 'Correct the field that the message names. emulation/README.md describes all fields.',
  },
  PROCESS_FAILED: {
    summary: 'A process of the experiment did not start, or ended unexpectedly',
    remedy:
      'Read its last lines in the message. STUN and TURN need Debian’s package coturn. Chromium needs many open files (ulimit -n; 64 are too few) and must be where RUNNEL_CHROMIUM says.',
  },
  CONTROL_FAILED: {
    summary: 'A node or tracker did not carry out a control command',
    remedy: 'Check that its control API is enabled, and that the address and the token are correct.',
  },
  NOT_FORMED: {
    summary: 'The overlay was not complete in time',
    remedy: 'The message names nodes that lack neighbours. Read their logs.',
  },
  INTERRUPTED: {
    summary: 'The experiment was interrupted',
    remedy: 'Everything that it started has been stopped. Run it again.',
  },
  TOO_SLOW: {
    summary: 'The experiment took longer than allowed',
    remedy: 'Run it on a machine that is less busy, or run less of it at once.',
  },
  NOTHING_MEASURED: {
    summary: 'An arm ran to its end, but nothing was seen or heard in it',
    remedy:
      'Run it on a machine that is less busy, or measure for longer. Figures of the other arms are printed.',
  },
  MEASUREMENTS_DROPPED: {
    summary: 'Nodes had more messages than they remember for measurements',
    remedy: 'Run it with fewer --nodes, --messages or --repeats: a node remembers 200,000 messages.',
  },
  CORE_FAILED: {
    summary: 'The network emulator CORE is missing, or failed',
    remedy:
      'Install it as emulation/core/README.md says, and name its Python in RUNNEL_CORE_PYTHON. Its output is in the message.',
  },
  PLACE_CANNOT: {
    summary: 'This place cannot do what the experiment needs',
    remedy: 'Choose another with --place: namespaces and core can emulate delay and loss.',
  },
  ROOT_NEEDED: {
    summary: 'Network namespaces need root',
    remedy: 'Run it as root, as with sudo, or in a container as its root.',
  },
  DISPLAY_MISSING: {
    summary: 'There is no display for browsers with windows',
    remedy: "Install Debian's package xvfb, or leave these arms out with --arms.",
  },
  AGAINST_THEORY: {
    summary: 'Pairs of NATs did not connect as theory predicts',
    remedy: 'The table shows how they connected. Run them alone with --pair, on an idle machine.',
  },
} as const satisfies ErrorTable

export const emulationError = errorFactory(emulationErrors)
