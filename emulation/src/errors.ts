import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of experiments on emulated and real networks. */
export const emulationErrors = {
  INVALID_ARGUMENT: {
    summary: 'Not an argument of this experiment',
    remedy: 'Correct the option that the message names; --help lists them.',
  },
  INVALID_HOSTS: {
    summary: 'Not a file of hosts',
    remedy: 'Correct the field that the message names; emulation/README.md describes all of them.',
  },
  PROCESS_FAILED: {
    summary: 'A process of the experiment did not start, or ended unexpectedly',
    remedy:
      'Read its last lines in the message. Chromium needs many open files (ulimit -n; 64 are too few), and to be where RUNNEL_CHROMIUM says.',
  },
  CONTROL_FAILED: {
    summary: 'A node or tracker did not carry out a control command',
    remedy: 'Check that it runs with its control API enabled, and that the address and the token are right.',
  },
  NOT_FORMED: {
    summary: 'The overlay was not complete in time',
    remedy: 'The message names nodes that lack neighbours; look at their logs.',
  },
  INTERRUPTED: {
    summary: 'The experiment was interrupted',
    remedy: 'Everything that was started has been stopped; run it again.',
  },
  TOO_SLOW: {
    summary: 'The experiment took longer than it may',
    remedy: 'Run it on a machine with less other work, or less of it at once.',
  },
  NOTHING_MEASURED: {
    summary: 'An arm ran to its end, and nothing was seen or heard in it',
    remedy:
      'Run it on a machine with less other work, or measure for longer; figures of the other arms are printed.',
  },
  CORE_FAILED: {
    summary: 'The network emulator CORE is missing, or failed',
    remedy:
      'Install it as emulation/core/README.md says, and name its Python in RUNNEL_CORE_PYTHON; its output is in the message.',
  },
  PLACE_CANNOT: {
    summary: 'This place cannot do what the experiment needs',
    remedy: 'Choose another with --place: namespaces and core can emulate delay and loss.',
  },
  DISPLAY_MISSING: {
    summary: 'There is no display for browsers with windows',
    remedy: "Install Debian's package xvfb, or leave these arms out with --arms.",
  },
  AGAINST_THEORY: {
    summary: 'Pairs of NATs were not linked as theory predicts',
    remedy: 'The table shows how they were; run them alone with --pair, on an idle machine.',
  },
} as const satisfies ErrorTable

export const emulationError = errorFactory(emulationErrors)
