// A process that is asked to stop, and says so.
import { listenForStop, sameMomentMs } from './stop-signal.ts'

const { stopped } = listenForStop()
// Until it is told to end, or forced to.
process.stdin.on('end', () => process.exit(0)).resume()
process.stdout.write('listening\n')
await stopped
process.stdout.write('stopping\n')
setTimeout(() => process.stdout.write('a moment later\n'), sameMomentMs)
