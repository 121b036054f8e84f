import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { simError } from '../errors.ts'
import { overAfter } from './over.ts'

/** Processes at once. */
export const maxJobs = 1_000

/**
 * Runs tasks in child processes, each one at a time, and yields the results as they arrive. `file` is a module that calls
 * `serveParent`. Children end when all tasks are done or the iteration ends. Rejects with CHILD_FAILED when one ends before its
 * task does, and with TOO_SLOW when the minutes are over.
 */
export async function* inChildren<Task extends object, Result>(
  file: URL,
  tasks: Iterable<Task>,
  { jobs, minutes }: { readonly jobs: number; readonly minutes: number },
): AsyncGenerator<Result, void> {
  const left = tasks[Symbol.iterator]()
  let done = 0
  const children = Array.from({ length: jobs }, () => fork(file, { execArgv: ['--conditions=runnel-src'] }))
  const working = new Map<ChildProcess, Promise<{ readonly child: ChildProcess; readonly result: Result }>>()
  const give = (child: ChildProcess): void => {
    working.delete(child)
    const next = left.next()
    if (next.done === true) return
    const result = resultOf<Task, Result>(child, next.value)
    working.set(child, result)
    // After the iteration has ended this error has no receiver.
    result.catch(() => {})
  }
  const over = overAfter(minutes, () => `${done} tasks done, ${working.size} under way`)
  try {
    for (const child of children) give(child)
    while (working.size > 0) {
      const { child, result } = await Promise.race([...working.values(), over.promise])
      done++
      give(child)
      yield result
    }
  } finally {
    over.cancel()
    for (const child of children) child.kill()
  }
}

async function resultOf<Task extends object, Result>(
  child: ChildProcess,
  task: Task,
): Promise<{ readonly child: ChildProcess; readonly result: Result }> {
  const ended = new AbortController()
  const { signal } = ended
  child.send(task)
  try {
    const [how, value] = await Promise.race([
      once(child, 'message', { signal }).then(([message]) => ['message', message as unknown] as const),
      once(child, 'exit', { signal }).then(([code]) => ['exit', code as unknown] as const),
    ])
    if (how === 'exit') throw simError('CHILD_FAILED', `${JSON.stringify(task)}: exit code ${value}`)
    return { child, result: value as Result }
  } finally {
    ended.abort()
  }
}

/** In a child: does the parent's tasks until the parent has ended. */
export function serveParent<Task, Result>(work: (task: Task) => Promise<Result> | Result): void {
  process.on('message', (task) => {
    void Promise.resolve(work(task as Task)).then((result) => process.send?.(result))
  })
  process.on('disconnect', () => process.exit())
}
