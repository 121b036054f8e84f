import type { InferredOptionTypes, Options } from 'yargs'
import { floodKinds, linkKinds, userKinds } from '../bench/core/plan.ts'
import { userOptions } from '../cli/common-options.ts'

const number = { type: 'number' } as const
const text = { type: 'string' } as const

/** Options of all benches that open users. */
export const benchOptions = {
  ...userOptions,
  network: {
    ...text,
    describe:
      'Network to put under load: a network file, or https://…#0xowner. Default: the bench starts its own',
  },
  stream: {
    ...text,
    describe:
      'With --network: stream whose partitions are used. Default: /bench of the user, created if missing',
  },
  gateway: {
    ...text,
    describe: 'With --network and --users http or mqtt: URL of a gateway (key in RUNNEL_GATEWAY_KEY)',
  },
  users: { choices: userKinds, default: 'light', describe: 'Kind of user' },
  clients: { ...number, default: 10, describe: 'Number of users' },
  streams: {
    ...number,
    default: 1,
    describe: 'Overlays that the users are spread over: partitions of a stream',
  },
  links: { choices: linkKinds, default: 'websocket', describe: 'How light users link to each other' },
  floods: {
    choices: floodKinds,
    default: 'thin',
    describe:
      'Whether light users send digests instead of copies to neighbours that they reach late, or copies to all',
  },
  connrate: { ...number, default: 20, describe: 'Users that start to join per second' },
  encrypt: {
    type: 'boolean',
    default: false,
    describe: 'Without --network: encrypt; all users of the bench act for one user of the network',
  },
  nodes: {
    ...number,
    describe:
      'Without --network: number of nodes, each a process in all overlays. Default: 2, or 0 with more than ten overlays',
  },
  degree: { ...number, default: 4, describe: 'Neighbours of a node in a settled overlay' },
  settle: { ...text, default: '30s', describe: 'How long the overlays may take to settle' },
  aim: { ...text, describe: 'Aims for exit code 0, such as p99<50ms,loss=0' },
  csv: { ...text, describe: 'CSV file to write, with a line for each second' },
  report: { ...text, describe: 'HTML file to write, with the report' },
  prometheus: {
    ...number,
    describe: 'Port on 127.0.0.1 that serves figures to Prometheus during the run',
  },
  worker: {
    ...text,
    array: true,
    describe:
      'host:port of a bench worker that opens the users instead of this process; may be repeated (token in RUNNEL_BENCH_TOKEN)',
  },
  processes: { ...number, default: 1, describe: 'Generator processes on this machine; one per core is best' },
  listen: {
    ...text,
    default: '127.0.0.1',
    describe: 'Address that the users of a generator listen on for other users',
  },
} as const satisfies Record<string, Options>

/** Options of benches that send. */
export const sendOptions = {
  rate: { ...number, default: 1, describe: 'Messages per second of each publisher' },
  size: { ...number, default: 100, describe: 'Bytes of a message; at least 24' },
  duration: { ...text, default: '10s', describe: 'How long to measure' },
  warmup: { ...text, default: '2s', describe: 'How long to send before measuring' },
  publishers: { ...number, describe: 'How many users of each overlay publish. Default: all' },
} as const satisfies Record<string, Options>

/** Of benches whose publishers and subscribers are in different processes. */
export const runOption = {
  run: { ...number, default: 1, describe: 'Number of the run: only messages of the same run count' },
} as const satisfies Record<string, Options>

export type BenchArguments = InferredOptionTypes<typeof benchOptions>
export type SendArguments = InferredOptionTypes<typeof sendOptions>
