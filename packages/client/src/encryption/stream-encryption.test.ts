import { isRunnelError, keyPartition, toStreamPartId, type NodeId } from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { streamId, userOf, World, type TestProcess, type TestUser } from './world.testkit.ts'

const content = new TextEncoder().encode('a secret')
const [publisher, reader] = (await Promise.all(['publisher', 'reader'].map(userOf))) as [TestUser, TestUser]

let world: World
let process: TestProcess
beforeEach(() => {
  world = new World()
  for (const { userId, card } of [publisher, reader]) world.cards.set(userId, card)
  world.setRights(publisher.userId, { publishUntilMs: Infinity, subscribeUntilMs: Infinity })
  world.setRights(reader.userId, { subscribeUntilMs: Infinity })
  process = world.start(publisher)
})
afterEach(() => {
  for (const one of [...world.processes]) one.crash()
})

describe('records that storage nodes did not take', () => {
  it.each([
    ['after a while', 'NOT_STORED_IN_TIME', () => world.pass(60_000)],
    ['when there is a storage node', 'NO_STORAGE_NODE', () => process.tell({ kind: 'storage' })],
  ] as const)('are published again %s', async (_, code, wait) => {
    let isAway = true
    world.weather.isUnstored = true
    world.confirm = () => (isAway ? Promise.reject(clientError(code)) : Promise.resolve())
    const batch = await world.run(process.publish(content))
    await world.settle()
    world.weather.isUnstored = false
    const places = () => world.records.filter(({ isStored }) => isStored).length
    expect(places()).toBe(0)
    // A storage node that is there does not have them, and says so once.
    world.confirm = () => {
      const isAsked = isAway
      isAway = places() === 0
      return isAsked ? Promise.reject(clientError('NOT_STORED_IN_TIME')) : Promise.resolve()
    }
    await wait()
    await world.pass(120_000)
    process.crash()
    expect(await world.run(world.start(reader).open(batch))).toEqual(content)
  })

  it('do not keep a process from ending in time', async () => {
    world.confirm = () => new Promise(() => {})
    await world.run(process.publish(content))
    const ending = new AbortController()
    const finished = process.encryption.finish(ending.signal)
    ending.abort()
    expect(await finished).toBeUndefined()
  })
})

it('lists the keys of a publisher behind hundreds that have none', async () => {
  for (let i = 0; i < 300; i++)
    world.rights.set(`0x${i.toString(16).padStart(40, '0')}` as NodeId, {
      ...{ edit: false, delete: false, grant: false, publishUntilMs: Infinity, subscribeUntilMs: 0 },
    })
  await world.run(process.publish(content))
  await world.settle()
  const stream = await world.run(world.start(reader).encryption.stream(streamId))
  const { openers } = await world.run(stream.keys())
  expect(openers.map(({ userId }) => userId)).toEqual([publisher.userId])
})

it('leads new readers to all that a publisher encrypted, also where storage nodes had not heard of its permission', async () => {
  world.setRights(reader.userId, {})
  const first = await world.run(process.publish(content))
  await world.settle()
  process.crash()
  world.weather.isRefusing = true
  const again = world.start(publisher)
  await world.run(again.publish(content))
  await world.settle()
  world.weather.isRefusing = false
  await world.pass(60_000)
  await world.run(again.publish(content))
  world.setRights(reader.userId, { subscribeUntilMs: Infinity })
  await world.settle()
  again.crash()
  expect(await world.run(world.start(reader).open(first))).toEqual(content)
})

describe('a list of keys', () => {
  const listed = async () =>
    world.run((await world.run(world.start(reader).encryption.stream(streamId))).keys())

  it('says that it is not complete where storage nodes do not answer', async () => {
    await world.run(process.publish(content))
    await world.settle()
    world.weather.isSilent = true
    expect(await listed()).toMatchObject({ openers: [], isComplete: false })
    world.weather.isSilent = false
    const userId = publisher.userId
    expect(await listed()).toMatchObject({ openers: [{ userId }], isComplete: true })
  })

  it('says that it is not complete where they refuse', async () => {
    await world.run(process.publish(content))
    await world.settle()
    world.weather.isRefusing = true
    expect(await listed()).toMatchObject({ openers: [], isComplete: false })
  })

  it('has what is known without the cards where storage nodes do not answer for these', async () => {
    await world.run(process.publish(content))
    await world.settle()
    world.weather.isCardless = true
    const { readers, openers, isComplete } = await listed()
    expect([[...readers], isComplete]).toEqual([
      [publisher, reader].map(({ userId }) => [userId, undefined]).sort(),
      false,
    ])
    expect(openers).toMatchObject([{ userId: publisher.userId }])
  })

  it('says that it is not complete where they do not have the epoch that a publisher told of', async () => {
    await world.run(process.publish(content))
    await world.settle()
    world.forget((chainId) => chainId.startsWith('e'))
    expect(await listed()).toMatchObject({ openers: [], isComplete: false })
  })

  it('is complete without keys where nothing was published', async () => {
    expect(await listed()).toMatchObject({ openers: [], isComplete: true })
  })
})

