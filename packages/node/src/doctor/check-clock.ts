import { clockToleranceMs, clockWrongMs, middleOffsetMs, offsetText } from '../clock/clock-offset.ts'
import { nodeErrors } from '../errors.ts'
import { failure, ok, warning, type Finding } from './finding.ts'

/** Compares this machine's clock with those of servers. */
export async function checkClock(urls: readonly string[]): Promise<Finding> {
  const middle = await middleOffsetMs(urls)
  const { remedy } = nodeErrors.CLOCK_WRONG
  if (middle === undefined) return warning('clock', 'no tracker or chain gave its time', remedy)
  const { offsetMs, servers, agreeing } = middle
  const others = servers === 1 ? 'one other' : `${servers} others`
  if (Math.abs(offsetMs) < clockToleranceMs) {
    const which = agreeing === servers ? others : `${agreeing} of ${others}`
    return ok('clock', `agrees with ${which}, within seconds`)
  }
  const message = `${offsetText(offsetMs)}, compared with ${others}`
  const judge = Math.abs(offsetMs) < clockWrongMs ? warning : failure
  return judge('clock', message, remedy)
}
