import { defineCommand } from '../cli/command.ts'
import { nodeError } from '../errors.ts'
import { runCommand } from './bench-run.ts'
import { benchOptions, runOption, sendOptions } from './bench-options.ts'

export const benchPubsub = defineCommand({
  name: 'bench pubsub',
  describe: 'Put a network under load: all users subscribe, and some or all publish',
  options: { ...benchOptions, ...sendOptions },
  examples: [
    [
      "bench pubsub --clients 50 --streams 10 --aim 'p99<50ms,loss=0'",
      'Fifty users in overlays of five, in a network that the bench starts',
    ],
    [
      'bench pubsub --network net.json --key my.key --clients 100 --report load.html',
      'An existing network, with an HTML report',
    ],
  ],
  run: (args) => runCommand(args, { title: 'pubsub', subscribes: true, publishes: true }),
})

export const benchPub = defineCommand({
  name: 'bench pub',
  describe: 'Only publish; a bench sub elsewhere, with the same --run, receives',
  options: { ...benchOptions, ...sendOptions, ...runOption },
  examples: [
    ['bench pub --network net.json --key my.key --clients 5 --rate 20', 'A hundred messages a second'],
  ],
  run: (args) => runCommand(args, { title: 'pub', subscribes: false, publishes: true, runId: args.run }),
})

export const benchSub = defineCommand({
  name: 'bench sub',
  describe: 'Only subscribe, and measure what a bench pub elsewhere sends',
  options: { ...benchOptions, duration: sendOptions.duration, warmup: sendOptions.warmup, ...runOption },
  examples: [['bench sub --network net.json --key my.key --clients 20 --duration 1m', 'Twenty subscribers']],
  epilogue:
    'Delays are correct only if its clock agrees with the clock of the publishers. Loss counts messages that are missing between received ones.',
  run: async (args) => {
    if (args.network === undefined)
      throw nodeError('USAGE', 'bench sub needs --network: in a network of its own, nobody would publish')
    await runCommand(args, { title: 'sub', subscribes: true, publishes: false, runId: args.run })
  },
})
