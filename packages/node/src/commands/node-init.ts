import { existsSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { thisProgram } from '../cli/program-name.ts'
import { shellWord } from '../cli/shell-word.ts'
import { defaultConfigFile, parseConfig } from '../config/load-config.ts'
import type { BrokerConfigInput } from '../config/schema.ts'
import { nodeError } from '../errors.ts'
import { createKeyFile } from '../keys/key-file.ts'

interface Answers {
  readonly network: string
  readonly key: string
  readonly 'websocket-port': number
  readonly 'http-port': number
}

export const nodeInit = defineCommand({
  name: 'node init',
  describe: 'Write a configuration file for a broker node, and a key if there is none',
  options: {
    out: {
      type: 'string',
      requiresArg: true,
      default: defaultConfigFile,
      describe: 'Configuration file to write',
    },
    force: { type: 'boolean', default: false, describe: 'Replace the configuration file if there is one' },
    yes: {
      type: 'boolean',
      alias: 'y',
      default: false,
      describe: 'Ask nothing: take the flags, else the defaults',
    },
    network: { type: 'string', requiresArg: true, default: 'network.json', describe: 'Network file' },
    key: {
      type: 'string',
      requiresArg: true,
      default: 'node.key',
      describe: 'Key file; made if there is none',
    },
    'websocket-port': { type: 'number', requiresArg: true, default: 7170, describe: 'Port for other nodes' },
    'http-port': {
      type: 'number',
      requiresArg: true,
      default: 7171,
      describe: 'Port for health, metrics and status',
    },
  },
  examples: [
    ['node init', 'Asks, then writes runnel.json'],
    ['node init --yes --network .runnel/up/network.json', 'Asks nothing'],
  ],
  run: async ({ out, force, yes, json, ...flags }) => {
    if (existsSync(out) && !force) throw nodeError('FILE_EXISTS', out)
    if (!yes && !process.stdin.isTTY)
      throw nodeError('USAGE', 'nobody to ask: standard input is no terminal; give --yes')
    const answers = yes ? flags : await ask(flags)
    const config: BrokerConfigInput = {
      network: answers.network,
      key: answers.key,
      websocket: { port: answers['websocket-port'] },
      http: { port: answers['http-port'] },
    }
    parseConfig(config)
    const madeKey = existsSync(answers.key) ? undefined : await createKeyFile(answers.key)
    writeFileSync(out, `${JSON.stringify(config, undefined, 2)}\n`)
    printResult({ file: out, key: answers.key, nodeId: madeKey?.nodeId }, json, [
      ...(madeKey ? [`wrote ${answers.key}: node ${madeKey.nodeId}`] : []),
      `wrote ${out}; start the node with: ${thisProgram()} node${out === defaultConfigFile ? '' : ` --config ${shellWord(resolve(out))}`}`,
    ])
  },
})

async function ask(defaults: Answers): Promise<Answers> {
  const { confirm, input, number } = await import('@inquirer/prompts')
  const network = await input({ message: 'Network file', default: defaults.network })
  const key = await input({ message: 'Key file (made if there is none)', default: defaults.key })
  const askPort = async (message: string, preset: number) =>
    (await number({ message, default: preset, min: 0, max: 65_535 })) ?? preset
  const websocketPort = await askPort('WebSocket port', defaults['websocket-port'])
  const httpPort = await askPort('HTTP port', defaults['http-port'])
  if (!(await confirm({ message: 'Write it?' }))) throw nodeError('INTERRUPTED', 'nothing was written')
  return { network, key, 'websocket-port': websocketPort, 'http-port': httpPort }
}
