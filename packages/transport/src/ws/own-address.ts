import type { Socket } from 'node:net'
import { addressOfSocket, addressOfUrl } from './socket-address.ts'
import type { ListenServer } from './ws-options.ts'

const loopbackPattern = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]):\d+$/

/**
 * Whether whoever comes in on this socket has dialled this side, by the `host:port` it reports. Without a public URL this side
 * cannot know its names, nor what it is behind, and accepts any. Otherwise its URLs count, the local address of the socket, and
 * for a dialler on this machine every name of it, with that port.
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
