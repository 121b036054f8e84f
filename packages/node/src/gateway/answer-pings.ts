import type { WebSocket } from 'ws'

/**
 * Answers pings (RFC 6455, 5.5.2), but not of a client that has so many bytes to read: it would make them more without an end. Needs
 * `autoPong: false` of the server.
 */
export function answerPings(webSocket: WebSocket, maxUnreadBytes: number): void {
  webSocket.on('ping', (data: Buffer) => {
    if (webSocket.readyState === webSocket.OPEN && webSocket.bufferedAmount < maxUnreadBytes)
      webSocket.pong(data)
  })
}
