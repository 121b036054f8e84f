import {
  buildBatch,
  bytesOfEpochId,
  ciphers,
  ContentType,
  decodeBatch,
  isSameBytes,
  limits,
  type EpochId,
  type MessageBatch,
} from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { crypto, streamId, userOf, World, type TestProcess, type TestUser } from './world.testkit.ts'

const [owner, reader] = (await Promise.all(['owner', 'reader'].map(userOf))) as [TestUser, TestUser]
const both = { publishUntilMs: Infinity, subscribeUntilMs: Infinity }
const text = (value: string) => new TextEncoder().encode(value)
const textOf = ({ content }: { readonly content: Uint8Array }) => new TextDecoder().decode(content)
const chain = { streamId, partition: 0, publisherId: owner.userId, messageChainId: 'chain' }
const { signal } = new AbortController()

let world: World
const begin = (encryption: object = {}) => {
  world = new World(encryption)
  for (const user of [owner, reader]) {
    world.cards.set(user.userId, user.card)
    world.setRights(user.userId, both)
  }
}
beforeEach(() => begin())
afterEach(() => {
  vi.restoreAllMocks()
  for (const process of [...world.processes]) process.crash()
})
const drafts = (...contents: readonly Uint8Array[]) =>
  contents.map((content, i) => ({
    previous: i === 0 ? undefined : { timestamp: world.clock.now(), sequenceNumber: i - 1 },
    ...{ timestamp: world.clock.now(), sequenceNumber: i },
    ...{ contentType: ContentType.json, encryptionType: 0, groupKeyId: '', content },
  }))
type Drafts = ReturnType<typeof drafts>
const sealed = async (process: TestProcess, messages: Drafts): Promise<Drafts> => {
  const contents = await world.run(Promise.resolve(process.encryption.step.seal(messages, { chain, signal })))
  return messages.map((one, i) => ({ ...one, ...contents[i] }) as Drafts[number])
}
const signed = (messages: Drafts): MessageBatch =>
  decodeBatch(buildBatch({ chain, messages }, crypto, owner.identity).bytes)
const open = (process: TestProcess, batch: MessageBatch, at = 0) => {
  const message = batch.messages[at]
  if (message === undefined) throw new Error('no message')
  return world.run(Promise.resolve().then(() => process.encryption.step.open({ ...message, batch })))
}

