import { isRunnelError, signCard, type KeyRecord, type MessageBatch } from '@runnel/protocol'
import { decodeKeyRecord } from '@runnel/protocol/key-records'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { crypto, streamId, userOf, World, type TestProcess, type TestUser } from './world.testkit.ts'

const dayMs = 86_400_000
const content = new TextEncoder().encode('a secret')
const [owner, publisher, reader, writer, late] = (await Promise.all(
  ['owner', 'publisher', 'reader', 'writer', 'late reader'].map(userOf),
)) as [TestUser, TestUser, TestUser, TestUser, TestUser]
const both = { publishUntilMs: Infinity, subscribeUntilMs: Infinity }
const reads = { subscribeUntilMs: Infinity }

let world: World
const begin = (encryption: object = {}) => {
  world = new World(encryption)
  for (const user of [owner, publisher, reader]) world.cards.set(user.userId, user.card)
  world.setRights(owner.userId, { ...both, grant: true })
  world.setRights(publisher.userId, both)
  world.setRights(reader.userId, reads)
}
beforeEach(() => begin())
afterEach(() => {
  for (const process of [...world.processes]) process.crash()
})
const publish = async (process: TestProcess): Promise<MessageBatch> => {
  const batch = await world.run(process.publish(content))
  await world.settle()
  return batch
}
const epochOf = (batch: MessageBatch) => batch.messages[0]?.groupKeyId
const opens = (process: TestProcess, batch: MessageBatch) =>
  world.run(
    process.open(batch).then(
      () => 'opened',
      (error: unknown) => (isRunnelError(error) ? error.code : undefined),
    ),
  )
const records = <K extends KeyRecord['kind']>(kind: K) =>
  world.records
    .map(({ message }) => decodeKeyRecord(message.content))
    .filter((one): one is Extract<KeyRecord, { kind: K }> => one.kind === kind)
/** The writer may read from now on, and has a card. */
const writerComes = () => {
  world.cards.set(writer.userId, writer.card)
  world.setRights(writer.userId, reads)
  return world.settle()
}
/** What the writer gets of these, if it comes while that process is there, and opens them when it is not. */
const newcomerOpens = async (process: TestProcess, ...batches: readonly MessageBatch[]) => {
  await writerComes()
  process.crash()
  const newcomer = world.start(writer)
  return Promise.all(batches.map((batch) => opens(newcomer, batch)))
}
const streamOf = (process: TestProcess) => world.run(process.encryption.stream(streamId))

