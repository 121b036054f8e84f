import { createRequire } from 'node:module'
import type * as NodeDataChannel from 'node-datachannel'
import { transportError } from '../errors.ts'

const require = createRequire(import.meta.url)

/**
 * The WebRTC of Node, a native add-on. Loaded when it is first needed, so that one can do without it where there is none.
 * Throws WEBRTC_MISSING.
 */
export function nodeDataChannel(): typeof NodeDataChannel {
  try {
    return require('node-datachannel') as typeof NodeDataChannel
  } catch (cause) {
    const { platform, arch } = process
    throw transportError('WEBRTC_MISSING', `node-datachannel for ${platform} ${arch}`, { cause })
  }
}
