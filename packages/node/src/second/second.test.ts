import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EncryptionType } from '@runnel/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ensurePython } from '../../../protocol/src/second/python.testkit.ts'
import { EncryptionNetwork } from '../encryption-network.testkit.ts'
import { startSecond, type SecondProgram } from './second-program.testkit.ts'

const owner = 2
const second = 3
/** Has no card before its node starts. */
const newcomer = 4

describe('the second implementation on an encrypted stream', { timeout: 60_000 }, () => {
  const network = new EncryptionNetwork()
  const directory = mkdtempSync(join(tmpdir(), 'runnel-second-'))
  let program: SecondProgram | undefined

  beforeAll(async () => {
    ensurePython()
    await network.start()
  }, 600_000)

  afterEach(async () => {
    await program?.end()
    program = undefined
    await network.closeClients()
  })

  afterAll(async () => {
    await network.stop()
    rmSync(directory, { recursive: true })
  })

  /** A node of the second implementation's user that has joined, and whose card is stored. */
  async function startIn(streamId: string, user = second): Promise<SecondProgram> {
    const keyFile = join(directory, `key-${user}`)
    writeFileSync(keyFile, network.privateKeyOf(user))
    const { nodeId, url } = network.tracker
    const args = ['--private-key-file', keyFile, '--chain-id', `${network.chainId}`, '--stream', streamId]
    program = startSecond(['join', ...args, '--tracker', `${nodeId}@${url}`])
    expect(await program.said()).toEqual({ user: network.addressOf(user) })
    return program
  }

  const text = (content: string) => ({ publisherId: network.addressOf(owner), contentType: 2, content })
  const json = (content: object) => ({ ...text(JSON.stringify(content)), contentType: 1 })

  it('opens by its link what is stored, while everybody else is away', async () => {
    const publisher = await network.clientOf(owner)
    const streamId = await network.newStream(publisher)
    await publisher.grant(streamId, { user: network.addressOf(second), permissions: ['subscribe'] })
    await (await startIn(streamId)).end()
    await network.publishStored(publisher, streamId, ['one', { two: 2 }])
    await network.closeClients()
    const running = await startIn(streamId)
    running.tell({ last: 10 })
    expect(await running.said()).toEqual(text('one'))
    expect(await running.said()).toEqual(json({ two: 2 }))
  })

  it('asks for a key that is nowhere, and gets it from the publisher', async () => {
    const publisher = await network.clientOf(owner)
    const streamId = await network.newStream(publisher)
    await network.publishStored(publisher, streamId, ['one'])
    await publisher.grant(streamId, { user: network.addressOf(newcomer), permissions: ['subscribe'] })
    const running = await startIn(streamId, newcomer)
    running.tell({ last: 10 })
    expect(await running.said()).toEqual({ wanted: expect.any(String) as unknown })
    expect(await running.said()).toEqual(text('one'))
  })

  it('publishes what others open, and opens what they publish then', async () => {
    const publisher = await network.clientOf(owner)
    await publisher.ensureCard()
    const streamId = await network.newStream(publisher)
    const user = network.addressOf(second)
    await publisher.grant(streamId, { user, permissions: ['publish', 'subscribe'] })
    const types: number[] = []
    publisher.network.on('message', ({ message }) => {
      if (message.partition === 0) types.push(message.encryptionType)
    })
    const subscription = await publisher.subscribe(streamId)
    const running = await startIn(streamId)
    running.tell({ publish: { from: 'Python' }, readers: [publisher.userId] })
    const { value: message } = await subscription[Symbol.asyncIterator]().next()
    expect(message).toMatchObject({ publisherId: user, content: { from: 'Python' } })
    await publisher.publish(streamId, 'live')
    expect(await running.said()).toEqual(text('live'))
    expect(types).toEqual([EncryptionType.sealedBatch, EncryptionType.sealedBatch])
  })
})
