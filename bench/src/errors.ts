import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of benchmarks. */
export const benchErrors = {
  INVALID_ARGUMENT: {
    summary: 'Not an argument of this benchmark',
    remedy: 'Correct the option that the message names; --help behind its name lists them.',
  },
  TOO_SLOW: {
    summary: 'The benchmark took longer than it may',
    remedy: 'Give it less to do, or more time with --limit.',
  },
  INCOMPLETE: {
    summary: 'Not everything that was sent arrived',
    remedy: 'Run it again on a machine with less other work; when it stays, messages are lost: report it.',
  },
  CHILD_FAILED: {
    summary: 'A process of the benchmark did not start, or ended too early',
    remedy: 'Read what it printed; many processes and links need many open files: ulimit -n.',
  },
  INTERRUPTED: {
    summary: 'The benchmark was interrupted',
    remedy: 'What it had started has been stopped; run it again.',
  },
} as const satisfies ErrorTable

export const benchError = errorFactory(benchErrors)
