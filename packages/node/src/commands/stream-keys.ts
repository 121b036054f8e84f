import type { OpenerKeys, ReaderState, StreamKeys } from '@runnel/client'
import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { ageText } from '../cli/duration.ts'
import { notice, printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { readersText } from '../encryption-news.ts'

export const streamKeys = defineCommand({
  name: 'stream keys',
  describe: 'Print whose keys a stream is encrypted with, and which readers can open them; no secrets',
  positionals: { stream: streamPositional },
  options: userOptions,
  examples: [['stream keys 0xowner/private --network network.json --key my.key', '']],
  epilogue:
    'A linked reader finds the keys on storage nodes, even if nobody else is online. A reader without a link finds the keys that a grant passed on to its card, and asks for the others when it joins: whoever has them answers. The next key of the publisher links all readers that have a card by then. Needs the permission to publish, subscribe or grant.',
  run: async ({ stream, json, ...network }) => {
    const streamOf = streamArgument(stream)
    await withClient(network, {}, async (client) => {
      const streamId = streamOf(client)
      const keys = await client.keysOf(streamId)
      printResult(asJson(keys, Date.now()), json, describeKeys(keys, Date.now()))
      if (!keys.isComplete) notice(incompleteText)
    })
  },
})

const incompleteText =
  'storage nodes did not answer for all keys: some may be missing here, linked readers be called unlinked, and readers with a card be said to have none. Run the command again in a minute; if it says so again, look whether the storage nodes of the stream run and keep it: storage list STREAM names them.'

/** For people. */
export function describeKeys(
  { streamId, isEncrypted, choice, readers, openers }: StreamKeys,
  nowMs: number,
): string[] {
  const withCard = [...readers.values()].filter((card) => card !== undefined).length
  return [
    `stream      ${streamId}`,
    `encryption  ${isEncrypted ? 'yes' : 'none now'}`,
    `readers     ${readers.size}, ${withCard} with a card`,
    ...(openers.length === 0
      ? ['keys        none found: nothing was published, or no storage node has them']
      : []),
    ...openers.flatMap((opener) =>
      describeOpener(opener, { keyHolder: choice.keyHolder, isReader: readers.has(opener.userId), nowMs }),
    ),
  ]
}

interface Seen {
  readonly keyHolder: string | undefined
  /** Whether the opener may read itself: then it is counted, as it is among all readers. */
  readonly isReader: boolean
  readonly nowMs: number
}

function describeOpener(opener: OpenerKeys, { keyHolder, isReader, nowMs }: Seen): string[] {
  const { userId, epochId, createdMs, readerCount, unchecked } = opener
  const withItself = (others: number) =>
    isReader ? `${readersText(others + 1)}, itself included` : readersText(others)
  const count = readerCount === undefined ? '' : `, made for ${withItself(readerCount)}`
  const without = (state: ReaderState, remark: string) =>
    usersIn(opener, state).map((id) => `  ${state.padEnd(8)}  ${id}: ${remark}`)
  return [
    `keys of     ${userId}${userId === keyHolder ? ', the key holder' : ''}`,
    `  newest    ${epochId}, ${ageText(nowMs - createdMs)} old${count}`,
    `  linked    ${withItself(usersIn(opener, 'linked').length)}`,
    ...without('unlinked', 'has a card; finds keys that a grant passed on, otherwise asks when it joins'),
    ...without('no-card', 'asks when it joins'),
    ...(unchecked > 0 ? [`  ${readersText(unchecked)} more with a card`] : []),
  ]
}

const usersIn = ({ readers }: OpenerKeys, wanted: ReaderState): string[] =>
  [...readers].flatMap(([id, state]) => (state === wanted ? [id] : []))

function asJson({ readers, openers, choice, ...rest }: StreamKeys, nowMs: number) {
  return {
    ...rest,
    choice,
    readers: [...readers].map(([user, card]) => ({ user, cardGeneration: card?.generation ?? null })),
    openers: openers.map((opener) => ({
      user: opener.userId,
      isKeyHolder: opener.userId === choice.keyHolder,
      epochId: opener.epochId,
      created: new Date(opener.createdMs).toISOString(),
      ageMs: nowMs - opener.createdMs,
      madeForReaders: opener.readerCount ?? null,
      linked: usersIn(opener, 'linked'),
      unlinked: usersIn(opener, 'unlinked'),
      noCard: usersIn(opener, 'no-card'),
      unchecked: opener.unchecked,
    })),
  }
}
