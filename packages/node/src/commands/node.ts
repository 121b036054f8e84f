import type { Options } from 'yargs'
import { defineCommand } from '../cli/command.ts'
import { globalOptions } from '../cli/common-options.ts'
import { notice } from '../cli/output.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { loadConfig } from '../config/load-config.ts'
import { settings, type Setting } from '../config/settings.ts'
import { startBroker } from '../node.ts'
import { isSupervised } from '../up/child-protocol.ts'
import { superviseBroker } from '../up/supervised-broker.ts'

/** Every setting is a flag; defaults come in later, so that a flag not given does not hide the file. */
const settingOptions = Object.fromEntries(
  settings.filter(({ flag }) => !(flag in globalOptions)).map((setting) => [setting.flag, optionOf(setting)]),
)

export const node = defineCommand({
  name: 'node',
  describe: 'Run a broker node',
  options: {
    config: {
      type: 'string',
      requiresArg: true,
      describe: 'Configuration file; default: runnel.json if there is one',
    },
    ...settingOptions,
  },
  examples: [
    [
      'node --network .runnel/up/network.json --websocket-port 0 --http-port 0',
      'One more node for a local network',
    ],
    ['node --config node.json', 'As node.json says'],
  ],
  epilogue:
    'Flags win over environment variables (RUNNEL_HTTP_PORT for --http-port), these over the configuration file, this over the defaults. SIGINT or SIGTERM stops it, a second one at once.',
  run: async (args) => {
    const stop = listenForStop()
    const { config: file, ...flags } = args as { config?: string } & Record<string, unknown>
    const config = loadConfig({ file, flags, env: process.env, directory: process.cwd() })
    const broker = await startBroker(config)
    if (isSupervised()) superviseBroker(broker)
    else
      notice(
        `node ${broker.nodeId}${broker.httpUrl === undefined ? '' : `, status at ${broker.httpUrl}/v1/status`}`,
      )
    await stop.stopped
    await broker.stop()
    stop.release()
  },
})

function optionOf({ type, choices, description, defaultValue }: Setting): Options {
  const describe =
    defaultValue === undefined ? description : `${description} Default: ${JSON.stringify(defaultValue)}.`
  const list = type === 'list' ? { array: true } : {}
  const value = type === 'list' || type === 'json' ? 'string' : type
  return {
    type: value,
    describe,
    ...list,
    ...(type === 'boolean' ? {} : { requiresArg: true }),
    ...(choices ? { choices } : {}),
  }
}