describe('the epoch of a publisher', () => {
  it('is for as long as nobody goes', async () => {
    const process = world.start(publisher)
    const first = await publish(process)
    expect(epochOf(await publish(process))).toBe(epochOf(first))
    world.setRights(writer.userId, reads)
    expect(epochOf(await publish(process))).toBe(epochOf(first))
  })

  it('is of another keyring once its user reads with the next key', async () => {
    const nextKey = new Uint8Array(32).fill(9)
    const process = world.start(publisher, {
      source: {
        readingKey: async (generation) => (generation === 0 ? publisher.readingKey : nextKey),
        signCard: async (generation, publicKey) => {
          if (generation === 0) return publisher.card
          const { userId, identity } = publisher
          const { chainId, dateMs, block } = publisher.card
          return signCard({ userId, chainId, generation, dateMs, block, publicKey }, crypto, identity)
        },
      },
    })
    const first = await publish(process)
    await world.run(process.encryption.renewCard(new AbortController().signal))
    await world.run((await streamOf(process)).rotate())
    const second = await publish(process)
    const keyrings = records('epoch').map(({ keyringId }) => String(keyringId))
    expect(keyrings).toHaveLength(2)
    expect(keyrings[1]).not.toBe(keyrings[0])
    await world.run((await streamOf(process)).rotate())
    expect(String(records('epoch').at(-1)?.keyringId)).toBe(keyrings[1])
    // Newcomers get both of them.
    expect(await newcomerOpens(process, first, second)).toEqual(['opened', 'opened'])
  })

  it('is another one before the next message after a revocation', async () => {
    const process = world.start(publisher)
    const gone = world.start(reader)
    const first = await publish(process)
    expect(await opens(gone, first)).toBe('opened')
    world.setRights(reader.userId, {})
    const second = await publish(process)
    expect(epochOf(second)).not.toBe(epochOf(first))
    expect(await opens(gone, second)).toBe('KEY_NOT_FOUND')
  })

  it('is another one when a permission has ended, of which nobody tells', async () => {
    world.setRights(reader.userId, { subscribeUntilMs: world.clock.now() + dayMs })
    const process = world.start(publisher)
    const gone = world.start(reader)
    const first = await publish(process)
    await world.pass(dayMs)
    expect(await opens(gone, await publish(process))).toBe('KEY_NOT_FOUND')
    expect(await opens(gone, first)).toBe('opened')
  })

  it('lets nobody back to one before whose permission had ended there, by a clock that is behind', async () => {
    world.setRights(reader.userId, { subscribeUntilMs: world.clock.now() + dayMs })
    const process = world.start(publisher)
    await publish(process)
    await world.pass(dayMs)
    const second = await publish(process)
    await publish(world.start(publisher, { skewMs: -60_000 }))
    expect(await opens(world.start(reader), second)).toBe('KEY_NOT_FOUND')
  })

  it('ends with a permission that was given or shortened after it began', async () => {
    const process = world.start(publisher)
    const first = await publish(process)
    world.setRights(reader.userId, { subscribeUntilMs: world.clock.now() + dayMs })
    world.setRights(writer.userId, { subscribeUntilMs: world.clock.now() + 2 * dayMs })
    expect(epochOf(await publish(process))).toBe(epochOf(first))
    await world.pass(dayMs)
    const second = await publish(process)
    await world.pass(dayMs)
    const third = await publish(process)
    expect(new Set([first, second, third].map(epochOf)).size).toBe(3)
  })

  it('is another one after the days that the owner says', async () => {
    begin({ rotateAfterDays: 2 })
    const process = world.start(publisher)
    const first = await publish(process)
    await world.pass(2 * dayMs - 10_000)
    expect(epochOf(await publish(process))).toBe(epochOf(first))
    await world.pass(10_000)
    expect(epochOf(await publish(process))).not.toBe(epochOf(first))
  })

  it('is another one on demand', async () => {
    const process = world.start(publisher)
    const first = await publish(process)
    await world.run((await streamOf(process)).rotate())
    expect(epochOf(await publish(process))).not.toBe(epochOf(first))
  })

  it('is made anew where somebody goes while it is made', async () => {
    const process = world.start(publisher)
    const gone = world.start(reader)
    await streamOf(process)
    const sealed = process.publish(content)
    // The registry was asked who may read; the cards of the readers were not yet.
    await Promise.resolve()
    world.setRights(reader.userId, {})
    expect(await opens(gone, await world.run(sealed))).toBe('KEY_NOT_FOUND')
  })

  it('leads to the earlier ones, where readers get the history', async () => {
    const process = world.start(publisher)
    const first = await publish(process)
    await world.run((await streamOf(process)).rotate())
    await publish(process)
    expect(await newcomerOpens(process, first)).toEqual(['opened'])
  })

  it('is another one when somebody comes, where readers do not get the history', async () => {
    begin({ history: 'none' })
    const process = world.start(publisher)
    const first = await publish(process)
    await writerComes()
    const newcomer = world.start(writer)
    const second = await publish(process)
    expect(epochOf(second)).not.toBe(epochOf(first))
    expect(await opens(newcomer, second)).toBe('opened')
    await expect(world.run(newcomer.open(first))).rejects.toMatchObject({
      code: 'KEY_NOT_FOUND',
      remedy: expect.stringContaining('before your permission stay closed') as string,
    })
  })
})

