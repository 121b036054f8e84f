import type { InferredOptionTypes, Options } from 'yargs'
import { floodKinds, linkKinds, userKinds } from '../bench/core/plan.ts'
import { userOptions } from '../cli/common-options.ts'

const number = { type: 'number', requiresArg: true } as const
const text = { type: 'string', requiresArg: true } as const

/** Options of all benches that open users. */
export const benchOptions = {
  ...userOptions,
  network: {
    ...text,
    describe: 'Network file, or https://…#0xowner, to put under load; default: one that it starts itself',
  },
  stream: {
    ...text,
    describe:
      'With --network: a stream whose partitions are used; default /bench of the user, made if missing',
  },
  gateway: {
    ...text,
    describe: 'With --network and users http or mqtt: URL of a gateway (key in RUNNEL_GATEWAY_KEY)',
  },
  users: { choices: userKinds, default: 'light', describe: 'Kind of user' },
  clients: { ...number, default: 10, describe: 'Users' },
  streams: { ...number, default: 1, describe: 'Overlays the users are spread over: partitions of a stream' },
  links: { choices: linkKinds, default: 'websocket', describe: 'How light users link to each other' },
  floods: {
    choices: floodKinds,
    default: 'thin',
    describe: 'Whether light users send late neighbours digests in place of copies, or all of them copies',
  },
  connrate: { ...number, default: 20, describe: 'Users that begin to join in a second' },
  encrypt: {
    type: 'boolean',
    default: false,
    describe: 'With a network of its own: encrypt, with one user that all act for',
  },
  nodes: {
    ...number,
    describe:
      'Broker nodes of a network of its own, each a process in all overlays; default 2, with more than ten overlays 0',
  },
  degree: { ...number, default: 4, describe: 'Neighbours of a node in a settled overlay' },
  settle: { ...text, default: '30s', describe: 'How long the overlays may take to settle' },
  aim: { ...text, describe: 'What has to be met for exit code 0, such as p99<50ms,loss=0' },
  csv: { ...text, describe: 'File that gets a line for each second' },
  report: { ...text, describe: 'File that gets the report as one HTML page' },
  prometheus: {
    ...number,
    describe: 'Port of 127.0.0.1 that serves the figures to Prometheus while it runs',
  },
  worker: {
    ...text,
    array: true,
    describe:
      'host:port of a bench worker to use in place of this process; repeated (token in RUNNEL_BENCH_TOKEN)',
  },
  processes: { ...number, default: 1, describe: 'Generator processes on this machine, best one a core' },
  listen: {
    ...text,
    default: '127.0.0.1',
    describe: 'Address of each generator that its users listen on for others',
  },
} as const satisfies Record<string, Options>

/** Options of benches that send. */
export const sendOptions = {
  rate: { ...number, default: 1, describe: 'Messages a second of each publisher' },
  size: { ...number, default: 100, describe: 'Bytes of a message; at least 24' },
  duration: { ...text, default: '10s', describe: 'How long it measures' },
  warmup: { ...text, default: '2s', describe: 'How long it sends before that' },
  publishers: { ...number, describe: 'How many users of an overlay publish; default: all' },
} as const satisfies Record<string, Options>

/** Of benches whose publishers and subscribers are in different processes. */
export const runOption = {
  run: { ...number, default: 1, describe: 'Which messages count: those of the same run' },
} as const satisfies Record<string, Options>

export type BenchArguments = InferredOptionTypes<typeof benchOptions>
export type SendArguments = InferredOptionTypes<typeof sendOptions>
