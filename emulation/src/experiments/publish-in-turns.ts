import type { Session } from '../session/session.ts'

/** Of one node's messages, as in the thesis: under 100 bytes, 3 s apart. */
const intervalMs = 3_000
const bytes = 64

/** Messages a second with which processes are warmed up, of all together. */
const warmUpRate = 10
const warmUpPauseMs = (nodes: number): number => (1_000 * nodes) / warmUpRate

/** Nothing new came for so long: nothing more will. */
export const quietMs = 20_000

/** Every node publishes, all at the same time. Resolves when all is delivered, with the number of messages. */
export async function warmUp(session: Session, messages: number): Promise<number> {
  const { length } = session.nodes
  if (messages === 0) return 0
  const pauseMs = warmUpPauseMs(length)
  await session.publish(session.everybody, { messages, intervalMs: pauseMs, bytes })
  await session.published((messages - 1) * pauseMs)
  await session.delivered(length * messages, quietMs)
  return length * messages
}

/** How long that takes at most, with what is waited for afterwards; in the time of the processes. */
export function warmUpMs(nodes: number, messages: number): number {
  return messages === 0 ? 0 : (messages - 1) * warmUpPauseMs(nodes) + quietMs
}

interface Turns {
  readonly messages: number
  readonly rate: number
}

const betweenPairsMs = ({ messages, rate }: Turns): number => (1_000 * 2 * messages) / rate

/**
 * As in the thesis, section 5.4.2: two nodes at a time are told to publish, the next two once these have begun, so that
 * `rate` messages a second are published. Resolves when all have published, with the number of messages.
 */
export async function publishInPairs(session: Session, turns: Turns): Promise<number> {
  const { length } = session.nodes
  const { messages } = turns
  const pauseMs = betweenPairsMs(turns)
  for (let first = 0; first < length; first += 2) {
    const pair = [first, first + 1].filter((index) => index < length)
    await Promise.all([session.publish(pair, { messages, intervalMs, bytes }), session.pass(pauseMs)])
  }
  await session.published((messages - 1) * intervalMs)
  return length * messages
}

/** How long that takes, in the time of the processes. */
export function inPairsMs(nodes: number, turns: Turns): number {
  return Math.ceil(nodes / 2) * betweenPairsMs(turns) + (turns.messages - 1) * intervalMs
}
