import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineCommand } from '../cli/command.ts'
import { notice, printResult } from '../cli/output.ts'
import { thisProgram } from '../cli/program-name.ts'
import { shellWord } from '../cli/shell-word.ts'
import { writeTextFile } from '../cli/write-file.ts'
import { defaultConfigFile, parseConfig } from '../config/load-config.ts'
import { nodeError } from '../errors.ts'
import { createKeyFile } from '../keys/key-file.ts'
import { askNodeAnswers } from './node-answers.ts'
import { configOfAnswers, type NodeAnswers } from './node-config.ts'

/** Where `runnel up` writes its network. */
const networkFiles = ['network.json', '.runnel/up/network.json']

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
      describe: 'Ask nothing, also on a terminal: take the flags, else the defaults',
    },
    network: {
      type: 'string',
      requiresArg: true,
      describe: `Network file; default: ${networkFiles.join(', else ')}`,
    },
    key: {
      type: 'string',
      requiresArg: true,
      default: 'node.key',
      describe: 'Key file; made if there is none',
    },
    stream: {
      type: 'string',
      array: true,
      requiresArg: true,
      default: [] as string[],
      describe: 'Stream to take part in: 0xowner/path, 0xowner/prefix/* or 0xowner/*; may be repeated',
    },
    host: {
      type: 'string',
      requiresArg: true,
      default: '127.0.0.1',
      describe: 'Address to listen on for other nodes; 0.0.0.0 for all of this machine',
    },
    'public-url': {
      type: 'string',
      requiresArg: true,
      default: '',
      defaultDescription: 'its own address',
      describe: 'How others reach it, such as wss://node.example',
    },
    'websocket-port': { type: 'number', requiresArg: true, default: 7170, describe: 'Port for other nodes' },
    'http-port': {
      type: 'number',
      requiresArg: true,
      default: 7171,
      describe: 'Port for health, metrics and status',
    },
    storage: {
      type: 'boolean',
      default: false,
      describe: 'Keep the streams that the registry assigns to this node',
    },
  },
  examples: [
    ['node init', 'Asks on a terminal, then writes runnel.json'],
    ["node init --network .runnel/up/network.json --stream '0xowner/*'", 'Asks nothing without a terminal'],
  ],
  run: async ({ out, force, yes, json, ...flags }) => {
    if (existsSync(out) && !force) throw nodeError('FILE_EXISTS', out)
    const network = flags.network ?? networkFiles.find((file) => existsSync(file)) ?? 'network.json'
    const given: NodeAnswers = {
      ...{ network, key: flags.key, streams: flags.stream, host: flags.host, publicUrl: flags['public-url'] },
      ...{ websocketPort: flags['websocket-port'], httpPort: flags['http-port'], storage: flags.storage },
    }
    const answers = yes || !process.stdin.isTTY ? given : await askNodeAnswers(given)
    const config = configOfAnswers(answers)
    parseConfig(config)
    const madeKey = existsSync(answers.key) ? undefined : await createKeyFile(answers.key)
    writeTextFile(out, `${JSON.stringify(config, undefined, 2)}\n`)
    if (!existsSync(answers.network))
      notice(`there is no ${answers.network} yet: put the network file there before you start the node`)
    const next = [
      `${thisProgram()} node`,
      ...(out === defaultConfigFile ? [] : [`--config ${shellWord(resolve(out))}`]),
      // The variable goes before the file.
      ...(process.env['RUNNEL_KEY'] ? [`--key ${shellWord(answers.key)}`] : []),
    ].join(' ')
    printResult({ file: out, key: answers.key, nodeId: madeKey?.nodeId, next }, json, [
      ...(madeKey ? [`wrote ${answers.key}: node ${madeKey.nodeId}`] : []),
      `wrote ${out}; start the node with: ${next}`,
    ])
  },
})
