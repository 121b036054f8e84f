import { seededRandom, type Clock, type KeyRecord, type StreamMessage } from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { noPermissions } from '../registry/ports.ts'
import { KeyPart } from './key-part.ts'
import { crypto, userOf, World, type TestUser } from './world.testkit.ts'

const publisher: TestUser = await userOf('publisher')
const { signal } = new AbortController()
const pauseMs = 2_000

let world: World
let asked: number
let isAway: boolean
let isSilent: boolean
/** Storage nodes refuse. */
let isRefused: boolean
let joined: number
let waited: string[]
/** The stream part in which there is a neighbour. */
let company: string | undefined
let part: KeyPart
let partOf: (clock: Clock) => KeyPart
beforeEach(() => {
  world = new World()
  asked = 0
  isAway = false
  isSilent = false
  isRefused = false
  joined = 0
  waited = []
  company = undefined
  const process = world.start(publisher)
  const options = { stream: world.stream }
  partOf = (clock) =>
    new KeyPart(options, {
      node: {
        publish: (batch) => (world.publish(process, batch), true),
        waitForNeighbours: async (streamPartId) => void waited.push(streamPartId),
      },
      parts: {
        join: () => (joined++, () => joined--),
        neighbourCount: (streamPartId) => (streamPartId === company ? 1 : 0),
      },
      history: {
        plan: async () => [],
        read: async function* (_, { publisherId, messageChainId, selection }) {
          asked++
          if (isAway) throw clientError('NO_STORAGE_NODE')
          if (isRefused) throw clientError('RESEND_DENIED')
          if (isSilent) throw clientError('RESEND_FAILED')
          if (selection.kind === 'last')
            yield world.stored(publisherId, messageChainId).slice(-selection.count)
        },
      },
      cache: { permissionsOf: async (_, userId) => world.rights.get(userId) ?? noPermissions },
      user: { userId: publisher.userId, signer: publisher.identity },
      ...{ crypto, clock, random: seededRandom('part') },
    })
  part = partOf(world.clock)
})
const clockOf = (clock: Clock): Clock => ({
  now: () => clock.now(),
  monotonicMs: () => clock.monotonicMs(),
  schedule: (delayMs, fn) => clock.schedule(delayMs, fn),
  endOfTurn: (fn) => clock.endOfTurn(fn),
})
const newest = (byte: number): KeyRecord => ({
  kind: 'newest',
  keyringId: new Uint8Array(16),
  commitment: new Uint8Array(32).fill(byte),
})
/** The message of a record, which this part has not seen. */
const messageOf = (byte: number, chain = 'n'): StreamMessage => {
  part.publish(chain, newest(byte))
  const { message } = world.records.at(-1) as { message: StreamMessage }
  return message
}
const find = (chain = 'n') => part.find(publisher.userId, chain, signal)

