import type { InferredOptionTypes, Options } from 'yargs'
import type { GlobalArguments } from './common-options.ts'

export type OptionTable = Readonly<Record<string, Options>>

/** One positional argument. All after the first optional one must be optional, too. */
export interface Positional {
  readonly describe: string
  readonly required?: boolean
  /** Takes all that follow; only the last can. */
  readonly many?: boolean
  readonly choices?: readonly string[]
}

/** A command as its file declares it. */
export interface Command {
  /** Its words, such as `stream create`. */
  readonly name: string
  readonly describe: string
  readonly positionals: Readonly<Record<string, Positional>>
  readonly options: OptionTable
  /** Command lines, without the leading `runnel`, and what they do. */
  readonly examples: readonly (readonly [string, string])[]
  readonly epilogue: string | undefined
  /** Runs to the end; a rejection becomes one line on stderr and an exit code. */
  run(args: Readonly<Record<string, unknown>>): Promise<void>
}

type PositionalTypes<P extends Readonly<Record<string, Positional>>> = {
  [K in keyof P]: P[K] extends { many: true }
    ? string[]
    : P[K] extends { required: true }
      ? string
      : string | undefined
}

/** Declares a command with its arguments typed. */
export function defineCommand<
  const O extends OptionTable,
  const P extends Readonly<Record<string, Positional>> = Record<never, never>,
>(command: {
  readonly name: string
  readonly describe: string
  readonly positionals?: P
  readonly options?: O
  readonly examples?: readonly (readonly [string, string])[]
  readonly epilogue?: string
  run(args: InferredOptionTypes<O> & PositionalTypes<P> & GlobalArguments): Promise<void>
}): Command {
  return {
    ...command,
    positionals: command.positionals ?? {},
    options: command.options ?? {},
    examples: command.examples ?? [],
    epilogue: command.epilogue,
    run: (args) => command.run(args as unknown as Parameters<typeof command.run>[0]),
  }
}

/** The words of a command's name. */
export function wordsOf({ name }: Pick<Command, 'name'>): string[] {
  return name.split(' ')
}
