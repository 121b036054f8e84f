import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { RegisteredTracker } from './ports.ts'

export type FromTracker =
  | { readonly type: 'ready'; readonly registered: RegisteredTracker }
  | { readonly type: 'line'; readonly text: string }

export interface ToTracker {
  readonly trackers: readonly RegisteredTracker[]
}

/** A tracker in a process of its own, which can be stopped and goes on later. */
export interface TrackerProcess {
  readonly registered: RegisteredTracker
  /** What the registry lists, as this tracker sees it. */
  setRegistry(trackers: readonly RegisteredTracker[]): void
  /** Resolves when it has logged the text since so many lines. */
  said(text: string, from?: number): Promise<void>
  /** Lines it has logged. */
  readonly lineCount: number
  freeze(): void
  thaw(): void
  /** Kills it. Idempotent. */
  stop(): Promise<void>
}

const program = fileURLToPath(new URL('tracker-child.testkit.ts', import.meta.url))

export async function startTrackerProcess(): Promise<TrackerProcess> {
  const child = fork(program, { execArgv: ['--conditions=runnel-src'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const ready = Promise.withResolvers<RegisteredTracker>()
  const lines: string[] = []
  let waiting: (() => void)[] = []
  child.on('message', (message: FromTracker) => {
    if (message.type === 'ready') return ready.resolve(message.registered)
    lines.push(message.text)
    for (const wake of waiting.splice(0)) wake()
  })
  void exited.then(() => ready.reject(new Error('the tracker ended by itself')))
  return {
    registered: await ready.promise,
    setRegistry: (trackers) => void child.send({ trackers } satisfies ToTracker),
    async said(text, from = 0) {
      while (!lines.slice(from).includes(text)) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    get lineCount() {
      return lines.length
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async stop() {
      waiting = []
      child.kill('SIGKILL')
      await exited
    },
  }
}
