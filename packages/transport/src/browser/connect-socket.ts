/// <reference lib="dom" />
import type { Cancel, RunnelError } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import { SocketChannel, type SocketChannelModules } from './socket-channel.ts'

/**
 * Opens a WebSocket of the browser. Has no time limit of its own. Fails with DIAL_FAILED, whatever the reason, as a page is
 * not told; with OFFLINE when the browser knows that there is no network.
 */
export function connectSocket(
  url: string | undefined,
  modules: SocketChannelModules,
  onChannel: (channel: SocketChannel) => void,
  onFail: (error: RunnelError) => void,
): Cancel {
  let socket: WebSocket
  try {
    socket = new WebSocket(checkedUrl(url))
  } catch (cause) {
    const error = transportError('DIAL_FAILED', `${url}: ${String(cause)}`, { cause })
    modules.clock.endOfTurn(() => onFail(error))
    return () => {}
  }
  const forget = (): void => void (socket.onopen = socket.onclose = null)
  socket.onopen = () => {
    forget()
    onChannel(new SocketChannel(socket, modules))
  }
  socket.onclose = ({ code }) => {
    forget()
    onFail(dialError(url, code))
  }
  return () => {
    forget()
    socket.close()
  }
}

/** A browser would take anything else as relative to the page. */
function checkedUrl(text: string | undefined): URL {
  const url = new URL(text ?? '')
  if (!/^wss?:$/.test(url.protocol)) throw new TypeError('not a WebSocket URL')
  return url
}

function dialError(url: string | undefined, closeCode: number): RunnelError {
  if (!navigator.onLine) return transportError('OFFLINE', url)
  return transportError('DIAL_FAILED', `${url} (closed with ${closeCode}; a browser tells no more)`)
}
