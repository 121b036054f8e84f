import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of benchmarks. */
export const benchErrors = {
  INVALID_ARGUMENT: {
    summary: 'Not an argument of this benchmark',
    remedy:
      'Correct the option that the message names. --help after the name of the benchmark lists its options.',
  },
  TOO_SLOW: {
    summary: 'The benchmark took longer than allowed',
    remedy: 'Give it less to do, or more time with --limit.',
  },
  INCOMPLETE: {
    summary: 'Not everything that was sent arrived',
    remedy:
      'Run it again on a machine that is less busy. If it happens again, messages are lost: please report it.',
  },
  CHILD_FAILED: {
    summary: 'A process of the benchmark did not start, or ended too early',
    remedy: 'Read what it printed. Many processes and links need many open files: see ulimit -n.',
  },
  INTERRUPTED: {
    summary: 'The benchmark was interrupted',
    remedy: 'Everything that it started has been stopped. Run it again.',
  },
} as const satisfies ErrorTable

export const benchError = errorFactory(benchErrors)