describe('the key part', () => {
  it.each(['heard of', 'found'])(
    'writes after what it has %s of its user, also where its clock is behind',
    async (how) => {
      const { clock } = world
      const ahead = partOf({ ...clockOf(clock), now: () => clock.now() + 60_000 })
      ahead.publish('n', newest(1))
      if (how === 'found') await find()
      else part.receive((world.records.at(-1) as { message: StreamMessage }).message)
      part.publish('n', newest(2))
      expect(await ahead.find(publisher.userId, 'n', signal)).toEqual(newest(2))
      expect(await find()).toEqual(newest(2))
    },
  )

  it('finds what it published, also where there is no storage node', async () => {
    isAway = true
    part.publish('n', newest(1))
    part.publish('n', newest(2))
    expect(await find()).toEqual(newest(2))
  })

  it('says where storage nodes do not answer, and not where there is none', async () => {
    const silences: string[] = []
    const findAs = (name: string) => part.find(publisher.userId, 'n', signal, () => void silences.push(name))
    isAway = true
    expect(await findAs('none')).toBeUndefined()
    isAway = false
    isSilent = true
    expect(await findAs('silent')).toBeUndefined()
    expect(silences).toEqual(['silent'])
  })

  it.each([
    ['who may not ask them', {}],
    ['who may, of which they have not heard', { publishUntilMs: Infinity }],
  ])('says so as well where they refuse a user %s', async (_, rights) => {
    let silences = 0
    isRefused = true
    world.setRights(publisher.userId, rights)
    for (const chain of ['n', 'eAAAAAAAA'])
      expect(await part.find(publisher.userId, chain, signal, () => void silences++)).toBeUndefined()
    expect(silences).toBe(2)
  })

  it('does not ask storage nodes again that refused a user without permissions, until these may have changed', async () => {
    isRefused = true
    for (const chain of ['eAAAAAAAA', 'eBBBBBBBB']) expect(await find(chain)).toBeUndefined()
    expect([asked, part.isDenied]).toEqual([1, true])
    part.permissionsChanged()
    await find('eCCCCCCCC')
    expect(asked).toBe(2)
  })

  it('asks storage nodes again that have not heard yet of a permission', async () => {
    isRefused = true
    world.setRights(publisher.userId, { publishUntilMs: Infinity })
    expect(await find()).toBeUndefined()
    await find()
    expect([part.isDenied, asked]).toEqual([false, 2])
  })

  it('does not go back to an older record that comes late', async () => {
    const older = messageOf(1)
    part.publish('n', newest(2))
    part.receive(older)
    expect(await find()).toEqual(newest(2))
  })

  it('publishes again what it published, at a later place, however many records came since', async () => {
    const message = messageOf(1)
    const place = part.publish('n', newest(2))
    for (let i = 0; i <= 1_000; i++) part.receive({ ...message, messageChainId: `l${i}` })
    const again = part.publishAgain(place)
    expect(again?.timestamp).toBeGreaterThan(place.timestamp)
    expect(await find()).toEqual(newest(2))
    expect(part.publishAgain(place)).toBeUndefined()
  })

  it('does not publish again what another process of its user replaced', () => {
    const place = part.publish('n', newest(1))
    world.clock.advanceBy(1)
    partOf(world.clock).publish('n', newest(2))
    part.receive((world.records.at(-1) as { message: StreamMessage }).message)
    expect(part.publishAgain(place)).toBeUndefined()
  })

  it('asks storage nodes again for what goes on, after a pause', async () => {
    messageOf(1)
    await find()
    world.clock.advanceBy(pauseMs - 1)
    await find()
    expect(asked).toBe(1)
    world.clock.advanceBy(1)
    await find()
    expect(asked).toBe(2)
  })

  it('asks once for what stays as it is, and each time for what is not there', async () => {
    messageOf(1, 'eAAAAAAAA')
    await find('eAAAAAAAA')
    expect(asked).toBe(0)
    await find('eBBBBBBBB')
    await find('eBBBBBBBB')
    expect(asked).toBe(2)
  })

  it('keeps what it cannot read from nobody but itself', async () => {
    const heard: unknown[] = []
    part.onRecord = (found) => heard.push(found)
    const message = messageOf(1, 'x')
    part.receive({ ...message, content: Uint8Array.of(99) })
    part.receive({ ...message, content: new Uint8Array(300_000) })
    expect(heard).toEqual([])
    part.receive(message)
    expect(heard).toHaveLength(1)
  })

  it('never takes one place twice, when the clock is set back', () => {
    const places = [messageOf(1)]
    world.clock.moveWall(-60_000)
    places.push(messageOf(2))
    expect(places[1]?.timestamp).toBeGreaterThan(places[0]?.timestamp as number)
  })

  it('has the time that it is once the clock is set right that was ahead, and gives nobody the record of before', async () => {
    const { clock } = world
    // Storage nodes took no message of that clock.
    isAway = true
    let aheadMs = 3_600_000
    const before = partOf({ ...clockOf(clock), now: () => clock.now() + aheadMs })
    const ahead = before.publish('n', newest(1))
    aheadMs = 0
    const again = before.publishAgain(ahead)
    expect(again?.timestamp).toBe(clock.now())
    before.publish('n', newest(2))
    expect(await before.find(publisher.userId, 'n', signal)).toEqual(newest(2))
  })

  it('is joined once, and not again after it was left', () => {
    part.join()
    part.publish('n', newest(1))
    expect(joined).toBe(1)
    part.leave()
    part.publish('n', newest(2))
    expect(joined).toBe(0)
  })

  it('is waited in for a neighbour, as long as there is somebody in the stream', async () => {
    company = `${world.stream.id}#100`
    expect(part.hasCompany).toBe(false)
    company = `${world.stream.id}#0`
    expect(part.hasCompany).toBe(true)
    await part.waitForNeighbour(signal)
    expect(joined).toBe(1)
    expect(waited).toEqual([`${world.stream.id}#100`])
  })
})
