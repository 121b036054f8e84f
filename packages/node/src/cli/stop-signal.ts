/** How a process is asked to end. */
export interface StopSignal {
  /** Aborted at the first of `stopSignals`; a second one, not in the same moment, ends the process at once. */
  readonly signal: AbortSignal
  /** Resolves when asked to stop. */
  readonly stopped: Promise<void>
  /** Stops listening to the signals. */
  release(): void
}

/** The last comes when a terminal is closed. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Exit code of a process ended by a second signal: 128 + SIGINT, as shells count. */
const forcedExitCode = 130
/** Signals this close are one: a group gets it from the system, and again from each earlier process that passes signals on. */
export const sameMomentMs = 500

/** Listens for signals to stop, and, where another process supervises this one, for the end of that. */
export function listenForStop(): StopSignal {
  const controller = new AbortController()
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  let signalledMs = Infinity
  const onSignal = () => {
    const nowMs = performance.now()
    if (nowMs - signalledMs >= sameMomentMs) process.exit(forcedExitCode)
    signalledMs = Math.min(signalledMs, nowMs)
    controller.abort()
    resolve()
  }
  const onDisconnect = () => {
    controller.abort()
    resolve()
  }
  for (const name of stopSignals) process.on(name, onSignal)
  process.on('disconnect', onDisconnect)
  // The supervisor may have gone before anybody listened.
  if (process.connected === false) onDisconnect()
  const release = () => {
    for (const name of stopSignals) process.off(name, onSignal)
    process.off('disconnect', onDisconnect)
  }
  return { signal: controller.signal, stopped, release }
}
