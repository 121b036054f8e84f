import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
  toStreamPartId,
  type Crypto,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createNetworkNode } from '@runnel/network'
import { beginPhase, showProgress } from '../phase.ts'
import { benchError } from '../errors.ts'
import { bareDataChannel, type BareEnd } from '../bare/bare-data-channel.ts'
import { packed, type BareLink } from '../bare/bare-link.ts'
import { listenBareWebSocket } from '../bare/bare-websocket.ts'
import { actingFor, newDelegate, newIdentity, Source } from '../swarm.ts'
import { round } from '../statistics.ts'
import { unbatchedFloor } from '../unbatched-floor.ts'
import { RelayProcess } from './relay-process.ts'
import { LineTracker } from './scripted-tracker.ts'

type LinkTransport = 'webrtc' | 'websocket'

/** Messages on their way at most: enough to saturate, few enough that nothing queues up. */
const maxInFlight = 8192
const batchMessages = 64

/** CPU of one relay (in on one link, out on one) per 100-byte message, ours beside the transport used bare. */
export async function relayBench(options: { transport: LinkTransport; verify: boolean; messages: number }) {
  const { transport, messages } = options
  const crypto = await loadCrypto()
  beginPhase('bare relay')
  const bareUs = await bareRelay(transport, false, messages)
  beginPhase('bare relay, packed')
  const barePackedUs = await bareRelay(transport, true, messages)
  const run = { transport, messages, perBatch: batchMessages, delegated: false }
  beginPhase('node that does not verify')
  const offUs = await nodeRelay(crypto, { ...run, verify: false })
  beginPhase('node that verifies')
  const onUs = options.verify ? await nodeRelay(crypto, { ...run, verify: true }) : undefined
  beginPhase('node, one message a batch')
  const unbatchedUs = await nodeRelay(crypto, {
    ...run,
    verify: options.verify,
    messages: messages / 10,
    perBatch: 1,
  })
  const floor = options.verify ? unbatchedFloor(bareUs, crypto) : undefined
  return {
    bench: 'relay',
    transport,
    messages,
    messageBytes: 100,
    cpuUsPerMessage: {
      notVerified: round(offUs),
      ...(onUs === undefined ? {} : { verified: round(onUs) }),
      ...(options.verify
        ? { verifiedUnbatched: round(unbatchedUs) }
        : { notVerifiedUnbatched: round(unbatchedUs) }),
    },
    baseline: {
      ...{ bareUs: round(bareUs), barePackedUs: round(barePackedUs) },
      ...(floor === undefined ? {} : { unbatchedFloor: floor }),
    },
    ratio: {
      notVerifiedToBare: round(offUs / bareUs),
      notVerifiedToBarePacked: round(offUs / barePackedUs),
      ...(onUs === undefined ? {} : { verifiedToBare: round(onUs / bareUs) }),
      ...(floor === undefined ? {} : { verifiedUnbatchedToFloor: round(unbatchedUs / floor.us) }),
    },
  }
}

/** Sends `messages` in bursts, never with more than `maxInFlight` on their way, until all have arrived. */
async function drive(
  messages: number,
  perBurst: number,
  send: (count: number) => void,
  onArrival: (arrived: () => void) => void,
): Promise<void> {
  let sent = 0
  let arrived = 0
  showProgress(() => `${arrived} of ${messages} messages relayed`)
  await new Promise<void>((resolve) => {
    onArrival(() => ++arrived === messages && resolve())
    const burst = () => {
      for (let room = maxInFlight - (sent - arrived); room >= perBurst && sent < messages; room -= perBurst) {
        const count = Math.min(perBurst, messages - sent)
        send(count)
        sent += count
        if (sent % 1024 === 0) break
      }
      if (sent < messages) setImmediate(burst)
    }
    burst()
  })
}

async function bareRelay(transport: LinkTransport, pack: boolean, messages: number): Promise<number> {
  const relay = new RelayProcess()
  const links = await openBare(relay, transport, pack)
  const message = new Uint8Array(100)
  const run = (count: number) =>
    drive(
      count,
      64,
      (burst) => {
        for (let i = 0; i < burst; i++) links.in.send(message)
      },
      (arrived) => (links.out.onMessage = arrived),
    )
  await run(Math.ceil(messages / 10))
  const us = await relay.cpuUsDuring(() => run(messages))
  relay.stop()
  links.in.close()
  links.out.close()
  return us / messages
}

