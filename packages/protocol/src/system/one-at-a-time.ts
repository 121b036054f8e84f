/**
 * Does one piece of work at a time: asked for while it is being done, however often, it is done once more afterwards. What is
 * returned resolves when the work was done that began at this call or later, and rejects when that failed.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const runNext = (): Promise<void> => {
    next = undefined
    return run()
  }
  const run = (): Promise<void> => {
    if (running !== undefined) return (next ??= running.then(runNext, runNext))
    running = work().finally(() => (running = undefined))
    return running
  }
  return run
}