describe('the content step of encryption', () => {
  it('hides content and its type, in one batch, and opens its messages in any order', async () => {
    const [writer, other] = [world.start(owner), world.start(reader)]
    const batch = signed(await sealed(writer, drafts(text('one'), text('two'), text('three'))))
    expect(batch.messages.map((one) => [one.contentType, one.encryptionType])).toEqual(
      Array.from({ length: 3 }, () => [ContentType.binary, 2]),
    )
    for (const at of [2, 0, 1, 1]) {
      const opened = await open(other, batch, at)
      expect(opened).toMatchObject({ contentType: ContentType.json, encryptionType: 0 })
      expect(textOf(opened)).toBe(['one', 'two', 'three'][at])
    }
  })

  it('opens a batch once, also when messages of others come in between', async () => {
    const [writer, other] = [world.start(owner), world.start(reader)]
    const [one, two] = [
      signed(await sealed(writer, drafts(text('1'), text('2')))),
      signed(await sealed(writer, drafts(text('3'), text('4')))),
    ]
    const first = await open(other, one)
    for (const [batch, at, content] of [
      [two, 0, '3'],
      [one, 1, '2'],
      [two, 1, '4'],
    ] as const)
      expect(textOf(await open(other, batch, at))).toBe(content)
    await open(other, one)
    expect(await open(other, one)).toBe(first)
  })

  it('leaves content in the clear where everybody may subscribe, and seals it when that ends', async () => {
    begin()
    const untilMs = world.clock.now() + 1_000
    world.rights.set(
      `0x${'0'.repeat(40)}` as never,
      { ...world.rights.get(owner.userId), ...both, subscribeUntilMs: untilMs } as never,
    )
    const process = world.start(owner)
    const messages = drafts(text('one'))
    expect((await sealed(process, messages))[0]).toMatchObject({ encryptionType: 0, content: text('one') })
    await world.pass(1_000)
    expect((await sealed(process, messages))[0]?.encryptionType).toBe(2)
  })

  it('does as the owner says', async () => {
    begin({ content: 'never' })
    expect((await sealed(world.start(owner), drafts(text('one'))))[0]?.encryptionType).toBe(0)
  })

  it('does at once what the owner changed', async () => {
    const process = world.start(owner)
    expect((await sealed(process, drafts(text('one'))))[0]?.encryptionType).toBe(2)
    world.stream = { ...world.stream, metadata: JSON.stringify({ encryption: { content: 'never' } }) }
    process.tell({ kind: 'stream', streamId })
    expect((await sealed(process, drafts(text('two'))))[0]?.encryptionType).toBe(0)
  })

  it('keeps its keys when the registry tells late of what is known, such as that the stream was created', async () => {
    const process = world.start(owner)
    // No storage node has anything yet: what this process knows is all there is.
    world.weather.isUnstored = true
    const [first] = await sealed(process, drafts(text('one')))
    process.tell({ kind: 'stream', streamId })
    expect((await sealed(process, drafts(text('two'))))[0]?.groupKeyId).toBe(first?.groupKeyId)
    await world.settle()
    expect((await sealed(process, drafts(text('three'))))[0]?.groupKeyId).toBe(first?.groupKeyId)
  })

  it('regards a change of the stream that was missed', async () => {
    const process = world.start(owner)
    await sealed(process, drafts(text('one')))
    world.stream = { ...world.stream, metadata: JSON.stringify({ encryption: { content: 'never' } }) }
    process.tell({ kind: 'unknown' })
    await world.settle()
    expect((await sealed(process, drafts(text('two'))))[0]?.encryptionType).toBe(0)
  })

  it('seals for the readers of a stream that was made again, also where the registry did not answer just then', async () => {
    const [process, removed] = [world.start(owner), world.start(reader)]
    await sealed(process, drafts(text('one')))
    world.rights.delete(reader.userId)
    world.stream = { ...world.stream, createdMs: world.clock.now() }
    world.weather.isStreamless = true
    process.tell({ kind: 'stream', streamId })
    await world.settle()
    world.weather.isStreamless = false
    await world.pass(2_000)
    const batch = signed(await sealed(process, drafts(text('two'))))
    await world.settle()
    await expect(open(removed, batch)).rejects.toMatchObject({ code: 'KEY_NOT_FOUND' })
  })

  it('does not decide by what changed while it was being asked for', async () => {
    const nobody = `0x${'0'.repeat(40)}` as never
    world.rights.set(nobody, { ...world.rights.get(owner.userId), ...both } as never)
    const process = world.start(owner)
    const first = process.encryption.isEncrypted(streamId)
    // The answer of before is under way.
    await Promise.resolve()
    await Promise.resolve()
    world.rights.delete(nobody)
    process.tell({ kind: 'permissions', streamId, user: 'public' })
    await world.run(first)
    expect(await world.run(process.encryption.isEncrypted(streamId))).toBe(true)
  })

  it('refuses a message that is too large with what sealing adds', async () => {
    const process = world.start(owner)
    const large = new Uint8Array(limits.maxContentBytes)
    await expect(sealed(process, drafts(large))).rejects.toMatchObject({ code: 'MESSAGE_TOO_LARGE' })
    const fits = await sealed(process, drafts(large.subarray(17)))
    expect(fits[0]?.content).toHaveLength(limits.maxContentBytes)
  })

  it.each<[string, (messages: Drafts) => Drafts]>([
    [
      'content was changed',
      ([a, b]) => [{ ...a, content: a?.content.with(0, 1 ^ (a.content[0] ?? 0)) }, b] as Drafts,
    ],
    ['a message was cut out', ([, b]) => [b] as Drafts],
    ['messages have different keys', ([a, b]) => [a, { ...b, groupKeyId: 'AAAAAAAA' }] as Drafts],
    ['one is in the clear', ([a, b]) => [a, { ...b, encryptionType: 0, groupKeyId: '' }] as Drafts],
  ])('refuses a batch where %s', async (_, change) => {
    const [writer, other] = [world.start(owner), world.start(reader)]
    const batch = signed(change(await sealed(writer, drafts(text('one'), text('two')))))
    await expect(open(other, batch)).rejects.toMatchObject({ code: 'CONTENT_NOT_AUTHENTIC' })
  })

  it.each(['', 'short', '!!!!!!!!'])('refuses "%s" as the id of a key', async (groupKeyId) => {
    const [message] = await sealed(world.start(owner), drafts(text('one')))
    const batch = signed([{ ...message, groupKeyId } as Drafts[number]])
    await expect(open(world.start(reader), batch)).rejects.toMatchObject({ code: 'CONTENT_NOT_AUTHENTIC' })
  })

  it('opens a message although another key of the same id came first', async () => {
    const [writer, other] = [world.start(owner), world.start(reader)]
    const batch = signed(await sealed(writer, drafts(text('one'))))
    const fake = new Uint8Array(32).fill(9)
    const { sha256 } = ciphers
    vi.spyOn(ciphers, 'sha256').mockImplementation((...parts: readonly Uint8Array[]) => {
      const hash = sha256(...parts)
      if (parts.some((part) => isSameBytes(part, fake)))
        hash.set(bytesOfEpochId(batch.messages[0]?.groupKeyId as EpochId))
      return hash
    })
    const { known } = await world.run(other.encryption.stream(streamId))
    expect(known.add(fake).id).toBe(batch.messages[0]?.groupKeyId)
    expect(textOf(await open(other, batch))).toBe('one')
  })

  it('opens a message whose stream is changed while its key is looked for', async () => {
    world.weather.isDeaf = true
    world.weather.isUnstored = true
    const [writer, other] = [world.start(owner), world.start(reader)]
    const batch = signed(await sealed(writer, drafts(text('one'))))
    await world.settle()
    const opened = other.encryption.step.open({ ...(batch.messages[0] as (typeof batch.messages)[0]), batch })
    await world.pass(1_000)
    world.weather.isDeaf = false
    world.stream = { ...world.stream, metadata: '{"encryption":{"rotateAfterDays":3}}' }
    other.tell({ kind: 'stream', streamId })
    expect(textOf(await world.run(Promise.resolve(opened)))).toBe('one')
  })

  it('ends when the client closes', async () => {
    const [writer, other] = [world.start(owner), world.start(reader)]
    world.weather.isUnstored = true
    const batch = signed(await sealed(writer, drafts(text('one'))))
    await world.settle()
    writer.crash()
    const opened = Promise.resolve(
      other.encryption.step.open({ ...(batch.messages[0] as (typeof batch.messages)[0]), batch }),
    )
    const refused = expect(opened).rejects.toMatchObject({ code: 'ABORTED' })
    await world.pass(100)
    other.crash()
    await world.run(refused)
    expect(other.isJoined).toBe(false)
  })
})
