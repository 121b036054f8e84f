import { createRequire } from 'node:module'
import type * as NodeDataChannel from 'node-datachannel'
import { transportError } from '../errors.ts'

const require = createRequire(import.meta.url)
/**
 * What an association of SCTP holds in addition to what its channels do, in a process as a whole: the library's 1 MiB is eight seconds of a line of
 * 1 Mbit/s, in which nothing urgent overtakes it. It bounds what a link carries to so much in a round trip, 20 Mbit/s at 100 ms.
 */
const sendBufferBytes = 256 * 1024
let library: typeof NodeDataChannel | undefined

/**
 * The WebRTC of Node, a native add-on. Loaded when it is first needed, so that one can do without it where there is none.
 * Throws WEBRTC_MISSING.
 */
export function nodeDataChannel(): typeof NodeDataChannel {
  if (library !== undefined) return library
  try {
    library = require('node-datachannel') as typeof NodeDataChannel
    library.setSctpSettings({ sendBufferSize: sendBufferBytes })
    return library
  } catch (cause) {
    const { platform, arch } = process
    throw transportError('WEBRTC_MISSING', `node-datachannel for ${platform} ${arch}`, { cause })
  }
}
