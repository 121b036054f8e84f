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
    summary: 'A process of the experiment did not start, or ended by itself',
    remedy: 'Read its last lines in the message.',
  },
  CONTROL_FAILED: {
    summary: 'A node or tracker did not do what it was told',
    remedy: 'Check that it runs with its control API on, that the address is right, and the token.',
  },
  NOT_FORMED: {
    summary: 'The overlay was not complete in time',
    remedy: 'The message names nodes that lack neighbours; look at their logs.',
  },
  INTERRUPTED: {
    summary: 'Somebody ended the experiment',
    remedy: 'Everything that was started has been stopped; run it again.',
  },
  CORE_FAILED: {
    summary: 'The network emulator CORE is not there, or does not do what it should',
    remedy:
      'Install it as emulation/core/README.md says, and name its Python in RUNNEL_CORE_PYTHON; what it says is in the message.',
  },
  PLACE_CANNOT: {
    summary: 'This place cannot do what the experiment needs',
    remedy: 'Choose another with --place: namespaces and core can emulate delay and loss.',
  },
  AGAINST_THEORY: {
    summary: 'Pairs of NATs were not linked as theory has it',
    remedy:
      'The table says how they were; run them alone with --pair, on a machine that has nothing else to do.',
  },
} as const satisfies ErrorTable

export const emulationError = errorFactory(emulationErrors)
