import { createClient } from '@runnel/client'
import { preciseNow } from '../load/metronome.ts'
import type { BenchUser, UserFactory, UserOptions } from './user.ts'
import { transportsFor } from './light-users.ts'

/** Users that read the newest stored messages of their stream part, and go. A user is open when it has read them all. */
export function historyReaders(messages: number): UserFactory {
  return {
    leavesOut: 'decoding and showing what it reads; many share a process, and with it a core',
    open: (options) => readHistory(messages, options),
    stop: () => Promise.resolve(),
  }
}

async function readHistory(messages: number, options: UserOptions): Promise<BenchUser> {
  const { place, plan, role, part, intendedMs, signal, onMessage, onDelay } = options
  const client = await createClient({
    ...place.user,
    network: place.network,
    transports: transportsFor(plan.links, role.number, place.host),
  })
  try {
    let isFirst = true
    const { streamId, partition } = part
    const reading = client.resend(streamId, { last: messages }, { partitions: [partition], signal })
    for await (const { content } of reading) {
      if (isFirst) onDelay(preciseNow() - intendedMs)
      isFirst = false
      if (content instanceof Uint8Array) onMessage(content)
    }
  } finally {
    await client.close()
  }
  return {
    publish: () => Promise.resolve(),
    dropped: () => undefined,
    neighbours: () => Promise.resolve(undefined),
    stop: () => Promise.resolve(),
  }
}
