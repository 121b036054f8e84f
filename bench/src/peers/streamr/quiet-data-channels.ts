import { createRequire } from 'node:module'
import { join } from 'node:path'

interface DataChannels {
  initLogger: () => void
  readonly default: { initLogger: () => void }
}

/**
 * The versions of `node-datachannel` that Streamr's packages name bring no binary through npm; a later one does, whose logger wants a
 * callback that these packages do not give. They only set it to be silent, as it is by itself.
 */
export function quietDataChannels(directory: string): void {
  const channels = createRequire(join(directory, 'package.json'))('node-datachannel') as DataChannels
  channels.initLogger = channels.default.initLogger = () => {}
}
