import { hostname } from 'node:os'
import { checkRange } from '../cli/check-range.ts'
import { defineCommand } from '../cli/command.ts'
import { notice } from '../cli/output.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { nodeError } from '../errors.ts'

export const benchWorker = defineCommand({
  name: 'bench worker',
  describe: 'Serve benches on other machines: open the users that they ask for, and measure',
  options: {
    host: { type: 'string', default: '127.0.0.1', describe: 'Address to listen on' },
    port: { type: 'number', default: 7180, describe: 'Port; 0 takes a free one' },
    drivers: {
      ...{ type: 'number', default: 1 },
      describe: 'Benches to serve at once, each with its own users',
    },
  },
  examples: [
    [
      'bench worker',
      'With a token in RUNNEL_BENCH_TOKEN; then: bench pubsub --worker 127.0.0.1:7180 --network net.json',
    ],
  ],
  epilogue:
    'The connection is not encrypted, and it carries the key of the user. Reach other machines through ssh -L or a private network.',
  run: async ({ host, port, drivers, json }) => {
    checkRange('drivers', drivers, 1, 1_000)
    checkRange('port', port, 0, 65_535)
    const token = process.env['RUNNEL_BENCH_TOKEN'] ?? ''
    if (token.length < 16) throw nodeError('BENCH_TOKEN_MISSING')
    const { startWorker } = await import('../bench/worker/worker-server.ts')
    const stop = listenForStop()
    const worker = await startWorker({ host, port, token, name: hostname(), maxDrivers: drivers })
    if (json) process.stdout.write(`${JSON.stringify({ place: worker.place })}\n`)
    else notice(`listening at ${worker.place}, for benches with the token`)
    await stop.stopped
    await worker.stop()
    stop.release()
  },
})
