import { readFileSync } from 'node:fs'
import type { RunnelClient } from '@runnel/client'
import { FrameOrder, openSession } from '@runnel/media'
import { clipFrames } from '../media/clip/ivf-file.ts'
import { clip } from './first-plan.ts'
import type { StageWatch } from './stage-watch.ts'

/** Publishes a clip in a session, over and over. It begins anew where a key frame is asked for, as an encoder would give one. */
export async function publishPictures(
  client: RunnelClient,
  streamId: string,
  clipFile: string,
): Promise<void> {
  const session = await openSession(streamId, { name: 'publisher' }, { client })
  session.on('fault', (error) => process.stderr.write(`${String(error)}\n`))
  await session.read([clip.partition])
  const frames = clipFrames(readFileSync(clipFile))
  let next = 0
  const { width: codedWidth, height: codedHeight } = clip.size
  const track = session.publishTrack(
    {
      ...{ kind: 'video', source: 'file', codec: 'vp8', codedWidth, codedHeight, altGroup: 0 },
      ...{ framerate: clip.picturesPerS, bitrate: 1_000 * clip.kbitPerS },
    },
    { keyWanted: () => (next = 0) },
  )
  setInterval(() => {
    const frame = frames[next++ % frames.length]
    if (frame !== undefined) track.send({ timestampUs: session.nowUs(), ...frame })
  }, 1_000 / clip.picturesPerS)
}

/** Joins a session as a player does, which asks for a key frame of what it is to show; resolves when a picture is there that a decoder can begin with. */
export async function firstPicture(client: RunnelClient, streamId: string, watch: StageWatch): Promise<void> {
  const session = await openSession(streamId, { name: 'joiner', decodes: ['vp8'] }, { client })
  const { promise, resolve } = Promise.withResolvers<void>()
  const order = new FrameOrder()
  session.on('members', (members) => {
    if (members.length > 0) watch.reach('member')
    // Nothing before a key frame is of use.
    for (const { id, catalogue } of members)
      for (const { id: track } of catalogue.tracks) if (order.wantsKey) session.requestKey(id, track)
  })
  session.on('object', (_, object, place) => {
    if (object.kind !== 'video') return
    const [first] = order.push({ ...object, ...place }, performance.now())
    if (first === undefined) return
    watch.reach('frame')
    resolve()
  })
  await session.read([clip.partition])
  await promise
}
