import { readDocument } from '../../cli/network-document.ts'
import { isNetworkUrl, readNetwork, type DescribedNetwork } from '../../cli/network-source.ts'
import { limits, toNodeId, untilAborted } from '@runnel/protocol'
import type { BenchArguments } from '../../commands/bench-options.ts'
import { nodeError } from '../../errors.ts'
import { resolveUser } from '../../keys/resolve-user.ts'
import { usesGateway, type UserKind } from '../core/plan.ts'
import { openExistingNetwork } from '../network/existing-network.ts'
import { startOwnNetwork } from '../network/own-network.ts'
import type { Target } from '../network/target.ts'
import { requireNoContradiction } from './contradictions.ts'
import { requireParts, type PartOptions } from './parts.ts'

export type TargetArguments = BenchArguments & PartOptions

export interface TargetNeeds {
  readonly parts: number
  readonly storage: boolean
  readonly signal: AbortSignal
  onProgress(text: string): void
}

/** How long a network of its own may take to start. */
export const startBoundMs = 120_000
/** A broker node is in every overlay: with more, the node would be what is measured. */
const maxPartsWithNodes = 10

/** The network that options name, or one of its own; `requireTarget` has looked at them. Throws what opening or starting throws. */
export async function openTarget(args: TargetArguments, needs: TargetNeeds): Promise<Target> {
  const { network, users, degree, encrypt } = args
  if (network !== undefined) {
    const user = resolveUser({ as: args.as, key: args.key, env: process.env })
    const source = await portable(readNetwork(network))
    const options = {
      ...{ ...needs, source, user, stream: args.stream, gateway: gatewayOf(args) },
      requireParts: (stream: string, partitions: number) => requireParts(args, stream, partitions),
    }
    return untilAborted(openExistingNetwork(options), needs.signal)
  }
  const nodes = args.nodes ?? (needs.parts > maxPartsWithNodes ? 0 : 2)
  const gateways = usesGateway(users)
  return startOwnNetwork({
    ...needs,
    nodes: Math.max(nodes, gateways ? 1 : 0),
    degree,
    encrypted: encrypt,
    gateways,
  })
}

/** What is wrong with the options together, as far as they tell by themselves. Throws USAGE, BENCH_GATEWAY_MISSING, and what reading its file throws. */
export function requireTarget(args: TargetArguments): void {
  requireNoContradiction(args)
  if (args.network === undefined) return
  if (gatewayOf(args) === undefined && usesGateway(args.users))
    throw nodeError('BENCH_GATEWAY_MISSING', `users of kind ${args.users}`)
  requireParts(args, 'a stream', limits.maxPartitions)
  readNetwork(args.network)
}

/** A signed document in a file, as it is now: workers elsewhere have no such file, and hundreds of users need not follow it. */
async function portable(source: DescribedNetwork): Promise<DescribedNetwork> {
  if (source.kind !== 'document') return source
  const file = source.sources.find((one) => !isNetworkUrl(one))
  if (file === undefined) return source
  const { network } = await readDocument(file, toNodeId(source.owner))
  return { kind: 'static', document: network }
}

/** Of URLs at which users of a kind reach a gateway. */
const gatewaySchemes: Partial<Record<UserKind, readonly string[]>> = {
  http: ['http:', 'https:'],
  mqtt: ['mqtt:', 'mqtts:', 'ws:', 'wss:'],
}

/** Throws USAGE. */
function gatewayOf({ gateway, users }: BenchArguments): Target['gateway'] {
  if (gateway === undefined) return undefined
  const { [users]: schemes = [] } = gatewaySchemes
  const { protocol, username, password } = URL.parse(gateway) ?? { protocol: '', username: '', password: '' }
  // Without the URL, which may have a password in it.
  if (!schemes.includes(protocol))
    throw nodeError('USAGE', `--gateway takes a URL with ${schemes.join(', ')}`)
  if (username !== '' || password !== '')
    throw nodeError('USAGE', '--gateway takes no user and password: its key goes into RUNNEL_GATEWAY_KEY')
  const url = gateway.replace(/\/+$/, '')
  const key = process.env['RUNNEL_GATEWAY_KEY']
  if (!key) throw nodeError('USAGE', '--gateway needs its key in RUNNEL_GATEWAY_KEY')
  return { httpUrl: url, mqttUrl: url, key }
}
