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
  describe: 'Write a configuration file for a node, and a key if there is none',
  options: {
    out: {
      type: 'string',
      default: defaultConfigFile,
      describe: 'Configuration file to write',
    },
    force: { type: 'boolean', default: false, describe: 'Replace an existing configuration file' },
    yes: {
      type: 'boolean',
      alias: 'y',
      default: false,
      describe: 'Ask no questions: use the flags, otherwise the defaults',
    },
    network: {
      type: 'string',
      describe: `Network file. Default: ${networkFiles.join(', otherwise ')}`,
    },
    key: {
      type: 'string',
      default: 'node.key',
      describe: 'Key file; created if it does not exist',
    },
    stream: {
      type: 'string',
      array: true,
      default: [] as string[],
      describe: 'Stream to take part in: 0xowner/path, 0xowner/prefix/* or 0xowner/*; may be repeated',
    },
    host: {
      type: 'string',
      default: '127.0.0.1',
      describe: 'Address to listen on for other nodes; 0.0.0.0 for all addresses of this machine',
    },
    'public-url': {
      type: 'string',
      default: '',
      defaultDescription: 'its own address',
      describe: 'URL by which others reach it, such as wss://node.example',
    },
    'websocket-port': { type: 'number', default: 7170, describe: 'Port for other nodes' },
    'http-port': {
      type: 'number',
      default: 7171,
      describe: 'Port for health, metrics and status',
    },
    storage: {
      type: 'boolean',
      default: false,
      describe: 'Store the streams that the registry assigns to this node',
    },
  },
  examples: [
    ['node init', 'On a terminal: asks questions, then writes runnel.json'],
    [
      "node init --network .runnel/up/network.json --stream '0xowner/*'",
      'Without a terminal: asks no questions',
    ],
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
      notice(`${answers.network} does not exist yet: put the network file there before you start the node`)
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
