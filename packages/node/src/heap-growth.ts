import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import type { Cancel, Clock } from '@runnel/protocol'

/**
 * Has V8's young generation stay as large as it is. In a process that has just begun that is a megabyte or a few; by itself it grows to 128 MB with
 * the first burst of work, and stays there. Who keeps little of what comes in, as a tracker, pays no more for collections this way. On the command
 * line V8 takes no factor below 2.
 */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** A process that was at work for more than this share of the time is busy. */
const busyShare = 0.2
/** How often a node looks whether it is busy, and its young generation may grow. */
const lookMs = 10_000

/**
 * Has it grow again, by V8's own factor, but only while the process is busy: then a small one would cost. Otherwise whatever survives makes it grow,
 * within half an hour to all that it may have, of a node that hardly does anything. Until the returned function is called.
 * @param utilization the share of the time since it was last called for which the process was at work
 */
export function growYoungGenerationWhileBusy(
  clock: Pick<Clock, 'schedule'>,
  utilization: () => number = ownUtilization(),
): () => void {
  const look = (): Cancel =>
    clock.schedule(lookMs, () => {
      setFlagsFromString(`--semi-space-growth-factor=${utilization() > busyShare ? 2 : 1}`)
      cancel = look()
    })
  let cancel = look()
  return () => cancel()
}

function ownUtilization(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}

/**
 * Has V8 collect the old generation when it has grown by a fifth. By itself it lets a heap that fills quickly grow to a multiple, and a process that is
 * never idle, as a tracker whose nodes ping it, keeps that.
 */
export function keepOldGenerationTight(): void {
  setFlagsFromString('--heap-growing-percent=20')
}
