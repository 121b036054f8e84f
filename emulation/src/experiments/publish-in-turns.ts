import type { Session } from '../session/session.ts'

/** Of one node's messages, as in the thesis: under 100 bytes, 3 s apart. */
const intervalMs = 3_000
const bytes = 64

/** Messages a second with which processes are warmed up, of all together. */
const warmUpRate = 10

/** Nothing new came for so long: nothing more will. */
export const quietMs = 20_000

/** Every node publishes, all at the same time. Resolves when all is delivered, with the number of messages. */
export async function warmUp(session: Session, messages: number): Promise<number> {
  const { length } = session.nodes
  if (messages === 0) return 0
  const pauseMs = (1_000 * length) / warmUpRate
  await session.publish(session.everybody, { messages, intervalMs: pauseMs, bytes })
  await session.published((messages - 1) * pauseMs)
  await session.delivered(length * messages, quietMs)
  return length * messages
}

/** How long that takes at most, with what is waited for afterwards; in the time of the processes. */
export function warmUpMs(nodes: number, messages: number): number {
  return messages === 0 ? 0 : ((messages - 1) * 1_000 * nodes) / warmUpRate + quietMs
}

/**
 * As in the thesis, section 5.4.2: two nodes at a time are told to publish, the next two once these have begun, so that
 * `rate` messages a second are published. Resolves when all have published, with the number of messages.
 */
export async function publishInPairs(
  session: Session,
  turns: { readonly messages: number; readonly rate: number },
): Promise<number> {
  const { length } = session.nodes
  const { messages, rate } = turns
  const betweenPairsMs = (1_000 * 2 * messages) / rate
  for (let first = 0; first < length; first += 2) {
    const pair = [first, first + 1].filter((index) => index < length)
    await Promise.all([session.publish(pair, { messages, intervalMs, bytes }), session.pass(betweenPairsMs)])
  }
  await session.published((messages - 1) * intervalMs)
  return length * messages
}

/** How long that takes, in the time of the processes. */
export function inPairsMs(
  nodes: number,
  { messages, rate }: { readonly messages: number; readonly rate: number },
): number {
  return (Math.ceil(nodes / 2) * 1_000 * 2 * messages) / rate + (messages - 1) * intervalMs
}
