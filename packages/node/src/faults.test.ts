import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createNetworkNode, type NetworkNode } from '@runnel/network'
import {
  buildBatch,
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
  toStreamPartId,
  type MessageRef,
  type StreamId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory, startRunnel, stopAll, type RunningCommand } from './cli.testkit.ts'
import type { NodeSnapshot } from './snapshot.ts'

/** Each node is a process, and the machine may be busy. */
const timeoutMs = 180_000
const crypto = await loadCrypto()
const newIdentity = () => createIdentity(generatePrivateKey(systemRandom), crypto)
const streamOf = (name: string) => toStreamId(`0x${'a'.repeat(40)}/${name}`)
const hit = streamOf('hit')
const other = streamOf('other')

interface NodeProcess {
  readonly command: RunningCommand
  readonly url: string
}

describe('three nodes', { timeout: timeoutMs }, () => {
  const cwd = newDirectory()
  const publisher = newIdentity()
  const nodes: NodeProcess[] = []
  let tracker: Tracker
  let source: NetworkNode

  beforeAll(async () => {
    const identity = newIdentity()
    const modules = { identity, crypto, clock: systemClock, random: systemRandom }
    tracker = createTracker({ listen: { port: 0 } }, modules)
    await tracker.start()
    const address = { nodeId: identity.nodeId, url: tracker.url }
    const permissions = [{ user: 'public', publish: true, subscribe: true }]
    const streams = [hit, other].map((id) => ({ id, permissions }))
    writeFileSync(join(cwd, 'network.json'), JSON.stringify({ version: 1, trackers: [address], streams }))
    for (let i = 0; i < 3; i++) nodes.push(await startNode(cwd))
    source = createNetworkNode(
      { transports: { websocket: {}, webrtc: false } },
      {
        ...{ ...modules, identity: publisher },
        publisherPolicy: { check: () => 'allowed', resolve: () => Promise.resolve() },
        trackers: { trackersFor: () => [address], onChange: () => () => {} },
      },
    )
    await source.start()
    for (const id of [hit, other]) {
      // It asks nobody for what it says is missing.
      source.join(toStreamPartId(id, 0), { fillGaps: false })
      await source.waitForNeighbours(toStreamPartId(id, 0), { count: 3 })
    }
  }, timeoutMs)

  afterAll(async () => {
    await source.stop()
    await stopAll()
    await tracker.stop()
  }, timeoutMs)

  it('outlive a message from the beginning of time that has a previous one', async () => {
    publish(hit, 'old', { timestamp: 1, sequenceNumber: 1 }, { timestamp: 1, sequenceNumber: 0 })
    // What follows comes over the same links, so after it, and takes longer than any of them waits before it asks a neighbour.
    const chain = newChain(other)
    for (let i = 1; i <= 40; i++) {
      chain()
      await untilAll((node) => received(node, other, 'chain') === i)
    }
    // The stream part that was hit works, or works again. What is published before all are back is filled in.
    await source.waitForNeighbours(toStreamPartId(hit, 0), { count: 3 })
    const again = newChain(hit)
    again()
    await untilAll((node) => received(node, hit, 'chain') >= 1)
    expect(nodes.map(({ command }) => command.process.exitCode)).toEqual([null, null, null])
  })

  function publish(streamId: StreamId, messageChainId: string, ref: MessageRef, previous?: MessageRef): void {
    const chain = { streamId, partition: 0, publisherId: publisher.nodeId, messageChainId }
    const rest = { contentType: 0, encryptionType: 0, groupKeyId: '', content: new Uint8Array(1) }
    source.publish(buildBatch({ chain, messages: [{ ...ref, previous, ...rest }] }, crypto, publisher))
  }

  /** Publishes one more message with each call. */
  function newChain(streamId: StreamId): () => void {
    let previous: MessageRef | undefined
    return () => {
      const timestamp = Math.max(Date.now(), (previous?.timestamp ?? 0) + 1)
      publish(streamId, 'chain', { timestamp, sequenceNumber: 0 }, previous)
      previous = { timestamp, sequenceNumber: 0 }
    }
  }

  /** Asks all nodes how they are doing until it is so; rejects when one does not answer any more. */
  async function untilAll(isSo: (node: NodeSnapshot) => boolean): Promise<void> {
    for (const { url, command } of nodes) {
      for (;;) {
        const answer = await fetch(url).catch(() => undefined)
        if (answer === undefined) throw new Error(`a node ended: ${(await command.ended).stderr}`)
        if (isSo((await answer.json()) as NodeSnapshot)) break
      }
    }
  }
})

function received({ plugins }: NodeSnapshot, streamId: StreamId, chain: string): number {
  const streamPartId = toStreamPartId(streamId, 0)
  const seen = plugins.observer?.observed.find(
    (one) => one.streamPartId === streamPartId && one.messageChainId === chain,
  )
  return seen?.delivered ?? 0
}

async function startNode(cwd: string): Promise<NodeProcess> {
  const flags = ['--websocket-port', '0', '--webrtc-enabled', 'false', '--http-port', '0']
  const args = ['node', '--network', 'network.json', '--observer-streams', hit, '--observer-streams', other]
  const command = startRunnel([...args, ...flags], { cwd })
  await command.said(/status at http:\S+\/v1\/status/)
  const [, url = ''] = /status at (\S+)/.exec(command.stderr()) ?? []
  return { command, url }
}
