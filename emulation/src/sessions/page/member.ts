/// <reference lib="dom" />
/** Runs in a page: a user of a session, who sends sound and pictures and is shown those of all others. */
import { createClient, type ClientConfig } from '@runnel/client/browser'
import {
  openCamera,
  openMicrophone,
  openSession,
  publishAudio,
  publishVideo,
  SessionPlayer,
} from '@runnel/media/page'
import { recordShown } from './record-shown.ts'

/** As source 003: one size, in VP8, of as many bits as a light user sends. */
const rendition = { height: 360, framerate: 30, bitrate: 400_000, minBitsPerS: 200_000 }
const codec = 'vp8'
const canvasEveryMs = 500

/** All that this user did, since it joined. */
export interface MemberCounts {
  readonly sent: number
  readonly sentBytes: number
  readonly received: number
  readonly recordedBytes: number
  readonly faults: readonly string[]
}

const counts = { sent: 0, sentBytes: 0, received: 0 }
const faults: string[] = []
let recordedBytes = (): number => 0

/** Resolves when it takes part, and sends. */
async function join(config: ClientConfig, streamId: string, isRecording: boolean): Promise<void> {
  const client = await createClient(config)
  const session = await openSession(
    streamId,
    { name: 'A member', decodes: [codec] },
    {
      client: {
        publish: (...[id, content, options]: Parameters<typeof client.publish>) => {
          if (content instanceof Uint8Array) {
            counts.sent++
            counts.sentBytes += content.length
          }
          return client.publish(id, content, options)
        },
        prepare: (...args) => client.prepare(...args),
        subscribe: client.subscribe.bind(client),
        getStream: (id) => client.getStream(id),
        urgentRate: (...args) => client.urgentRate(...args),
      },
    },
  )
  session.on('fault', (error) => void faults.push(String(error)))
  session.on('object', () => void counts.received++)
  const context = new AudioContext({ sampleRate: 48_000 })
  const heard = context.createGain()
  heard.connect(context.destination)
  const player = new SessionPlayer(session, context, heard)
  player.start()
  const canvases = (): HTMLCanvasElement[] => session.members.flatMap(({ id }) => player.canvasOf(id) ?? [])
  setInterval(() => document.body.replaceChildren(...canvases()), canvasEveryMs)
  const [camera] = (await openCamera()).getVideoTracks()
  const [microphone] = (await openMicrophone()).getAudioTracks()
  if (camera === undefined || microphone === undefined) throw new Error('no devices')
  await publishVideo(session, camera, { source: 'camera', renditions: [rendition], codecs: [codec] })
  await publishAudio(session, microphone, { source: 'microphone' })
  if (isRecording) recordedBytes = recordShown(canvases, heard)
}

const member = {
  join,
  counts: (): MemberCounts => ({ ...counts, recordedBytes: recordedBytes(), faults }),
}

export type SessionMember = typeof member
Object.assign(globalThis, { member })
