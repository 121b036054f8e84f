import { defineCommand } from '../cli/command.ts'
import { runCommand } from '../bench/command.ts'
import { benchOptions, sendOptions } from './bench-options.ts'

export const benchPubsub = defineCommand({
  name: 'bench pubsub',
  describe: 'Load a network: all users subscribe, and some or all publish',
  options: { ...benchOptions, ...sendOptions },
  examples: [
    ["bench pubsub --clients 50 --streams 10 --aim 'p99<50ms,loss=0'", 'Fifty users in overlays of five, in a network of its own'],
    ['bench pubsub --network net.json --key my.key --clients 100 --report load.html', 'A network that runs; a page for a colleague'],
  ],
  run: (args) => runCommand(args, { title: 'pubsub', subscribes: true, publishes: true }),
})
