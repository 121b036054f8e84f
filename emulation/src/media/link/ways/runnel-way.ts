import { setTimeout as delay } from 'node:timers/promises'
import { createClient, readNetworkFile } from '@runnel/client'
import { openSession } from '@runnel/media'
import { isRunnelError } from '@runnel/protocol'
import type { PeerTask } from '../peer-record.ts'
import { headerOf, withHeader, type ReceiverEvents, type SenderWay } from './way.ts'

/** The partitions of pictures, and of content that is of no hurry. */
const [ofPictures, ofBulk] = [1, 3]
const bulkBytes = 4 * 1024
const bulkQueued = { messages: 200, againMs: 5 }

async function open({ networkFile, streamId, role }: PeerTask) {
  const publish = { maxQueuedMessages: bulkQueued.messages }
  const client = await createClient({ network: readNetworkFile(networkFile), publish })
  return { client, session: await openSession(streamId, { name: role, decodes: ['vp8'] }, { client }) }
}

/** A session of `@runnel/media`, which follows the rate that its link tells. */
export async function sendByRunnel(task: PeerTask): Promise<SenderWay> {
  const { client, session } = await open(task)
  await new Promise<void>((resolve) => {
    const check = (): void => (session.members.length > 0 ? resolve() : undefined)
    session.on('members', check)
    check()
  })
  const [lowest, highest] = [task.clips[0]?.kbitPerS ?? 0, task.clips.at(-1)?.kbitPerS ?? 0]
  const track = session.publishTrack({
    ...{ kind: 'video', source: 'file', codec: 'vp8', codedWidth: 640, codedHeight: 360, altGroup: 0 },
    ...{ framerate: task.picturesPerS, bitrate: highest * 1_000, minBitsPerS: lowest * 1_000 },
  })
  return {
    kbitPerS: () => track.bitsPerS / 1_000,
    send(picture) {
      track.send({ timestampUs: session.nowUs(), isKey: picture.isKey, data: withHeader(picture) })
    },
    startBulk() {
      const content = new Uint8Array(bulkBytes)
      const fill = async (): Promise<never> => {
        for (;;)
          try {
            await client.publish(task.streamId, content, { partition: ofBulk })
          } catch (error) {
            if (!isRunnelError(error) || error.code !== 'PUBLISH_QUEUE_FULL') throw error
            await delay(bulkQueued.againMs)
          }
      }
      void fill()
    },
  }
}

export async function receiveByRunnel(task: PeerTask, events: ReceiverEvents): Promise<void> {
  const { client, session } = await open(task)
  session.on('object', (_, { data }) => {
    const { number, rendition } = headerOf(data)
    events.onPicture(number, rendition)
  })
  await session.read([ofPictures])
  await client.subscribe(task.streamId, { partitions: [ofBulk] }, ({ content }) => {
    if (content instanceof Uint8Array) events.onBulk(content.length)
  })
}
