import type { StreamKeys } from '@runnel/client'
import { toNodeId, toStreamId, type EpochId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { describeKeys } from './stream-keys.ts'

const [owner, alice] = [...'ab'].map((digit) => toNodeId(`0x${digit.repeat(40)}`)) as [
  StreamKeys['openers'][0]['userId'],
  StreamKeys['openers'][0]['userId'],
]

it.each([
  [
    'counts an opener that may read among its readers, and says so',
    [owner, alice],
    '2 readers, itself included',
  ],
  ['does not count one that may not', [alice], '1 reader'],
])('the text of a list of keys %s', (_, readers, count) => {
  const keys: StreamKeys = {
    streamId: toStreamId(`${owner}/private`),
    ...{ isEncrypted: true, choice: {}, isComplete: true },
    readers: new Map(readers.map((id) => [id, undefined])),
    openers: [
      {
        ...{ userId: owner, epochId: 'AAAAAAAA' as EpochId, createdMs: 0, readersAtBlock: 0 },
        ...{ readerCount: 1, readers: new Map([[alice, 'linked']]), unchecked: 0 },
      },
    ],
  }
  expect(describeKeys(keys, 1_000).slice(2)).toEqual([
    `readers     ${readers.length}, 0 with a card`,
    `keys of     ${owner}`,
    `  newest    AAAAAAAA, 1 second old, made for ${count}`,
    `  linked    ${count}`,
  ])
})
