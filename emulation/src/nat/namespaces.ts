import { spawn, spawnSync, type ChildProcess, type StdioOptions } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { endingWithThis } from '../places/processes/ending-with-this.ts'

const familyName = 'runnel-nat-'
/** Also those of `openVethPair`. */
const ofProcess = /^runnel-(?:nat|veth)-(\d+)-/
const mountedAt = '/run/netns'

/** What runs a command in a namespace. */
export function inNamespace(name: string, command: readonly string[]): [program: string, ...rest: string[]] {
  return ['ip', 'netns', 'exec', name, ...command]
}

/** Of all runs of this process. */
let count = 0

/**
 * Network namespaces of one run, and the processes in them. Names begin with the id of this process: what one that crashed left behind can
 * be told. No two runs of one process have a name in common.
 */
export class Namespaces {
  readonly #names = new Set<string>()
  /** By what was started, in which one. */
  readonly #children = new Map<ChildProcess, string>()

  /** Adds one, with a loopback interface and without IPv6. Gives its name. The first removes what is left of runs that were killed. */
  add(label: string): string {
    if (this.#names.size === 0) removeStaleNamespaces()
    const name = `${familyName}${process.pid}-${++count}-${label}`
    run('ip', ['netns', 'add', name])
    this.#names.add(name)
    this.configure(name, ['link set lo up'])
    this.run(name, 'sysctl', ['-qw', 'net.ipv6.conf.all.disable_ipv6=1', 'net.ipv4.ip_forward=1'])
    return name
  }

  /** Commands of `ip`, one a line, in a namespace. */
  configure(name: string, commands: readonly string[]): void {
    run('ip', ['-n', name, '-batch', '-'], commands.join('\n'))
  }

  /** Runs a program in a namespace to its end. Gives what it printed; throws when it fails. */
  run(name: string, command: string, args: readonly string[], input = ''): string {
    const [program, ...rest] = inNamespace(name, [command, ...args])
    return run(program, rest, input)
  }

  /** Starts a program in a namespace; it is ended with the namespace, or with this process. */
  spawn(name: string, command: string, args: readonly string[], stdio: StdioOptions): ChildProcess {
    const [program, ...rest] = endingWithThis(inNamespace(name, [command, ...args]))
    const child = spawn(program, rest, { stdio })
    this.#children.set(child, name)
    // Not at its close: what it has started itself may hold its streams open.
    child.once('exit', () => this.#children.delete(child))
    return child
  }

  /** Ends the processes in these namespaces, or in all, and removes the namespaces. Idempotent. */
  async remove(names: readonly string[] = [...this.#names]): Promise<void> {
    const left = new Set(names.filter((name) => this.#names.delete(name)))
    const ended: Promise<unknown>[] = []
    // Also those that are not in the namespace yet: what runs a command there has to be loaded first.
    for (const [child, name] of this.#children) {
      if (!left.has(name)) continue
      ended.push(new Promise((resolve) => child.once('exit', resolve)))
      child.kill('SIGKILL')
    }
    await Promise.all(ended)
    for (const name of left) {
      endProcessesIn(name)
      removeNamespace(name)
    }
  }
}

/** Removes what is left of runs whose process has ended. */
function removeStaleNamespaces(): void {
  if (!existsSync(mountedAt)) return
  for (const name of readdirSync(mountedAt)) {
    const pid = ofProcess.exec(name)?.[1]
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue
    try {
      endProcessesIn(name)
      removeNamespace(name)
    } catch (error) {
      // Another run has removed it meanwhile.
      if (existsSync(`${mountedAt}/${name}`)) throw error
    }
  }
}

function endProcessesIn(name: string): void {
  for (const pid of run('ip', ['netns', 'pids', name]).split('\n').filter(Boolean).map(Number)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      // It has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

function removeNamespace(name: string): void {
  run('ip', ['netns', 'del', name])
}

function run(command: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { input, encoding: 'utf8' })
  if (status !== 0) {
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`, { cause: error })
  }
  return stdout
}
