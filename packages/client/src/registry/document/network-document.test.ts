import { createIdentity, loadCrypto, parsePrivateKey, toStreamId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { parseStaticNetwork, type StaticNetwork } from '../static-network.ts'
import { changesBetween } from './document-changes.ts'
import { editDocument, newDocument, type DocumentChange } from './edit-document.ts'
import {
  checkNetworkDocument,
  maxDocumentBytes,
  newerDocument,
  requireRevision,
  signNetworkDocument,
  type CheckedDocument,
} from './network-document.ts'

const crypto = await loadCrypto()
const tools = { crypto, parseNetwork: parseStaticNetwork }
const [owner, other] = ['1', '2'].map((digit) =>
  createIdentity(parsePrivateKey(digit.repeat(64)), crypto),
) as [ReturnType<typeof createIdentity>, ReturnType<typeof createIdentity>]
const user = other.nodeId
const streamId = toStreamId(`${owner.nodeId}/a`)
const tracker = { nodeId: user, url: 'ws://127.0.0.1:1' }

const signed = (document = newDocument(owner.nodeId, [tracker])) =>
  signNetworkDocument(document, owner, tools)
const checked = (text: string) => checkNetworkDocument(text, owner.nodeId, tools)

/** The document after some changes, each a revision. */
function after(changes: readonly DocumentChange[], wallMs = 1_000): CheckedDocument {
  let document = checked(signed())
  for (const change of changes) {
    const { network } = JSON.parse(document.text) as { network: StaticNetwork }
    document = checked(signed(editDocument({ ...document, network }, change, wallMs)))
  }
  return document
}

const add = { kind: 'add-stream', streamId, partitions: 1, metadata: '{}' } as const
const grant = (permissions: readonly ('publish' | 'subscribe' | 'grant')[], untilMs = Infinity) =>
  ({ kind: 'grant', streamId, grant: { user, permissions, untilMs } }) as const
const revoke = (permissions: readonly ('publish' | 'subscribe' | 'grant')[]) =>
  ({ kind: 'revoke', streamId, grant: { user, permissions } }) as const

describe('a signed document', () => {
  it('is read as it was written, also with its keys in another order', () => {
    const text = signed()
    expect(checked(text)).toMatchObject({
      owner: owner.nodeId,
      revision: 1,
      network: { trackers: [tracker] },
    })
    const turned = Object.fromEntries(Object.entries(JSON.parse(text) as object).toReversed())
    expect(checked(JSON.stringify(turned)).digest).toBe(checked(text).digest)
  })

  it.each([
    [
      'a change of what was signed',
      (text: string) => text.replace(':1"', ':2"'),
      'NETWORK_DOCUMENT_NOT_OWNERS',
    ],
    [
      'another revision',
      (text: string) => text.replace('"revision": 1', '"revision": 9'),
      'NETWORK_DOCUMENT_NOT_OWNERS',
    ],
    [
      'another owner',
      () => signNetworkDocument(newDocument(user, []), other, tools),
      'NETWORK_DOCUMENT_NOT_OWNERS',
    ],
    [
      'the owner’s name over another’s signature',
      () => signNetworkDocument(newDocument(user, []), other, tools).replaceAll(user, owner.nodeId),
      'NETWORK_DOCUMENT_NOT_OWNERS',
    ],
    ['no JSON', () => '{', 'NETWORK_DOCUMENT_INVALID'],
    ['a key nobody knows', (text: string) => text.replace('{', '{ "also": 1,'), 'NETWORK_DOCUMENT_INVALID'],
    ['more than may be read', () => ' '.repeat(maxDocumentBytes + 1), 'NETWORK_DOCUMENT_INVALID'],
  ])('is refused with %s', (_, change, code) => {
    expect(() => checked(change(signed()))).toThrow(expect.objectContaining({ code }))
  })

  it('is signed by nobody else, and only where it can be read', () => {
    const refused = (code: string) => expect.objectContaining({ code }) as Error
    expect(() => signNetworkDocument(newDocument(owner.nodeId, []), other, tools)).toThrow(
      refused('NETWORK_DOCUMENT_NOT_OWNERS'),
    )
    const bad = newDocument(owner.nodeId, [{ nodeId: user, url: 'http://no.example' }])
    expect(() => signed(bad)).toThrow(refused('NETWORK_DOCUMENT_INVALID'))
  })

  it('counts where it is newer', () => {
    const [first, second] = [after([]), after([add])]
    expect(newerDocument(first, second)).toBe(second)
    expect(newerDocument(second, second)).toBe(second)
    const older = expect.objectContaining({ code: 'NETWORK_DOCUMENT_OLDER' }) as Error
    expect(() => newerDocument(second, first)).toThrow(older)
    // The owner signed two of one revision.
    expect(() => newerDocument(second, after([{ ...add, partitions: 2 }]))).toThrow(older)
    expect(() => requireRevision(first, 2)).toThrow(older)
  })
})

describe('changes of a document', () => {
  it('grant and take away, and remember when somebody lost the right to read', () => {
    const document = after([add, grant(['subscribe', 'publish']), revoke(['publish']), revoke(['subscribe'])])
    expect(document.revision).toBe(5)
    expect(document.history.get(streamId)).toEqual({ createdMs: 1_000, lossRevision: 5 })
    expect(document.network.streams[0]?.permissions.map((one) => one.user)).toEqual([owner.nodeId])
    // What is given again is no loss, and a date is none before it comes.
    const again = after([add, grant(['subscribe']), grant(['subscribe'], 5_000)])
    expect(again.history.get(streamId)?.lossRevision).toBe(0)
    expect(again.network.streams[0]?.permissions[1]).toEqual({ user, subscribe: 5_000 })
  })

  it('are told as a chain tells its events, dated by revisions', () => {
    const [before, next] = [after([add]), after([add, grant(['subscribe'])])]
    expect(changesBetween(before, next)).toEqual([
      {
        ...{ kind: 'permissions', streamId, user, block: 3 },
        permissions: expect.objectContaining({ subscribeUntilMs: Infinity, publishUntilMs: 0 }) as unknown,
      },
    ])
    expect(changesBetween(after([]), before)).toEqual([
      { kind: 'stream', streamId },
      expect.objectContaining({ kind: 'permissions', user: owner.nodeId, block: 2 }),
    ])
    expect(changesBetween(before, after([add, { kind: 'remove-tracker', nodeId: user }]))).toEqual([
      { kind: 'trackers' },
    ])
    const stored = after([add, { kind: 'add-storage', streamId, node: tracker }])
    expect(changesBetween(before, stored)).toEqual([{ kind: 'storage' }])
  })

  it('date a loss alike for who saw each revision and for who did not', () => {
    const history = [add, grant(['subscribe']), revoke(['subscribe']), grant(['publish'])]
    const [granted, last] = [after(history.slice(0, 2)), after(history)]
    const lost = changesBetween(granted, last).find((change) => change.kind === 'permissions')
    expect(lost).toMatchObject({ user, block: 4, permissions: { subscribeUntilMs: 0 } })
  })

  it('know a stream that was made anew under its id', () => {
    const [first, anew] = [after([add]), after([add, { kind: 'remove-stream', streamId }, add], 2_000)]
    expect(changesBetween(first, anew)).toEqual([{ kind: 'stream', streamId }])
  })

  it.each([
    [
      'a stream that is not there',
      { kind: 'remove-stream', streamId: toStreamId(`${user}/b`) },
      'STREAM_NOT_FOUND',
    ],
    ['a stream that is there', add, 'STREAM_EXISTS'],
    ['a tracker that is not there', { kind: 'remove-tracker', nodeId: owner.nodeId }, 'INVALID_ARGUMENT'],
    [
      'what cannot be public',
      { kind: 'grant', streamId, grant: { user: 'public', permissions: ['grant'], untilMs: Infinity } },
      'INVALID_ARGUMENT',
    ],
  ] as const)('refuse %s', (_, change, code) => {
    expect(() => after([add, change])).toThrow(expect.objectContaining({ code }))
  })
})