describe('waiting until keys are stored', () => {
  it('waits for the links of readers as well, and until storage nodes have all of it', async () => {
    const stored: string[] = []
    const isUp = Promise.withResolvers<void>()
    world.confirm = async ({ messageChainId }) => {
      await isUp.promise
      stored.push(messageChainId.slice(0, 1))
    }
    await world.run(process.publish(content))
    const stream = await world.run(process.encryption.stream(streamId))
    const waiting = world.run(stream.keysStored(new AbortController().signal))
    expect(stored).toEqual([])
    isUp.resolve()
    await waiting
    expect(stored.toSorted()).toEqual(['e', 'l', 'n'])
  })

  it('goes on while they are not, and ends with the wait', async () => {
    world.confirm = () => Promise.reject(clientError('NOT_STORED_IN_TIME'))
    await world.run(process.publish(content))
    const stream = await world.run(process.encryption.stream(streamId))
    const ending = new AbortController()
    const waiting = stream.keysStored(ending.signal)
    world.clock.schedule(4_500, () => (world.confirm = async () => {}))
    await world.run(waiting)
    world.confirm = () => Promise.reject(clientError('NOT_STORED_IN_TIME'))
    await world.run(stream.rotate())
    const second = stream.keysStored(ending.signal)
    world.clock.schedule(4_500, () => ending.abort())
    await expect(world.run(second)).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('takes no time where nothing is left to store', async () => {
    await world.run(process.publish(content))
    await world.settle()
    world.confirm = () => Promise.reject(clientError('NOT_STORED_IN_TIME'))
    const stream = await world.run(process.encryption.stream(streamId))
    expect(await world.run(stream.keysStored(new AbortController().signal))).toBeUndefined()
  })
})

describe('a reader whose permission ended', () => {
  /** Each time another key. */
  const opensNext = async (gone: TestProcess) => {
    await world.run((await world.run(process.encryption.stream(streamId))).rotate())
    const batch = await world.run(process.publish(content))
    await world.settle()
    return world.run(
      gone.open(batch).then(
        () => 'opened',
        (error: unknown) => (isRunnelError(error) ? error.code : error),
      ),
    )
  }
  beforeEach(() => (world.weather.isStrict = true))

  it.each([
    ['was revoked', () => world.setRights(reader.userId, {})],
    ['expired', () => world.setRights(reader.userId, { subscribeUntilMs: world.clock.now() })],
  ])('and %s is refused once, and asks neither storage nodes nor others any more', async (_, end) => {
    const gone = world.start(reader)
    end()
    const startMs = world.clock.monotonicMs()
    for (let i = 0; i < 3; i++) expect(await opensNext(gone)).toBe('KEY_NOT_FOUND')
    expect(world.refusals).toBe(1)
    expect(world.records.filter(({ message }) => message.publisherId === reader.userId)).toEqual([])
    expect(world.clock.monotonicMs() - startMs).toBeLessThan(30_000)
  })

  it('and that may read again is served at once', async () => {
    const gone = world.start(reader)
    world.setRights(reader.userId, {})
    expect(await opensNext(gone)).toBe('KEY_NOT_FOUND')
    world.setRights(reader.userId, { subscribeUntilMs: Infinity })
    expect(await opensNext(gone)).toBe('opened')
  })
})

it('asks again for a key that was given up as soon as somebody comes who may have it', async () => {
  world.weather.isUnstored = true
  const batch = await world.run(process.publish(content))
  const reading = world.start(reader)
  // The publisher is away.
  world.weather.isDeaf = true
  const notFound = expect.objectContaining({ code: 'KEY_NOT_FOUND' })
  await expect(world.run(reading.open(batch))).rejects.toEqual(notFound)
  world.weather.isDeaf = false
  const beganMs = world.clock.monotonicMs()
  await expect(world.run(reading.open(batch))).rejects.toEqual(notFound)
  expect(world.clock.monotonicMs() - beganMs).toBe(0)

  reading.encryption.neighboursChanged(toStreamPartId(streamId, keyPartition), [publisher.userId])
  expect(await world.run(reading.open(batch))).toEqual(content)
})