describe('a permission of a minute', () => {
  const minuteMs = 60_000
  const comes = () => {
    world.cards.set(writer.userId, writer.card)
    world.setRights(writer.userId, { subscribeUntilMs: world.clock.now() + minuteMs })
  }

  it.each(['all', 'none'])('is of use to its end (history: %s)', async (history) => {
    begin({ history })
    const process = world.start(publisher)
    await publish(process)
    comes()
    const newcomer = world.start(writer)
    expect(await opens(newcomer, await publish(process))).toBe('opened')
    await world.run((await streamOf(process)).rotate())
    expect(await opens(newcomer, await publish(process))).toBe('opened')
    await world.pass(minuteMs)
    expect(await opens(newcomer, await publish(process))).toBe('KEY_NOT_FOUND')
  })

  it('is of use to who has to ask for a key', async () => {
    const process = world.start(publisher)
    world.setRights(writer.userId, { subscribeUntilMs: world.clock.now() + minuteMs })
    expect(await opens(world.start(writer), await publish(process))).toBe('opened')
  })

  it('is of use where everybody else is away, if the grant passed on the keys', async () => {
    const process = world.start(publisher)
    const batch = await publish(process)
    process.crash()
    comes()
    const granting = world.start(owner)
    await world.run(granting.encryption.share(streamId, writer.userId))
    granting.crash()
    expect(await opens(world.start(writer), batch)).toBe('opened')
  })

  it('opens nothing that was made after it by a clock that is ahead, whoever gives keys', async () => {
    const ahead = world.start(publisher, { skewMs: 2 * minuteMs })
    const others = [world.start(publisher), world.start(owner)] as const
    await publish(ahead)
    for (const process of others) await publish(process)
    comes()
    await publish(ahead)
    for (const { encryption } of others) await world.run(encryption.share(streamId, writer.userId))
    const newcomer = world.start(writer)
    expect(await opens(newcomer, await publish(ahead))).toBe('KEY_NOT_FOUND')
    await world.pass(dayMs)
    expect(await opens(newcomer, await publish(ahead))).toBe('KEY_NOT_FOUND')
  })
})

describe('the epochs of two processes of a publisher, where readers do not get the history', () => {
  it('are both in use: a reader waits for the key of the one that is there, though the other has a newer', async () => {
    begin({ history: 'none' })
    world.setRights(writer.userId, reads)
    const first = world.start(publisher)
    const before = await publish(first)
    await world.pass(1_000)
    expect(epochOf(await publish(world.start(publisher)))).not.toBe(epochOf(before))
    const newcomer = world.start(writer)
    world.weather.isDeaf = true
    const waiting = opens(newcomer, await publish(first))
    world.clock.schedule(12_000, () => (world.weather.isDeaf = false))
    expect(await waiting).toBe('opened')
  })
})

describe('after a restart', () => {
  it('there is a new epoch, that leads to the last, and readers keep their links', async () => {
    const before = world.start(publisher)
    const first = await publish(before)
    const links = records('link').length
    before.crash()
    const second = await publish(world.start(publisher))
    expect(epochOf(second)).not.toBe(epochOf(first))
    expect(records('link')).toHaveLength(links)
    expect(records('epoch').at(-1)?.earlier).toHaveLength(1)
    const late = world.start(reader)
    expect(await opens(late, second)).toBe('opened')
    expect(await opens(late, first)).toBe('opened')
  })

  it('nobody reads on who was given the key since, and went before the restart', async () => {
    const before = world.start(publisher)
    await publish(before)
    await writerComes()
    before.crash()
    world.setRights(writer.userId, {})
    const second = await publish(world.start(publisher))
    expect(await opens(world.start(writer), second)).toBe('KEY_NOT_FOUND')
  })

  it('readers that went have no part in it', async () => {
    const before = world.start(publisher)
    await publish(before)
    before.crash()
    world.setRights(reader.userId, {})
    await publish(world.start(publisher))
    expect(records('epoch').map((one) => one.readers.length)).toEqual([2, 1])
  })
})

