import { defineCommand } from '../cli/command.ts'
import { nodeError } from '../errors.ts'
import { rampKinds } from '../bench/core/ramp.ts'
import { runCommand } from './bench-run.ts'
import { mediaFlows } from '../bench/core/media-flows.ts'
import { benchOptions, sendOptions } from './bench-options.ts'

export const benchJoin = defineCommand({
  name: 'bench join',
  describe: 'Measure how long users take to join, at a given rate',
  options: benchOptions,
  examples: [
    [
      "bench join --clients 100 --connrate 50 --aim 'join<2s'",
      'Fifty a second, each with a neighbour within 2 s',
    ],
  ],
  run: (args) => runCommand(args, { title: 'join', subscribes: true, publishes: false }),
})

export const benchResend = defineCommand({
  name: 'bench resend',
  describe: 'Measure how long users take to read history from storage nodes',
  options: {
    ...benchOptions,
    users: {
      ...benchOptions.users,
      choices: ['light'],
      describe: 'Kind of user: only light ones read history',
    },
    messages: {
      type: 'number',
      default: 1_000,
      describe: 'Stored messages that each user reads',
    },
    size: sendOptions.size,
  },
  examples: [
    ['bench resend --clients 20 --messages 10000', 'Twenty new users read ten thousand messages each'],
  ],
  epilogue: 'The delay is the time to the first message, the time to join is the time to the last.',
  run: async (args) => {
    const { messages: history } = args
    if (!Number.isInteger(history) || history < 2 || history > 10_000)
      throw nodeError('USAGE', '--messages takes a whole number from 2 to 10000')
    await runCommand(args, { title: 'resend', subscribes: false, publishes: false, history })
  },
})

export const benchRooms = defineCommand({
  name: 'bench rooms',
  describe: 'Run sessions of a few users who all send as much as audio and video need',
  options: {
    ...benchOptions,
    duration: sendOptions.duration,
    warmup: sendOptions.warmup,
    room: { type: 'number', default: 5, describe: 'Users of a session' },
    media: { choices: ['both', 'sound', 'picture'], default: 'both', describe: 'What each user sends' },
  },
  examples: [
    ["bench rooms --clients 10 --room 5 --aim 'p99<150ms,loss<1%,join<10s'", 'Two sessions of five'],
  ],
  epilogue:
    'Their messages are urgent, like real audio and video: late ones are dropped. Nothing is encoded or decoded.',
  run: async (args) => {
    const { media, room } = args
    const flows = media === 'both' ? Object.values(mediaFlows) : [mediaFlows[media]]
    await runCommand(args, { title: 'rooms', subscribes: true, publishes: true, flows, room })
  },
})

export const benchFind = defineCommand({
  name: 'bench find',
  describe: 'Increase the load until an aim fails, and report the limit',
  options: {
    ...benchOptions,
    ...sendOptions,
    ramp: {
      choices: rampKinds,
      default: 'clients',
      describe: 'What to increase: users, or the rate of each publisher',
    },
    most: {
      type: 'number',
      describe:
        'Largest load to try. Default: 1000; with --network, as many users as a stream’s partitions allow',
    },
    steps: { type: 'number', default: 10, describe: 'How many loads to try' },
    room: { type: 'number', describe: 'Users per overlay, instead of --streams' },
  },
  examples: [
    ["bench find --clients 10 --room 5 --aim 'p99<50ms,loss=0'", 'How many users in overlays of five'],
    [
      'bench find --ramp rate --clients 8 --publishers 1',
      'How many messages a second one publisher can send',
    ],
  ],
  epilogue:
    'Default aim: p99<100ms,loss=0. If a load fails while the generator is saturated, the generator was the limit.',
  run: async (args) => {
    const { findCommand } = await import('../bench/run/find-command.ts')
    const { ramp, most, steps, room } = args
    await findCommand(args, { ramp, most, steps, room })
  },
})
