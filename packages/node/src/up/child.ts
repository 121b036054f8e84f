import { fork } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { programFile } from '../cli/program-file.ts'
import { withoutSettings } from '../config/load-config.ts'
import { nodeError } from '../errors.ts'
import type { NodeSnapshot } from '../snapshot.ts'
import type { ChildMessage, ParentMessage } from './child-protocol.ts'

/** How long a process may take to stop before it is killed. */
const stopGraceMs = 10_000
/** How long a process may take to say that it runs. */
const defaultReadyTimeoutMs = 60_000
/** Log lines kept to explain a death. */
const keptLines = 3

export interface ChildOptions {
  /** For people, such as `node 3`. */
  readonly name: string
  /** Arguments of the `runnel` command. */
  readonly args: readonly string[]
  /** What it writes to stderr goes here. */
  readonly logFile: string
  /** How long it may take to say that it runs, in milliseconds; then it is killed. Default one minute. */
  readonly readyTimeoutMs?: number
  /** Calls starting off: then it is killed. */
  readonly signal?: AbortSignal
  /** Called when it ends without having been stopped. */
  onDeath(child: Child, how: string): void
}

type ReadyMessage = Extract<ChildMessage, { type: 'ready' }>

/** A process of the local network. It ends when this one does: the IPC channel between the two breaks. */
export interface Child {
  readonly name: string
  readonly pid: number | undefined
  /** What it said once it ran. */
  readonly ready: ReadyMessage
  readonly isAlive: boolean
  /** How the node is doing; undefined when it died before it answered. */
  snapshot(): Promise<NodeSnapshot | undefined>
  publish(): void
  /** Stops publishing; resolves to how things stood after the last message. */
  pause(): Promise<NodeSnapshot | undefined>
  /** Idempotent. */
  stop(): Promise<void>
}

/**
 * Starts a command and waits until it says that it runs. Throws UP_START_FAILED with the last line it wrote, or, when it
 * takes too long, with the place of its log, or the signal's reason; it has ended then.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, args, logFile, readyTimeoutMs = defaultReadyTimeoutMs, signal, onDeath } = options
  signal?.throwIfAborted()
  // In a group of its own, so that a Ctrl-C reaches this process alone, which then stops all in order.
  // It starts the very commands that a user would.
  const process = fork(programFile, [...args], {
    detached: true,
    // Whoever starts a network may have the key of a user in the shell: the nodes are not that user.
    env: withoutSettings(globalThis.process.env),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const lastLines = keepLog(process.stderr, logFile)
  const answers = new Map<number, (snapshot: NodeSnapshot | undefined) => void>()
  const ready = Promise.withResolvers<ReadyMessage>()
  const exited = Promise.withResolvers<string>()
  let isAlive = true
  let isStopping = false
  let isLate = false
  let lastRequest = 0

  process.on('message', (message: ChildMessage) => {
    if (message.type === 'ready') return ready.resolve(message)
    answers.get(message.request)?.(message.snapshot)
    answers.delete(message.request)
  })
  process.on('error', (error) => exited.resolve(error.message))
  process.on('close', (code, signal) => exited.resolve(signal ? `signal ${signal}` : `exit code ${code}`))
  void exited.promise.then((how) => {
    isAlive = false
    for (const resolve of answers.values()) resolve(undefined)
    answers.clear()
    if (signal?.aborted) return ready.reject(signal.reason)
    const reason = isLate ? `not ready within ${readyTimeoutMs} ms; its log: ${logFile}` : lastLines().at(-1)
    ready.reject(nodeError('UP_START_FAILED', `${name}: ${reason ?? how}`))
  })
  const readyTimer = setTimeout(() => {
    isLate = true
    process.kill('SIGKILL')
  }, readyTimeoutMs)
  const callOff = () => void process.kill('SIGKILL')
  signal?.addEventListener('abort', callOff)

  const send = (message: ParentMessage) => {
    if (process.connected) process.send(message, () => {})
  }
  const ask = (type: 'snapshot' | 'pause') => {
    if (!isAlive) return Promise.resolve(undefined)
    const request = ++lastRequest
    const answer = Promise.withResolvers<NodeSnapshot | undefined>()
    answers.set(request, answer.resolve)
    send({ type, request })
    return answer.promise
  }
  const stop = async () => {
    isStopping = true
    if (!isAlive) return
    const timer = setTimeout(() => process.kill('SIGKILL'), stopGraceMs)
    process.kill('SIGTERM')
    await exited.promise
    clearTimeout(timer)
  }
  const child: Child = {
    name,
    pid: process.pid,
    ready: await ready.promise.finally(() => {
      clearTimeout(readyTimer)
      signal?.removeEventListener('abort', callOff)
    }),
    get isAlive() {
      return isAlive
    },
    snapshot: () => ask('snapshot'),
    publish: () => send({ type: 'publish' }),
    pause: () => ask('pause'),
    stop,
  }
  void exited.promise.then((how) => {
    if (!isStopping) onDeath(child, [how, ...lastLines()].join('; '))
  })
  return child
}

/** Copies log lines to a file and remembers the last ones. */
function keepLog(stream: NodeJS.ReadableStream | null, file: string): () => readonly string[] {
  const last: string[] = []
  if (!stream) return () => last
  stream.pipe(createWriteStream(file, { mode: 0o600 }))
  createInterface({ input: stream }).on('line', (line) => {
    last.push(line.replace(/^runnel: /, ''))
    if (last.length > keptLines) last.shift()
  })
  return () => last
}