describe('where storage nodes do not answer for a while', () => {
  it('the key that was made without cards is soon replaced by one for all, which leads to it', async () => {
    world.weather.isCardless = true
    const process = world.start(publisher)
    const first = await publish(process)
    world.weather.isCardless = false
    expect(epochOf(await publish(process))).toBe(epochOf(first))
    await world.pass(30_000)
    // What is published while the next one is made does not wait for it.
    expect((await streamOf(process)).sealingNow?.id).toBe(epochOf(first))
    await world.settle()
    const second = await publish(process)
    await world.pass(dayMs)
    expect(epochOf(await publish(process))).toBe(epochOf(second))
    process.crash()
    for (const user of [publisher, reader])
      expect(await Promise.all([first, second].map((one) => opens(world.start(user), one)))).toEqual([
        'opened',
        'opened',
      ])
  })

  it('a key is used longer each time, up to ten minutes', async () => {
    world.weather.isCardless = true
    const process = world.start(publisher)
    const epochs = new Set<string | undefined>()
    for (let minute = 0; minute < 60; minute++) {
      epochs.add(epochOf(await publish(process)))
      await world.pass(60_000)
    }
    expect(epochs.size).toBe(10)
    expect(records('link')).toEqual([])
  })

  it.each(['isSilent', 'isCardless'] as const)(
    'newcomers get what was published before a restart in that time (%s)',
    async (how) => {
      const before = world.start(publisher)
      const first = await publish(before)
      before.crash()
      world.weather[how] = true
      const process = world.start(publisher)
      const second = await publish(process)
      await world.pass(60_000)
      const third = await publish(process)
      world.weather[how] = false
      await world.pass(120_000)
      const batches = [first, second, third, await publish(process)]
      expect(new Set(batches.map(epochOf)).size).toBe(3)
      expect(await newcomerOpens(process, ...batches)).toEqual(batches.map(() => 'opened'))
    },
  )

  it('what a process published then is found later, though it ends at once', async () => {
    world.weather.isSilent = true
    const process = world.start(publisher)
    const first = await publish(process)
    world.weather.isSilent = false
    await world.run((await streamOf(process)).finish(new AbortController().signal))
    process.crash()
    const next = world.start(publisher)
    await publish(next)
    expect(await newcomerOpens(next, first)).toEqual(['opened'])
  })

  it.each([false, true])(
    'an epoch is announced as soon as they take its record (no cards: %s)',
    async (isCardless) => {
      Object.assign(world.weather, { isSilent: true, isCardless })
      const stored = Promise.withResolvers<void>()
      world.confirm = () => stored.promise
      const process = world.start(publisher)
      const first = await world.run(process.publish(content))
      expect(records('newest')).toEqual([])
      Object.assign(world.weather, { isSilent: false, isCardless: false })
      stored.resolve()
      await world.run((await streamOf(process)).keysStored(new AbortController().signal))
      process.crash()
      expect(records('newest')).toMatchObject([{ commitment: expect.anything() }])
      const lister = await streamOf(world.start(reader))
      const { openers } = await world.run(lister.keys())
      // Without their cards it had no readers: another one leads them to it.
      expect(openers.map(({ epochId }) => epochId === epochOf(first))).toEqual([!isCardless])
      expect(await opens(world.start(reader), first)).toBe('opened')
      const next = world.start(publisher)
      await publish(next)
      expect(await newcomerOpens(next, first)).toEqual(['opened'])
    },
  )

  it('publishers use the epoch that the key holder told of', async () => {
    begin({ keyHolder: owner.userId })
    world.cards.set(writer.userId, writer.card)
    world.setRights(writer.userId, both)
    const processes = [world.start(publisher), world.start(writer)]
    for (const process of processes) (await streamOf(process)).attend()
    await world.settle()
    world.weather.isSilent = true
    const holder = world.start(owner)
    await world.run((await streamOf(holder)).hold())
    await world.settle()
    const used = [await publish(holder), ...(await Promise.all(processes.map(publish)))].map(epochOf)
    expect(new Set(used).size).toBe(1)
  })
})

describe('where the registry does not answer', () => {
  it('the key from before stays in use', async () => {
    const process = world.start(publisher)
    const first = await publish(process)
    world.setOutage(true)
    process.tell({ kind: 'permissions', streamId, user: writer.userId })
    expect(process.news).toContain('uncertain')
    expect(epochOf(await publish(process))).toBe(epochOf(first))
  })

  it('what it told before counts: who was taken away is, and without history who came is in', async () => {
    begin({ history: 'none' })
    world.cards.set(writer.userId, writer.card)
    const process = world.start(publisher)
    const [gone, newcomer] = [world.start(reader), world.start(writer)]
    await publish(process)
    world.setRights(reader.userId, {})
    world.setRights(writer.userId, reads)
    world.setOutage(true)
    const second = await publish(process)
    expect(epochOf(await publish(process))).toBe(epochOf(second))
    world.setOutage(false)
    expect([await opens(gone, second), await opens(newcomer, second)]).toEqual(['KEY_NOT_FOUND', 'opened'])
  })

  it('permissions end all the same', async () => {
    world.setRights(reader.userId, { subscribeUntilMs: world.clock.now() + dayMs })
    const process = world.start(publisher)
    const gone = world.start(reader)
    await publish(process)
    world.setOutage(true)
    process.tell({ kind: 'permissions', streamId, user: writer.userId })
    await world.pass(dayMs)
    const second = await publish(process)
    world.setOutage(false)
    expect(await opens(gone, second)).toBe('KEY_NOT_FOUND')
  })

  it('a publisher stops at once where the owner wants that, though nobody told of a change, and goes on afterwards', async () => {
    begin({ onOutage: 'stop' })
    const process = world.start(publisher)
    const first = await publish(process)
    world.setOutage(true)
    expect(process.news).toContain('stopped')
    await expect(publish(process)).rejects.toMatchObject({ code: 'KEYS_UNCERTAIN' })
    world.setRights(reader.userId, {})
    world.setOutage(false)
    const second = await publish(process)
    expect([await opens(world.start(reader), first), await opens(world.start(reader), second)]).toEqual([
      'opened',
      'KEY_NOT_FOUND',
    ])
  })

  it('nothing is published where the owner wants that, nor where nothing was known before', async () => {
    begin({ onOutage: 'stop' })
    const process = world.start(publisher)
    await publish(process)
    world.setOutage(true)
    process.tell({ kind: 'permissions', streamId, user: writer.userId })
    await expect(publish(process)).rejects.toMatchObject({ code: 'KEYS_UNCERTAIN' })
    world.setOutage(false)
    await expect(publish(process)).resolves.toBeDefined()
  })
})

