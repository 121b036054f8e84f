import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of emulated links and cities. */
export const underlayErrors = {
  COMPILATION_FAILED: {
    summary: 'The link emulator cannot be compiled',
    remedy: 'Install a C compiler with its headers (Debian: gcc and libc6-dev).',
  },
  LINK_EMULATOR_FAILED: {
    summary: 'The link emulator has ended, or refused a command',
    remedy:
      'It needs root for network namespaces, and /dev/net/tun. Its output is in the message. It runs at most 256 hosts.',
  },
  INVALID_CITIES: {
    summary: 'Not a file of cities',
    remedy: 'Write it again: node --conditions=runnel-src emulation/src/underlay/write-cities.ts.',
  },
} as const satisfies ErrorTable

export const underlayError = errorFactory(underlayErrors)
