const defaultPorts: Readonly<Record<string, string>> = { 'ws:': '80', 'wss:': '443' }

/** The `host:port` that a WebSocket URL dials, in the form that the URL standard gives it; empty when it is no such URL. */
export function addressOfUrl(text: string | undefined): string {
  const url = URL.parse(text ?? '')
  const defaultPort = url && defaultPorts[url.protocol]
  return url && defaultPort ? `${url.hostname}:${url.port || defaultPort}` : ''
}

/** The same for an IP address of a socket. */
export function addressOfSocket(host: string, port: number): string {
  const ip = host.replace(/^::ffff:(?=\d+\.)/, '')
  return addressOfUrl(`ws://${ip.includes(':') ? `[${ip}]` : ip}:${port}`)
}