describe('the epoch of a key holder', () => {
  let holder: TestProcess
  const hold = async (encryption: object = {}) => {
    begin({ keyHolder: owner.userId, ...encryption })
    world.cards.set(writer.userId, writer.card)
    world.setRights(writer.userId, { publishUntilMs: Infinity })
    holder = world.start(owner)
    await world.run((await streamOf(holder)).hold())
    await world.settle()
  }

  it('is for all publishers, each with its own key', async () => {
    await hold()
    const batches = [await publish(world.start(publisher)), await publish(world.start(writer))]
    expect(new Set([...batches, await publish(holder)].map(epochOf)).size).toBe(1)
    expect(await opens(world.start(reader), batches[1] as MessageBatch)).toBe('opened')
    expect(await opens(world.start(writer), batches[0] as MessageBatch)).not.toBe('opened')
  })

  it('lets a writer open what it published, also after a restart and as a reader without history', async () => {
    await hold({ history: 'none' })
    const process = world.start(writer)
    const own = await publish(process)
    expect(await opens(process, own)).toBe('opened')
    process.crash()
    expect(await opens(world.start(writer), own)).toBe('opened')
    world.setRights(writer.userId, reads)
    await world.settle()
    expect(await opens(world.start(writer), own)).toBe('opened')
    expect(await opens(world.start(writer), await publish(holder))).toBe('opened')
  })

  it('lets a reader that may publish read to the end of its permission, and publish after it', async () => {
    await hold()
    world.setRights(writer.userId, {
      publishUntilMs: Infinity,
      subscribeUntilMs: world.clock.now() + 600_000,
    })
    await world.settle()
    const first = await publish(holder)
    await world.pass(360_000)
    await world.run((await streamOf(holder)).rotate())
    await world.settle()
    const second = await publish(holder)
    const late = world.start(writer)
    expect([await opens(late, first), await opens(late, second)]).toEqual(['opened', 'opened'])
    late.crash()
    await world.pass(360_000)
    const third = await publish(holder)
    const process = world.start(writer)
    expect(epochOf(await publish(process))).toBe(epochOf(third))
    expect(await opens(process, third)).not.toBe('opened')
  })

  it('is followed when it changes', async () => {
    await hold()
    const process = world.start(writer)
    const first = await publish(process)
    await world.run((await streamOf(holder)).rotate())
    await world.settle()
    const second = await publish(process)
    expect(epochOf(second)).not.toBe(epochOf(first))
    expect(epochOf(await publish(holder))).toBe(epochOf(second))
  })

  it('is used by publishers that came after it was made, and became readers since', async () => {
    world = new World({ keyHolder: owner.userId })
    for (const user of [owner, writer]) world.cards.set(user.userId, user.card)
    world.setRights(owner.userId, { ...both, grant: true })
    holder = world.start(owner)
    await publish(holder)
    world.setRights(writer.userId, { publishUntilMs: Infinity })
    await world.settle()
    const own = await publish(holder)
    const process = world.start(writer)
    expect(epochOf(await publish(process))).toBe(epochOf(own))
    world.setRights(writer.userId, both)
    await world.settle()
    holder.crash()
    expect(await opens(world.start(writer), own)).toBe('opened')
  })

  it('opens what a publisher that may not read sealed in it to who came while the holder was away, once it is back', async () => {
    await hold()
    world.setRights(writer.userId, { publishUntilMs: Infinity })
    await world.settle()
    const process = world.start(writer)
    const own = await publish(holder)
    holder.crash()
    world.cards.set(late.userId, late.card)
    world.setRights(late.userId, reads)
    const sealed = await publish(process)
    expect(epochOf(sealed)).toBe(epochOf(own))
    const newcomer = world.start(late)
    expect(await opens(newcomer, sealed)).toBe('KEY_NOT_FOUND')
    await world.run((await streamOf(world.start(owner))).hold())
    // A key that was given up rests for a while.
    await world.pass(16_000)
    expect(await opens(newcomer, sealed)).toBe('opened')
  })

  describe('and a publisher that has no link yet', () => {
    beforeEach(async () => {
      await hold()
      // It had no card when the present epoch was made.
      world.cards.delete(writer.userId)
      await world.run((await streamOf(holder)).rotate())
      world.forget((chain) => chain.startsWith('l'))
    })

    it.each([
      ['may only publish', {}],
      ['may also read', reads],
    ])('is used from the first message on by one that %s', async (_, rights) => {
      world.setRights(writer.userId, { publishUntilMs: Infinity, ...rights })
      await world.settle()
      expect(epochOf(await publish(world.start(writer)))).toBe(epochOf(await publish(holder)))
    })

    it('is used as soon as a slow holder answers', async () => {
      const process = world.start(writer)
      world.weather.delayMs = 3_000
      const first = await world.run(process.publish(content))
      await world.pass(7_000)
      const used = [first, await publish(process), await publish(holder)].map(epochOf)
      expect(used.map((one) => one === used[2])).toEqual([false, true, true])
    })
  })

  it.each<[string, Parameters<World['start']>[1]]>([
    ['has no reading key', { source: { readingKey: () => Promise.reject(clientError('NO_READING_KEY')) } }],
    ['would ask a person for it', { source: { isSilent: false } }],
  ])('is not used by a publisher that %s, and does not keep it from publishing', async (_, options) => {
    await hold()
    const process = world.start(writer, options)
    expect(epochOf(await publish(process))).not.toBe(epochOf(await publish(holder)))
  })

  it.each<{ what: string; lose: () => void }>([
    { what: 'by a revocation', lose: () => world.setRights(writer.userId, {}) },
    { what: 'by time', lose: () => {} },
  ])(
    'is not used by who starts later where somebody got its key since and lost the right $what',
    async ({ lose }) => {
      await hold()
      const first = await publish(holder)
      world.setRights(writer.userId, { subscribeUntilMs: world.clock.now() + dayMs })
      await world.settle()
      const gone = world.start(writer)
      expect(await opens(gone, first)).toBe('opened')
      holder.crash()
      await world.pass(dayMs / 2)
      lose()
      await world.pass(dayMs / 2)
      const process = world.start(publisher)
      const second = await publish(process)
      expect(epochOf(second)).not.toBe(epochOf(first))
      expect(await opens(gone, second)).toBe('KEY_NOT_FOUND')
    },
  )

  it.each<{ what: string; change: () => Promise<void> | void }>([
    { what: 'somebody in it may not read any more', change: () => world.setRights(reader.userId, {}) },
    { what: 'the holder may not grant any more', change: () => world.setRights(owner.userId, both) },
    {
      what: 'the holder may not read any more',
      change: () => world.setRights(owner.userId, { grant: true }),
    },
    { what: 'it is too old', change: () => world.pass(8 * dayMs) },
  ])('is not used where $what', async ({ change }) => {
    await hold()
    const first = await publish(holder)
    holder.crash()
    const process = world.start(publisher)
    expect(epochOf(await publish(process))).toBe(epochOf(first))
    await change()
    expect(epochOf(await publish(process))).not.toBe(epochOf(first))
  })

  it('is not used where it names fewer than there are, and those may not get it', async () => {
    await hold({ history: 'none' })
    holder.crash()
    const process = world.start(publisher)
    const first = await publish(process)
    world.setRights(writer.userId, reads)
    expect(epochOf(await publish(process))).not.toBe(epochOf(first))
  })
})
