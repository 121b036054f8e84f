import { isRunnelError } from '@runnel/protocol'
import yargs, { type Argv, type Options } from 'yargs'
import { wordsOf, type Command } from './command.ts'
import { globalOptions } from './common-options.ts'
import { examplesText } from './examples.ts'
import { exitCodesHelp } from './exit-codes.ts'
import { ownVersion } from './own-version.ts'
import { thisProgram, withProgram } from './program-name.ts'
import { needingValues, strings } from './option-words.ts'
import { checkOptions, positionalSyntax, usageError, withHelpOf } from './usage-error.ts'

/** What a group of commands is for, by the words it begins with. */
const groups: Readonly<Record<string, string>> = {
  stream: 'Create, show, share and delete streams',
  resend: 'Print stored messages of a stream',
  reader: 'Show the position of a durable reader, or move it',
  storage: 'Choose which storage nodes keep a stream; back up, export and import',
  gateway: 'Manage access to the gateways of a node: HTTP, WebSocket, MQTT',
  'gateway key': 'Make, list and remove keys for the gateways of a node',
  bench: 'Put a network under load and measure it',
  network: 'Make, change and check a network without a chain',
  key: 'Make and show keys, and let other keys act for yours',
  'reading-key': 'Make, export and renew the keys that decrypt what is encrypted for a user',
  chain: 'Tools for development chains',
  registry: 'Deploy and manage the registries on a chain',
}

/** `-10m` is a time ten minutes ago, and no option. While yargs has it, its sign is one that begins no option. */
const [sign, stands] = ['-', '\u2212']
const time = '(?=\\d+(?:\\.\\d+)?(?:ms|s|m|h|d)$)'
const [signOfTime, standsForSign] = [new RegExp(`^${sign}${time}`), new RegExp(`^${stands}${time}`)]

/** Parses a command line and runs the command it names. Throws USAGE, or whatever the command throws. */
export async function runCommandLine(argv: readonly string[], commands: readonly Command[]): Promise<void> {
  checkOptions(argv, commands)
  const parser = yargs(argv.map((word) => word.replace(signOfTime, stands)))
    .scriptName(thisProgram())
    .version(ownVersion())
    .usage('$0 <command>\n\nRunnel, a decentralized topic publish/subscribe network.')
    .parserConfiguration({ 'camel-case-expansion': false, 'dot-notation': false })
    .updateStrings(strings)
    .options(needingValues(globalOptions))
    .alias({ help: 'h' })
    .wrap(asksForHelp(argv) ? helpWidth() : null)
    .epilogue(exitCodesHelp)
    .exitProcess(false)
    .fail((message, error) => {
      // A message comes from the checks of yargs, an error alone from the command.
      throw message ? usageError(message.replaceAll(stands, sign), argv, commands) : error
    })
    .strict()
  addCommands(parser, commands, [])
  demandOne(parser, thisProgram())
  await parser.parseAsync()
}

/** Columns of a help text. */
function helpWidth(): number {
  return Math.min(110, process.stdout.columns || 110)
}

/** Yargs makes the help of every command that it runs; only the help that is seen need be broken into lines. */
function asksForHelp(argv: readonly string[]): boolean {
  return argv.some((word) => word === '--help' || word === '-h')
}

/** Adds the commands whose words begin with `prefix`, and a group for each first word shared by several. */
function addCommands(parser: Argv, commands: readonly Command[], prefix: readonly string[]): void {
  for (const [word, members] of Map.groupBy(commands, (command) => wordsOf(command)[prefix.length] ?? '')) {
    const path = [...prefix, word]
    const own = members.find((command) => wordsOf(command).length === path.length)
    const inner = members.filter((command) => command !== own)
    const syntax = [word, ...(own ? positionalSyntax(own) : [])].join(' ')
    parser.command(
      syntax,
      own?.describe ?? groups[path.join(' ')] ?? '',
      (nested) => {
        addCommands(nested, inner, path)
        if (own) describeCommand(nested, own)
        else {
          nested.epilogue(exitCodesHelp)
          demandOne(nested, [thisProgram(), ...path].join(' '))
        }
        return nested
      },
      async (args) => (own ? runOwn(own, asTyped(args)) : undefined),
    )
  }
}

async function runOwn(command: Command, args: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    await command.run(args)
  } catch (error) {
    throw isRunnelError(error, 'USAGE') ? withHelpOf(error, command.name) : error
  }
}

function asTyped(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const restored = (value: unknown) =>
    typeof value === 'string' ? value.replace(standsForSign, sign) : value
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(restored) : restored(value),
    ]),
  )
}

function describeCommand(parser: Argv, command: Command): void {
  for (const [name, { describe, choices }] of Object.entries(command.positionals)) {
    parser.positional(name, {
      type: 'string',
      describe: withProgram(describe),
      ...(choices ? { choices } : {}),
    })
  }
  parser.options(describedOptions(command))
  const paragraphs = [
    ...(command.examples.length > 0 ? [examplesText(command, helpWidth())] : []),
    ...(command.epilogue === undefined ? [] : [withProgram(command.epilogue)]),
    exitCodesHelp,
  ]
  parser.epilogue(paragraphs.join('\n\n'))
}

/** They are not global: `tracker status` has none of `tracker`. */
function describedOptions({ options }: Command): Record<string, Options> {
  const described = Object.entries(needingValues(options)).map(
    ([name, { describe, ...option }]): [string, Options] => [
      name,
      { ...option, global: false, ...(describe === undefined ? {} : { describe: withProgram(describe) }) },
    ],
  )
  return Object.fromEntries(described)
}

function demandOne(parser: Argv, line: string): void {
  parser.demandCommand(1, `${line} needs a command`)
}
