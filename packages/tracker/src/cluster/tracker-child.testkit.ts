import { startClusterTracker, TestRegistry } from './cluster.testkit.ts'
import type { FromTracker, ToTracker } from './tracker-process.testkit.ts'

/** The program of `startTrackerProcess`: a tracker in a process of its own, which can be stopped. */
const tell = (message: FromTracker) => process.send?.(message)
const registry = new TestRegistry()
const { tracker, registered, logger } = await startClusterTracker(registry)
logger.onLine = ({ text }) => tell({ type: 'line', text })
process.on('message', ({ trackers }: ToTracker) => registry.set(trackers))
process.on('disconnect', () => void tracker.stop())
tell({ type: 'ready', registered })
