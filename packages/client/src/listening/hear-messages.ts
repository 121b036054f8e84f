import type { NetworkNode } from '@runnel/network'
import type { Encryption } from '../encryption/encryption.ts'
import type { Lazy } from '../lazy.ts'
import type { Logger } from '../logger.ts'
import type { Phases } from '../phases.ts'
import type { SideServices } from '../side/side-services.ts'
import type { Subscriber } from '../subscribe/subscriber.ts'

export interface MessageHearers {
  readonly subscriber: Pick<Subscriber, 'receive' | 'gap' | 'equivocation'>
  readonly encryption: Pick<Encryption, 'receive'>
  readonly sides: Pick<Lazy<SideServices>, 'now'>
  readonly phases: Pick<Phases, 'reach'>
  readonly logger: Logger
}

/** Gives what the node delivers, and what it misses, to those who wait for it. */
export function hearMessages(
  node: Pick<NetworkNode, 'on'>,
  { subscriber, encryption, sides, phases, logger }: MessageHearers,
): void {
  node.on('message', (delivery) => {
    if (delivery.from !== undefined) phases.reach('message')
    subscriber.receive(delivery)
    encryption.receive(delivery.message)
    sides.now?.receive(delivery.message)
  })
  node.on('gap', (gap) => subscriber.gap(gap))
  node.on('equivocation', (equivocation) => {
    const { publisherId } = equivocation.winner.chain
    const { streamPartId, place } = equivocation
    logger.warn({ publisherId, streamPartId, ...place }, 'a publisher signed two messages for one place')
    subscriber.equivocation(equivocation)
  })
}
