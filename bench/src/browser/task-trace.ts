/** An event of Chromium's trace format; times in microseconds. */
interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Of the thread's own time, while it had a processor. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/** What the longest task on the main thread of a page took of a processor, by a trace with the category `toplevel`. */
export function longestTaskCpuMs(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] }
  const mainThreads = new Set<string>()
  for (const event of traceEvents) {
    if (event.name === 'thread_name' && event.args?.name === 'CrRendererMain')
      mainThreads.add(threadOf(event))
  }
  let longestUs = 0
  let tasks = 0
  for (const event of traceEvents) {
    if (event.ph !== 'X' || !event.name.endsWith('RunTask') || !mainThreads.has(threadOf(event))) continue
    tasks++
    longestUs = Math.max(longestUs, event.tdur ?? 0)
  }
  if (tasks === 0) throw new Error('the trace has no tasks of a page')
  return Math.round(longestUs / 100) / 10
}

const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`
