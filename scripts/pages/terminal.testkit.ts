import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isIn, type Block } from './page.ts'

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

/** A new folder within the repository: `npx runnel` and `@runnel/client` are found there as a reader's project finds them. */
export function newReadersFolder(): string {
  mkdirSync(join(root, '.runnel'), { recursive: true })
  return mkdtempSync(join(root, '.runnel/pages-'))
}

/** At the end of a line: the command runs until it is interrupted, in a terminal of its own. */
const untilInterrupted = /\s+# until Ctrl-C$/

/** What such a command says once others may go on. */
const isUp =
  /subscribed to|listening (?:to|at)|responding in|status at|tracker 0x\S+ at|The network is running|Open http|"delivered": [1-9]/

/** By then such a command is up, or what it said is no text that this knows. */
const upWithinMs = 240_000

/** A reader of a page who pastes its blocks, one after the other, into terminals of one folder. */
export class Terminal {
  output = ''
  readonly #directory: string
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #running: ChildProcess[] = []
  readonly #changed = new EventTarget()

  constructor(directory: string) {
    this.#directory = directory
    const bin = join(directory, '.terminal')
    mkdirSync(bin, { recursive: true })
    // `npx runnel` without the second that npx takes to find the same link.
    const runnel = join(root, 'node_modules/.bin/runnel')
    const shim = `#!/bin/sh\n[ "$1" = runnel ] || exit 127\nshift\nexec "${runnel}" "$@"\n`
    writeFileSync(join(bin, 'npx'), shim)
    chmodSync(join(bin, 'npx'), 0o755)
    // As scripts of a project find it.
    if (!existsSync(join(bin, 'runnel'))) symlinkSync(runnel, join(bin, 'runnel'))
    const clean = Object.entries(process.env).filter(([name]) => !/^(RUNNEL_|NODE_OPTIONS|VITEST)/.test(name))
    this.#env = { ...Object.fromEntries(clean), PATH: `${bin}${delimiter}${process.env['PATH']}` }
  }

  /** Runs a block. Text is what the blocks before it print by then, or soon. */
  async paste({ language, text }: Block): Promise<void> {
    if (language === 'sh') for (const command of commandsIn(text)) await this.run(command)
    if (language === 'ts') await this.#runProgram(text)
    if (language === 'text') await this.#until((output) => isIn(text.trimEnd().split('\n'), output))
    if (language === 'json') writeFileSync(join(this.#directory, 'config.json'), text)
  }

  /** Runs a command to its end, which must be a good one; or until it is up where it runs until Ctrl-C. */
  async run(command: string): Promise<void> {
    if (untilInterrupted.test(command)) return this.#start(command.replace(untilInterrupted, ''))
    const child = this.#spawn(command)
    const code = await new Promise((resolve) => child.once('close', resolve))
    if (code !== 0) throw new Error(`${command}\nended with ${String(code)}:\n${this.output}`)
  }

  /** Presses Ctrl-C in every terminal, the latest first; each program must end well. */
  async interrupt(): Promise<void> {
    for (const child of this.#running.splice(0).reverse()) {
      const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)))
      const isOver = child.exitCode !== null || child.signalCode !== null
      if (!isOver && child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
      const end = isOver ? 'before Ctrl-C' : await ended
      // npm ends by the signal itself.
      if (end !== 0 && end !== 130 && end !== 'SIGINT')
        throw new Error(`${child.spawnargs.at(-1)} ended with ${String(end)}:\n${this.output}`)
    }
  }

  async #start(command: string): Promise<void> {
    const before = this.output.length
    const child = this.#spawn(command)
    this.#running.push(child)
    const failed = new Promise<never>((_, reject) => {
      const fail = (how: string) => reject(new Error(`${command}\n${how}:\n${this.output}`))
      child.once('close', (code) => fail(`ended with ${String(code)}`))
      AbortSignal.timeout(upWithinMs).addEventListener('abort', () => fail('is not up'))
    })
    failed.catch(() => {})
    await Promise.race([this.#until((output) => isUp.test(output.slice(before))), failed])
  }

  async #runProgram(text: string): Promise<void> {
    writeFileSync(join(this.#directory, 'program.mts'), text)
    await this.run(`"${process.execPath}" program.mts`)
  }

  /** In a group of its own, as a terminal has it; what is assigned stays for the next command. */
  #spawn(command: string): ChildProcess {
    const script = `set -a; [ ! -f .terminal/state ] || . .terminal/state; trap 'export -p > .terminal/state' EXIT; set -eo pipefail\n${command}\n`
    const child = spawn('bash', ['-c', script], {
      cwd: this.#directory,
      env: this.#env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const add = (chunk: Buffer) => {
      this.output += chunk.toString()
      this.#changed.dispatchEvent(new Event('output'))
    }
    child.stdout.on('data', add)
    child.stderr.on('data', add)
    return child
  }

  #until(isThere: (output: string) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!isThere(this.output)) return
        this.#changed.removeEventListener('output', look)
        resolve()
      }
      this.#changed.addEventListener('output', look)
      look()
    })
  }
}

/** Lines that run until Ctrl-C alone, the others together: a command may take several lines. */
function commandsIn(text: string): string[] {
  const commands: string[][] = [[]]
  for (const line of text.trimEnd().split('\n')) {
    if (untilInterrupted.test(line)) commands.push([line], [])
    else commands.at(-1)?.push(line)
  }
  return commands.map((lines) => lines.join('\n')).filter((command) => command.trim() !== '')
}
