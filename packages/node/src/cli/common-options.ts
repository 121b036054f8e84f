import type { InferredOptionTypes, Options } from 'yargs'
import { logFormats, logLevels } from '../config/log-levels.ts'

/** Options of every command. */
export const globalOptions = {
  'log-level': { choices: logLevels, describe: 'Lowest level of log lines written to stderr' },
  'log-format': {
    choices: logFormats,
    describe: 'Format of log lines. auto: text on a terminal, otherwise JSON',
  },
  json: { type: 'boolean', default: false, describe: 'Print results and errors as JSON' },
} as const satisfies Record<string, Options>

/** Options of commands that use a network. */
export const networkOptions = {
  network: {
    type: 'string',
    describe:
      'Network file, or https://…#0xowner (also RUNNEL_NETWORK). Default: the network of runnel up in this folder',
  },
  key: {
    type: 'string',
    describe: 'Key file (also RUNNEL_KEY, or the key itself in RUNNEL_PRIVATE_KEY)',
  },
} as const satisfies Record<string, Options>

/** Options of commands that act in a network for a user. */
export const userOptions = {
  ...networkOptions,
  as: {
    type: 'string',
    conflicts: 'key',
    describe: 'User to act for: a delegation file, or the key file of the user (also RUNNEL_AS)',
  },
  'reading-key': {
    type: 'string',
    describe: 'With a delegation: reading key file, to decrypt (also RUNNEL_READING_KEY)',
  },
} as const satisfies Record<string, Options>

/** Options of commands that publish or read. */
export const memberOptions = {
  ...userOptions,
  via: {
    type: 'string',
    array: true,
    describe:
      'URL of a node that serves guests: take part through it, without trackers. May be repeated; two are best',
  },
} as const satisfies Record<string, Options>

export type GlobalArguments = InferredOptionTypes<typeof globalOptions>
export type NetworkArguments = InferredOptionTypes<typeof networkOptions>
export type MemberArguments = InferredOptionTypes<typeof memberOptions>
