/** How a gateway closes WebSockets (RFC 6455, 7.4), and what it says then. */
export const closeCodes = {
  1001: 'The gateway is stopping: connect again.',
  4400: 'This is not a frame of the subprotocol.',
  4401: 'The key was changed or removed.',
} as const
