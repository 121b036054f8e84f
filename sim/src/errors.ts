import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of the simulator. */
export const simErrors = {
  INVALID_ARGUMENT: {
    summary: 'Not an argument of this experiment',
    remedy: 'Correct the option that the message names. --help lists all options.',
  },
  UNREADABLE_LATENCIES: {
    summary: 'The file of latencies cannot be read',
    remedy: 'Name a readable file, or a table that --help lists.',
  },
  INVALID_LATENCIES: {
    summary: 'Not a table of latencies',
    remedy:
      'The file needs "regions", a list of names, and "oneWayMs", a row for each region with the milliseconds to each region.',
  },
  UNREADABLE_RECORD: {
    summary: 'The record of an experiment cannot be read',
    remedy: 'Name a readable file that --out DIR wrote.',
  },
  INVALID_RECORD: {
    summary: 'Not the record of an experiment',
    remedy: 'Correct the field that the message names. docs/records.md describes all fields.',
  },
  TOO_SLOW: {
    summary: 'A run took longer than allowed',
    remedy: 'Run a smaller one, or give it more --minutes.',
  },
  OUT_UNWRITABLE: {
    summary: 'The output cannot be written',
    remedy: 'Name another folder with --out, in which you may write, on a disk with room.',
  },
  CHILD_FAILED: {
    summary: 'A child process ended before its task was done',
    remedy: 'Run the task that the message names alone, with one job, and read what it prints.',
  },
} as const satisfies ErrorTable

export const simError = errorFactory(simErrors)
