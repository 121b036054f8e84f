import type { NodeId, Signal } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
// Imported by package name, so that a browser gets its own build.
import { createPeerConnection } from '@runnel/transport'
import { testModules } from '../conformance/modules.testkit.ts'
import type { PairOptions, TransportPair } from '../conformance/transport-pair.testkit.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import { WebRtcTransport, type WebRtcModules, type WebRtcOptions } from './web-rtc-transport.ts'

/** What becomes of a signal in transit; `from` is the sender. */
export type AlterSignal = (from: NodeId, signal: Signal) => readonly Signal[]

/** Carries signals between transports, each in a later turn and in order, and sets the sender as a tracker does. */
export class SignallingNetwork {
  alter: AlterSignal = (_, signal) => [signal]
  /** Signals as they were sent. */
  readonly sent: Signal[] = []
  readonly #transports = new Map<NodeId, WebRtcTransport>()

  /** A started transport of a new node. */
  async transport(
    name: string,
    options: WebRtcOptions = {},
    extra: Partial<WebRtcModules> & { readonly limits?: Partial<ConnectionLimits> } = {},
  ): Promise<{ readonly nodeId: NodeId; readonly transport: WebRtcTransport }> {
    const modules = testModules(name, systemClock, extra.limits)
    const { nodeId } = modules.identity
    const signalling = { send: (signal: Signal) => this.#carry(nodeId, signal) }
    const transport = new WebRtcTransport(options, {
      ...modules,
      signalling,
      createPeerConnection,
      ...extra,
    })
    await transport.start()
    this.#transports.set(nodeId, transport)
    return { nodeId, transport }
  }

  /** Hands a signal to a node from any sender. */
  deliver(to: NodeId, signal: Signal): void {
    this.#transports.get(to)?.handleSignal(signal)
  }

  #carry(from: NodeId, signal: Signal): boolean {
    if (!this.#transports.has(signal.peerId)) return false
    this.sent.push(signal)
    for (const altered of this.alter(from, signal)) {
      systemClock.endOfTurn(() => this.deliver(altered.peerId, { ...altered, peerId: from }))
    }
    return true
  }
}

/** Two transports that signal over a network of their own, for the conformance suite. */
export async function makeWebRtcPair({ limits, limitsOfB }: PairOptions): Promise<TransportPair> {
  const network = new SignallingNetwork()
  const a = await network.transport('a', {}, { limits: { ...limits } })
  const b = await network.transport('b', {}, { limits: { ...limits, ...limitsOfB } })
  return {
    a,
    b,
    nobody: { peerId: testModules('nobody', systemClock).identity.nodeId },
    nowMs: () => systemClock.monotonicMs(),
    settle: (promise) => promise,
    stop: async () => void (await Promise.all([a.transport.stop(), b.transport.stop()])),
  }
}
