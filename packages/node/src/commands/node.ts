import { systemClock } from '@runnel/protocol/system'
import { defineCommand } from '../cli/command.ts'
import { notice } from '../cli/output.ts'
import { configOfFlags, settingOptions } from '../cli/setting-options.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { startBroker } from '../node.ts'
import { isSupervised } from '../up/child-protocol.ts'
import { superviseBroker } from '../up/supervised-broker.ts'
import { growYoungGenerationWhileBusy } from '../heap-growth.ts'

export const node = defineCommand({
  name: 'node',
  describe: 'Run a node as a daemon, with plugins: storage, gateways, metrics',
  options: settingOptions,
  examples: [
    [
      'node --network .runnel/up/network.json --websocket-port 0 --http-port 0',
      'One more node for a local network',
    ],
    ['node --config node.json', 'Uses node.json'],
  ],
  epilogue:
    'Flags override environment variables (RUNNEL_HTTP_PORT for --http-port), which override the configuration file, which overrides the defaults. SIGINT, SIGTERM or SIGHUP stops the node; a second signal stops it at once.',
  run: async (args) => {
    const stop = listenForStop()
    const broker = await startBroker(configOfFlags(args))
    // Verified batches are more garbage than a small one takes without cost.
    const endGrowth = growYoungGenerationWhileBusy(systemClock)
    if (isSupervised()) superviseBroker(broker)
    else
      notice(
        `node ${broker.nodeId}${broker.httpUrl === undefined ? '' : `, status at ${broker.httpUrl}/v1/status`}`,
      )
    await stop.stopped
    endGrowth()
    await broker.stop()
    stop.release()
  },
})