async function openBare(
  relay: RelayProcess,
  transport: LinkTransport,
  pack: boolean,
): Promise<Record<'in' | 'out', BareLink>> {
  const ready = relay.answer('ready')
  const open: Partial<Record<'in' | 'out', BareLink>> = {}
  let server: { url: string; close(): void } | undefined
  if (transport === 'websocket') {
    server = await listenBareWebSocket((link, path) => (open[path === '/in' ? 'in' : 'out'] = link))
    relay.tell({ do: 'bare', transport, pack, url: server.url })
  } else {
    const end = (link: 'in' | 'out'): BareEnd =>
      bareDataChannel('answer', (signal) => relay.tell({ do: 'signal', link, signal }))
    const ends = { in: end('in'), out: end('out') }
    relay.onSignal = ({ link, signal }) => ends[link].receive(signal)
    relay.tell({ do: 'bare', transport, pack, url: '' })
    // Together: the relay may end while the ends here still wait.
    const [, inLink, outLink] = await Promise.all([ready, ends.in.open, ends.out.open])
    Object.assign(open, { in: inLink, out: outLink })
  }
  await ready
  server?.close()
  if (!open.in || !open.out) throw benchError('INCOMPLETE', 'a bare link did not open')
  return pack ? { in: packed(open.in), out: packed(open.out) } : { in: open.in, out: open.out }
}

export interface NodeRelayOptions {
  readonly transport: LinkTransport
  readonly verify: boolean
  /** Whether all nodes show a credential, and a delegate signs. */
  readonly delegated: boolean
  readonly messages: number
  readonly perBatch: number
}

/** CPU of a node that relays between two others, in microseconds a message. */
export async function nodeRelay(
  crypto: Crypto,
  { transport, verify, delegated, messages, perBatch }: NodeRelayOptions,
): Promise<number> {
  const privateKeys = [0, 1, 2].map(() => generatePrivateKey(systemRandom))
  const identities = privateKeys.map((key) => createIdentity(key, crypto))
  const publisher = newIdentity(crypto)
  const delegate = delegated ? newDelegate(crypto, publisher) : undefined
  const streamPartId = toStreamPartId(toStreamId(`${publisher.nodeId}/relay`), 0)
  const tracker = new LineTracker(crypto)
  tracker.line = identities.map((identity) => identity.nodeId)
  tracker.streamPartId = streamPartId
  await tracker.start()
  const address = { nodeId: tracker.nodeId, url: tracker.url }
  const relay = new RelayProcess()
  const ready = relay.answer('ready')
  relay.tell({
    do: 'node',
    transport,
    verify,
    delegated,
    privateKey: Buffer.from(privateKeys[1] ?? []).toString('hex'),
    tracker: address,
    streamPartId,
  })
  const ends = [identities[0], identities[2]].flatMap((identity) => {
    if (!identity) return []
    return createNetworkNode(
      {
        transports: {
          websocket: transport === 'websocket' ? { listen: { host: '127.0.0.1', port: 0 } } : {},
          webrtc: transport === 'webrtc' ? {} : false,
        },
      },
      {
        identity,
        ...(delegated ? { acting: actingFor(publisher, identity.nodeId, crypto) } : {}),
        crypto,
        clock: systemClock,
        random: systemRandom,
        publisherPolicy: { check: () => 'allowed', resolve: async () => {} },
        trackers: { trackersFor: () => [address], onChange: () => () => {} },
        // The ends only feed and drain the relay; what they check is not what is measured.
        verify: () => true,
      },
    )
  })
  for (const end of ends) {
    await end.start()
    end.join(streamPartId)
  }
  await Promise.all([ready, ...ends.map((end) => end.waitForNeighbours(streamPartId))])
  if (delegate !== undefined) ends[0]?.delegations.add(delegate.delegation)
  const source = new Source({ crypto, publisher, signer: delegate?.signer ?? publisher, streamPartId })
  const run = async (count: number) => {
    const batches = Array.from({ length: Math.ceil(count / perBatch) }, () => source.next(perBatch))
    await drive(
      batches.length * perBatch,
      perBatch,
      () => {
        const batch = batches.shift()
        if (batch !== undefined) ends[0]?.publish(batch)
      },
      (arrived) => ends[1]?.on('message', arrived),
    )
  }
  await run(Math.ceil(messages / 10))
  const count = Math.ceil(messages / perBatch) * perBatch
  const us = await relay.cpuUsDuring(() => run(count))
  await Promise.all(ends.map((end) => end.stop()))
  relay.stop()
  await tracker.stop()
  return us / count
}
