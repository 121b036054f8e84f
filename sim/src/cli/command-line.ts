import { constants } from 'node:os'
import yargs, { type CommandModule, type Options } from 'yargs'
import { needingValues, strings, wrongOption } from '../../../packages/node/src/cli/option-words.ts'
import { recordLimits } from '../records/record-limits.ts'

interface About {
  readonly name: string
  /** What a command is called, and what each does. */
  readonly usage: string
  /** What is thrown where the words are wrong. */
  refusal(message: string): Error
}

/** A command line of experiments or benchmarks, each a command whose options are refused where they are wrong, before anything is run. */
export function commandLine(words: readonly string[], { name, usage, refusal }: About) {
  const parser = yargs(words)
    .scriptName(name)
    .usage(`$0 ${usage}`)
    .parserConfiguration({ 'dot-notation': false })
    .updateStrings(strings)
    .demandCommand(1, 'Name one; --help lists them.')
    .strict()
    .fail((message: string | null, error: Error | undefined) => {
      if (error !== undefined && error.name !== 'YError') throw error
      throw refusal((message ?? error?.message ?? '').replace(/\s+/g, ' ').trim())
    })
  return {
    /** `isStrict`: whether options that it does not know are refused. */
    add<Args>(command: CommandModule<object, Args>, isStrict = true): void {
      const options = command.builder as Readonly<Record<string, Options>>
      parser.command({
        ...command,
        builder: (yargs) => yargs.strict(isStrict).options(needingValues(options)),
        handler: async (args) => {
          const hasFolder = 'out' in args && args.out !== undefined
          const wrong =
            wrongOption(words, options) ?? (hasFolder ? tooLongForRecord(args, options) : undefined)
          if (wrong !== undefined) throw refusal(wrong)
          watchOutput(hasFolder)
          await command.handler(args as never)
          // What printing failed of is told a moment later.
          await new Promise(setImmediate)
        },
      })
    },
    /** Runs the command that the words name. */
    async run(): Promise<void> {
      await parser.parseAsync()
    },
  }
}

/** What is wrong where the record, which holds the options, could not be written after all the work. */
function tooLongForRecord(args: object, options: Readonly<Record<string, Options>>): string | undefined {
  const { maxTextChars } = recordLimits
  for (const [name, value] of Object.entries(args))
    if (name in options && name !== 'out' && typeof value === 'string' && value.length > maxTextChars)
      return `--${name} has ${value.length} characters; with --out it is at most ${maxTextChars}, as the record holds it`
  return undefined
}

/** Where nobody reads on (`| head -1`), only what is written to a folder is worth the work. A full disk is an error. */
function watchOutput(hasFolder: boolean): void {
  process.stderr.on('error', () => {})
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    const isUnread = code === 'EPIPE'
    if (!isUnread) process.stderr.write(`standard output: ${message}\n`)
    if (!hasFolder) process.exit(isUnread ? 128 + constants.signals.SIGPIPE : 1)
    if (!isUnread) process.exitCode = 1
  })
}
