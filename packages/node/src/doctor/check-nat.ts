import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { failureOf, ok, warning, type Finding } from './finding.ts'
import { askStun, type StunAnswer } from './stun.ts'

const check = 'NAT'
/** Servers asked. */
const maxServers = 4
const relays =
  'nodes that carry circuits (their setting circuits.carry), or a TURN server that the tracker names by TLS: --turn-url turns:host:443'

interface Server {
  readonly address: string
  readonly port: number
}

/** What is between this machine and STUN servers, each `host` and `port` (RFC 5780, as far as the servers allow). */
export async function checkNat(
  servers: readonly { readonly hostname: string; readonly port: number }[],
): Promise<Finding> {
  if (servers.length === 0)
    return warning(
      check,
      'the trackers name no STUN server to test with',
      'Start trackers with --ice-server.',
    )
  const socket = createSocket('udp4')
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.bind(0, resolve)
    })
    const asked = servers.slice(0, maxServers)
    const found = await addressesOf(asked)
    // Nothing was sent, so nothing is known of UDP.
    if (found.length === 0)
      return warning(
        check,
        `no IPv4 address is known of ${asked.map(({ hostname }) => hostname).join(', ')}`,
        'Check that this machine can look up names (DNS), and what trackers name with --ice-server.',
      )
    return await examineNat(socket, found)
  } catch (error) {
    return failureOf(check, error)
  } finally {
    socket.close()
  }
}

async function examineNat(socket: Socket, servers: readonly Server[]): Promise<Finding> {
  const answers = await Promise.all(
    servers.map(async (server) => ({ server, answer: await askStun(socket, server) })),
  )
  const answered = answers.flatMap(({ server, answer }) => (answer === undefined ? [] : [{ server, answer }]))
  const [first] = answered
  if (first === undefined)
    return warning(
      check,
      `UDP is blocked: none of ${servers.length} STUN servers answers`,
      `Links go over WebSocket to nodes that can be dialled, and to others over ${relays}. It is better to allow UDP.`,
    )
  const { mapped } = first.answer
  if (isOwn(mapped, socket.address().port))
    return ok(check, `none: others see this machine at its own address, ${mapped}`)
  const byOther = await seenByOther(socket, first)
  const seen = new Set([...answered.map(({ answer }) => answer.mapped), ...byOther])
  if (seen.size > 1)
    return warning(
      check,
      `a symmetric NAT: ${[...seen].join(' and ')} for one socket`,
      `Direct links to nodes behind NATs fail unless their NAT admits any sender. Such links go over a TURN server, or ${relays}.`,
    )
  // Two names may stand for one server.
  const places = new Set(answered.map(({ server }) => `${server.address} ${server.port}`))
  if (places.size + byOther.length === 1)
    return ok(check, `others see ${mapped}; a second STUN server is needed to tell whether all of them do`)
  const filtering = byOther.length === 0 ? '' : await filteringOf(socket, first)
  return ok(
    check,
    `an endpoint-independent mapping, ${mapped}${filtering}: direct links to most other nodes work`,
  )
}

/** How the server sees this socket from its other address. */
async function seenByOther(socket: Socket, { answer }: { readonly answer: StunAnswer }): Promise<string[]> {
  const found = answer.other === undefined ? undefined : await askStun(socket, answer.other)
  return found === undefined ? [] : [found.mapped]
}

/**
 * Who is let in, in words (RFC 5780, section 4.4), by a server whose other address has answered. The socket has sent to
 * that one already, so only whether it is let in from a port that it has not sent to can be told from it.
 */
async function filteringOf(socket: Socket, { server }: { readonly server: Server }): Promise<string> {
  const fromOtherPort = await askStun(socket, server, { address: false, port: true })
  return fromOtherPort === undefined ? ', which admits only addresses that it has sent to' : ''
}

async function addressesOf(servers: readonly { readonly hostname: string; readonly port: number }[]) {
  const found = await Promise.all(
    servers.map(async ({ hostname, port }) => {
      try {
        return [{ address: (await lookup(hostname, 4)).address, port }]
      } catch {
        return []
      }
    }),
  )
  return found.flat()
}

function isOwn(mapped: string, port: number): boolean {
  const own = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  return own.some(({ address }) => `${address}:${port}` === mapped)
}
