import type { Socket } from 'node:net'
import { addressOfSocket, addressOfUrl } from './socket-address.ts'
import type { ListenServer } from './ws-options.ts'

const loopbackPattern = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+$/

/**
 * Who of those that come in on this socket has dialled this side, by the `host:port` that they say. Where this side was told no
 * public URL it cannot know by what names it is found, nor what it is behind, and takes any. Else its URLs count, the address
 * where the socket came in, and for whoever is on this machine every name of it, with that port.
 */
export function ownAddresses(
  { publicUrl, alsoKnownAs = [] }: Pick<ListenServer, 'publicUrl' | 'alsoKnownAs'>,
  { localAddress = '', localPort = 0 }: Pick<Socket, 'localAddress' | 'localPort'>,
): (dialled: string) => boolean {
  if (publicUrl === undefined) return () => true
  const local = addressOfSocket(localAddress, localPort)
  const known = new Set([local, ...[publicUrl, ...alsoKnownAs].map(addressOfUrl)])
  known.delete('')
  const isLocalName = (dialled: string): boolean =>
    loopbackPattern.test(local) && loopbackPattern.test(dialled) && dialled.endsWith(`:${localPort}`)
  return (dialled) => known.has(dialled) || isLocalName(dialled)
}
