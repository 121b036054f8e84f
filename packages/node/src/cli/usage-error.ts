import { RunnelError } from '@runnel/protocol'
import { nodeError } from '../errors.ts'
import { wordsOf, type Command } from './command.ts'
import { globalOptions } from './common-options.ts'
import { nearest } from './nearest.ts'
import { wrongOption } from './option-words.ts'
import { thisProgram } from './program-name.ts'

/** What yargs found wrong, in plain words, with what was probably meant and where the help is. */
export function usageError(message: string, argv: readonly string[], commands: readonly Command[]) {
  const command = commandOf(argv, commands)
  const tooFew = /^Not enough non-option arguments: got (\d+)/.exec(message)
  const text =
    tooFew && command ? missingWords(command, Number(tooFew[1])) : (noSuchCommand(argv, commands) ?? message)
  const line = [text, ...hintsFor(message, argv, commands)].join('; ').replace(/\s+/g, ' ').trim()
  return withHelpOf(nodeError('USAGE', line), command?.name ?? groupOf(argv, commands))
}

/** Throws USAGE where yargs would take an option for something else. */
export function checkOptions(argv: readonly string[], commands: readonly Command[]): void {
  // Options may stand before the command.
  const at = argv.findIndex((_, at) => commandOf(argv.slice(at), commands) !== undefined)
  const fromCommand = argv.slice(Math.max(0, at))
  const command = commandOf(fromCommand, commands)
  const wrong = wrongOption(argv, { ...globalOptions, ...command?.options })
  if (wrong !== undefined) throw usageError(wrong, fromCommand, commands)
}

/** A USAGE error that says where the help of the command is. */
export function withHelpOf(error: RunnelError, name: string | undefined): RunnelError {
  const words = [thisProgram(), ...(name ? [name] : []), '--help']
  return new RunnelError(error.code, error.message, `See: ${words.join(' ')}.`, { cause: error.cause })
}

/** Placeholders of a command's positional arguments, such as `<stream>` or `[prefix]`. */
export function positionalSyntax(command: Command): string[] {
  return Object.entries(command.positionals).map(([name, { required, many }]) => {
    const inner = many ? `${name}..` : name
    return required ? `<${inner}>` : `[${inner}]`
  })
}

function missingWords(command: Command, given: number): string {
  const required = Object.entries(command.positionals).filter(([, { required }]) => required)
  const missing = required.slice(given).map(([name, { describe }]) => `${name} (${describe})`)
  return `${command.name} ${positionalSyntax(command).join(' ')}: missing ${missing.join(', ')}`
}

/** What yargs calls an unknown argument, where a command should stand. */
function noSuchCommand(argv: readonly string[], commands: readonly Command[]): string | undefined {
  if (commandOf(argv, commands)) return undefined
  const words = argv.slice(0, groupOf(argv, commands) === undefined ? 1 : 2)
  const last = words.at(-1)
  const isCommand = last === undefined || last.startsWith('-') || last === groupOf(argv, commands)
  return isCommand ? undefined : `there is no command ${words.join(' ')}`
}

function hintsFor(message: string, argv: readonly string[], commands: readonly Command[]): string[] {
  const unknown = /^Unknown (?:argument|command)s?: (.+)$/.exec(message)?.[1]?.split(', ') ?? []
  const words = new Set(commands.flatMap(wordsOf))
  const options = new Set(['help', 'version', ...Object.keys(globalOptions)])
  for (const command of commands) Object.keys(command.options).forEach((name) => options.add(name))
  return unknown.flatMap((word) => {
    const isOption = argv.some(
      (argument) => argument.replace(/^--?(no-)?/, '').split('=')[0] === word && argument.startsWith('-'),
    )
    const meant = nearest(word, isOption ? options : words)
    return meant === undefined || meant === word ? [] : [`did you mean ${isOption ? '--' : ''}${meant}?`]
  })
}

/** The command whose words an argument list begins with, the one with most words. */
function commandOf(argv: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands
    .filter((command) => wordsOf(command).every((word, index) => argv[index] === word))
    .toSorted((left, right) => wordsOf(right).length - wordsOf(left).length)[0]
}

/** The first word, where it is that of several commands. */
function groupOf([first]: readonly string[], commands: readonly Command[]): string | undefined {
  return commands.some((command) => wordsOf(command)[0] === first) ? first : undefined
}
