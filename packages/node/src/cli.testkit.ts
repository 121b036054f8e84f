import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The command as a user runs it; it needs a build (`npx tsc -b`). */
export const program = realpathSync(fileURLToPath(new URL('../bin/runnel.js', import.meta.url)))

/** A command that runs. */
export interface RunningCommand {
  readonly process: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves once the text has been written to stdout or stderr; rejects when the command ends without it. */
  said(text: string | RegExp): Promise<void>
  readonly ended: Promise<CommandResult>
}

export interface CommandResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Written to its standard input, which then ends. Undefined: it ends at once. */
  readonly input?: string | Uint8Array
  /** Size of the terminal, in characters; default: none, as `script` makes it. */
  readonly terminal?: { readonly rows: number; readonly columns: number }
}

const running = new Set<ChildProcess>()

/** Starts `runnel` with these arguments in a directory of its own. */
export function startRunnel(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  const { input = '' } = options
  const started = start(process.execPath, [program, ...args], options)
  started.process.stdin?.end(input)
  return started
}

/**
 * Starts `runnel` at a terminal that `script` makes (util-linux). What the terminal shows is its standard output, and what is written
 * to its standard input is typed there.
 */
export function startAtTerminal(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  const { terminal } = options
  const words = [process.execPath, program, ...args].map((word) => `'${word}'`).join(' ')
  const command = terminal ? `stty rows ${terminal.rows} cols ${terminal.columns} && ${words}` : words
  return start('script', ['--quiet', '--return', '--command', command, '/dev/null'], options)
}

function start(file: string, args: readonly string[], options: CommandOptions): RunningCommand {
  const { cwd = newDirectory(), env = {} } = options
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('RUNNEL_'))
  const child = spawn(file, args, { cwd, env: { ...Object.fromEntries(clean), ...env } })
  running.add(child)
  let stdout = ''
  let stderr = ''
  const listeners = new Set<() => void>()
  const grow = (add: (text: string) => void) => (text: string) => {
    add(text)
    for (const listener of listeners) listener()
  }
  child.stdout.setEncoding('utf8').on(
    'data',
    grow((text) => (stdout += text)),
  )
  child.stderr.setEncoding('utf8').on(
    'data',
    grow((text) => (stderr += text)),
  )
  // A command that refuses its arguments ends before it reads.
  child.stdin.on('error', () => {})
  const ended = new Promise<CommandResult>((resolve) => {
    child.on('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal, stdout, stderr })
    })
  })
  const said = (text: string | RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        const all = `${stdout}\n${stderr}`
        if (!(typeof text === 'string' ? all.includes(text) : text.test(all))) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
      void ended.then(() => reject(new Error(`ended without saying ${String(text)}: ${stderr}`)))
    })
  return { process: child, stdout: () => stdout, stderr: () => stderr, said, ended }
}

/** Runs `runnel` to its end. */
export function runRunnel(args: readonly string[], options?: CommandOptions): Promise<CommandResult> {
  return startRunnel(args, options).ended
}

/** Interrupts what still runs, and waits for its end. */
export async function stopAll(): Promise<void> {
  const ends = [...running].map((child) => new Promise((resolve) => child.once('close', resolve)))
  for (const child of running) child.kill('SIGTERM')
  await Promise.all(ends)
}

/** The arguments of the printed command that begins with these words: it names the program as tests start it. */
export function printedCommand(output: string, start: string): string[] {
  const line = output.split('\n').find((text) => text.includes(`node ${program} ${start}`)) ?? ''
  return line.split(`${program} `)[1]?.split(' ') ?? []
}

export function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'runnel-cli-'))
}

/** Lines of stderr. */
export function errorLines({ stderr }: CommandResult): string[] {
  return stderr.split('\n').filter((line) => line !== '')
}
