/**
 * A member of a room, as a process: publishes recorded sound and pictures once everybody is there, takes those of the others, and writes down when
 * what came. Its argument is a `MemberTask`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createClient, readNetworkFile } from '@runnel/client'
import { openSession, type EncodedFrame, type MediaSession, type TrackPublisher } from '@runnel/media'
import { clipFrames } from '../clip/ivf-file.ts'
import type { ArrivedObject, MemberNews, MemberRecord, MemberSample, MemberTask } from './member-record.ts'

const sampleEveryMs = 1_000
const soundEveryMs = 20
/** The partition with the small pictures. */
const pictures = 1

const task = JSON.parse(process.argv[2] ?? '') as MemberTask
const stop = new AbortController()
for (const event of ['disconnect', 'SIGTERM'] as const) process.once(event, () => stop.abort())

const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n)
const client = await createClient({
  network: readNetworkFile(task.networkFile),
  thinFloods: task.thinFloods,
  ...(task.via === undefined ? {} : { via: { hosts: [task.via], atOnce: 1 } }),
})
const session = await openSession(task.streamId, { name: task.name, decodes: ['vp8'] }, { client })
const arrived: ArrivedObject[] = []
const samples: MemberSample[] = []
const sentUs: { readonly audio: number[]; readonly video: number[] } = { audio: [], video: [] }

session.on('object', (member, object, { group, object: number }) => {
  const { kind, timestampUs } = object
  const isVideo = object.kind === 'video'
  arrived.push({
    ...{ from: member.catalogue.name, kind, timestampUs, arrivedUs: nowUs(), group, object: number },
    ...{ isKey: isVideo && object.isKey, dependency: isVideo ? object.dependency : 0 },
  })
})
session.on('fault', (error) => process.stderr.write(`${String(error)}\n`))

function sample(): void {
  const { user, system } = process.cpuUsage()
  const { counters, streamParts } = client.network.metrics()
  const ofPictures = streamParts.find(({ streamPartId }) => streamPartId.endsWith(`#${pictures}`))
  const picturesAgain = ofPictures?.duplicates ?? 0
  const soundAgain = (counters['urgent.duplicates'] ?? 0) - picturesAgain
  samples.push({ atUs: nowUs(), cpuUs: user + system, soundAgain, picturesAgain })
}

/** Sends frame after frame at its time; one that is a second late is left out, with those before it. */
function play(
  track: TrackPublisher,
  everyMs: number,
  frameOf: (n: number) => Omit<EncodedFrame, 'timestampUs'>,
): void {
  const everyUs = Math.round(1_000 * everyMs)
  // On a grid of its own, as those of others are.
  const startUs = nowUs() + Math.floor(Math.random() * everyUs)
  let n = 0
  const next = (): void => {
    if (stop.signal.aborted) return
    for (; startUs + n * everyUs <= nowUs(); n++) {
      const timestampUs = startUs + n * everyUs
      const { frames } = track.counters
      track.send({ timestampUs, ...frameOf(n) })
      if (track.counters.frames > frames) sentUs[track.track.kind].push(timestampUs)
    }
    setTimeout(next, Math.max(0, (startUs + n * everyUs - nowUs()) / 1_000))
  }
  next()
}

function publish(opened: MediaSession): void {
  if (task.voiceFile !== undefined) {
    const frames = JSON.parse(readFileSync(task.voiceFile, 'utf8')) as string[]
    const track = opened.publishTrack({
      ...{ kind: 'audio', source: 'file', codec: 'opus', sampleRate: 48_000, numberOfChannels: 1 },
      ...{ frameMs: soundEveryMs, bitrate: 32_000 },
    })
    play(track, soundEveryMs, (n) => ({
      data: Buffer.from(frames[n % frames.length] ?? '', 'base64'),
      level: 30,
    }))
  }
  if (task.clipFile !== undefined) {
    const frames = clipFrames(readFileSync(task.clipFile))
    const track = opened.publishTrack({
      ...{ kind: 'video', source: 'file', codec: 'vp8', codedWidth: 320, codedHeight: 180, altGroup: 0 },
      ...{ framerate: task.picturesPerS, bitrate: 120_000 },
    })
    // After a picture that was not sent the next is a key frame.
    play(track, 1_000 / task.picturesPerS, (n) => frames[n % frames.length] ?? { data: new Uint8Array(1) })
  }
}

await session.read([pictures])
let isPublishing = false
const tell = (): void => {
  const others = session.members.length
  process.send?.({ others } satisfies MemberNews)
  if (others < task.others || isPublishing) return
  isPublishing = true
  publish(session)
}
session.on('members', tell)
tell()
sample()
const sampling = setInterval(sample, sampleEveryMs)
await new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }))
clearInterval(sampling)
sample()
writeFileSync(
  task.recordFile,
  JSON.stringify({ name: task.name, sentUs, arrived, samples } satisfies MemberRecord),
)
process.exit()
