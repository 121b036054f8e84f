import { createRequire } from 'node:module'
import type * as NodeDataChannel from 'node-datachannel'
import { transportError } from '../errors.ts'

const require = createRequire(import.meta.url)
/**
 * What an association of SCTP holds in addition to what its channels do, in a process as a whole: the library's 1 MiB is eight seconds of a line of
 * 1 Mbit/s, in which nothing urgent overtakes it. It bounds what a link carries to so much in a round trip, 20 Mbit/s at 100 ms.
 */
const sendBufferBytes = 256 * 1024
/**
 * How long a single packet of SCTP waits for its acknowledgement, which a second packet or a gap brings at once (RFC 9260, section 6.2). The library's 20 ms
 * are shorter than the pauses between digests (decision 057), so each was answered by a packet of its own;
 * after 60 most acknowledgements go with what the other end sends anyway. Browsers take up to 100.
 */
const delayedSackMs = 60
let library: typeof NodeDataChannel | undefined

/**
 * The WebRTC of Node, a native add-on. Loaded when it is first needed, so that one can do without it where there is none.
 * Throws WEBRTC_MISSING.
 */
export function nodeDataChannel(): typeof NodeDataChannel {
  if (library !== undefined) return library
  try {
    library = require('node-datachannel') as typeof NodeDataChannel
    library.setSctpSettings({ sendBufferSize: sendBufferBytes, delayedSackTime: delayedSackMs })
    return library
  } catch (cause) {
    const { platform, arch } = process
    throw transportError('WEBRTC_MISSING', `node-datachannel for ${platform} ${arch}`, { cause })
  }
}
