/// <reference lib="dom" />
import { isRunnelError, type Cancel, type Clock, type RunnelError } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import { SocketChannel, type SocketChannelModules } from './socket-channel.ts'

/** A browser opens sockets to one address in turn: a cancelled one delays the next no longer. */
const quietEndMs = 2_000

interface ConnectOptions {
  readonly url: string | undefined
  beforeDial(url: URL): void
  /** Of the channel. Default: websocket. */
  readonly kind?: string
}

/**
 * Opens a WebSocket of the browser, without a time limit of its own. Fails with DIAL_FAILED whatever the reason, which a
 * browser hides from pages, and with OFFLINE when the browser knows that there is no network. Reports what `beforeDial` throws
 * as an error too.
 */
export function connectSocket(
  { url, beforeDial, kind }: ConnectOptions,
  modules: SocketChannelModules,
  onChannel: (channel: SocketChannel) => void,
  onFail: (error: RunnelError) => void,
): Cancel {
  let socket: WebSocket
  try {
    const checked = checkedUrl(url)
    beforeDial(checked)
    socket = new WebSocket(checked)
  } catch (cause) {
    const error = isRunnelError(cause)
      ? cause
      : transportError('DIAL_FAILED', `${url}: ${String(cause)}`, { cause })
    modules.clock.endOfTurn(() => onFail(error))
    return () => {}
  }
  const forget = (): void => void (socket.onopen = socket.onclose = null)
  socket.onopen = () => {
    forget()
    onChannel(new SocketChannel(socket, modules, kind))
  }
  socket.onclose = ({ code }) => {
    forget()
    onFail(dialError(url, code))
  }
  return () => {
    forget()
    endQuietly(socket, modules.clock)
  }
}

/** Of one that is closed before it is open the browser warns in its console, as of a failure: so it is closed then, unless that takes long. */
function endQuietly(socket: WebSocket, clock: Clock): void {
  const giveUp = clock.schedule(quietEndMs, () => socket.close())
  socket.onclose = giveUp
  socket.onopen = () => socket.close()
  if (socket.readyState !== WebSocket.CONNECTING) socket.close()
}

/** A browser would resolve anything else relative to the page. */
function checkedUrl(text: string | undefined): URL {
  const url = new URL(text ?? '')
  if (!/^wss?:$/.test(url.protocol)) throw new TypeError('not a WebSocket URL')
  return url
}

function dialError(url: string | undefined, closeCode: number): RunnelError {
  if (!navigator.onLine) return transportError('OFFLINE', url)
  return transportError('DIAL_FAILED', `${url} (closed with ${closeCode}; a browser does not say why)`)
}
