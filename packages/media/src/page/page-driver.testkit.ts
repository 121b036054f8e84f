/// <reference lib="dom" />
/** Runs in a page: a client in a session, and what a test asks of it. */
import { createClient, type ClientConfig, type RunnelClient } from '@runnel/client/browser'
import {
  openCamera,
  openFile,
  openMicrophone,
  openScreen,
  openSession,
  publishAudio,
  publishVideo,
  SessionPlayer,
  supportedCodecs,
  type MediaSession,
  type OpenedFile,
  type PublishedVideo,
} from './index.ts'
import { paintTime, readTime } from './painted-time.testkit.ts'
import { recordingDriver } from './recording-driver.testkit.ts'

let client: RunnelClient | undefined
let session: MediaSession | undefined
let player: SessionPlayer | undefined
let video: PublishedVideo | undefined
let file: OpenedFile | undefined
let analyser: AnalyserNode | undefined
const faults: string[] = []
const rates: ((bitsPerS: number) => void)[] = []

async function* rate(): AsyncGenerator<number> {
  for (;;) yield await new Promise<number>((resolve) => rates.push(resolve))
}

function opened(): MediaSession {
  if (session === undefined) throw new Error('no session is open')
  return session
}

/** A canvas on which the time is painted, 30 times a second. */
function clockTrack(width: number, height: number): MediaStreamTrack {
  const canvas = document.createElement('canvas')
  Object.assign(canvas, { width, height })
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('no canvas')
  setInterval(() => paintTime(context, Date.now()), 33)
  paintTime(context, Date.now())
  const [track] = canvas.captureStream(30).getVideoTracks()
  if (track === undefined) throw new Error('no track of a canvas')
  return track
}

/** A second of that as a file. */
async function clockFile(): Promise<Blob> {
  const recorder = new MediaRecorder(new MediaStream([clockTrack(640, 360)]))
  const given = new Promise<Blob>((resolve) => {
    recorder.ondataavailable = ({ data }) => resolve(data)
  })
  recorder.start()
  setTimeout(() => recorder.stop(), 1_000)
  return given
}

/** The picture of the first member that has one: members come in any order. */
function pictureOf(what: 'camera' | 'screen' = 'camera'): HTMLCanvasElement | undefined {
  const canvases = opened().members.map(({ id }) => player?.canvasOf(id, what))
  return canvases.find((canvas) => canvas !== undefined)
}

function joined(): RunnelClient {
  if (client === undefined) throw new Error('no client is open')
  return client
}

async function join(config: ClientConfig): Promise<void> {
  client = await createClient(config)
}

const driver = {
  ...recordingDriver(joined, join),
  join,
  async open(config: ClientConfig, streamId: string, name: string, codecs?: readonly string[]) {
    client = await createClient(config)
    const { decodes } = await supportedCodecs()
    session = await openSession(streamId, { name, decodes: codecs ?? decodes, rate: rate() }, { client })
    session.on('fault', (error) => faults.push(String(error)))
    const context = new AudioContext({ sampleRate: 48_000 })
    analyser = context.createAnalyser()
    analyser.connect(context.destination)
    player = new SessionPlayer(session, context, analyser)
    player.on('fault', (error) => faults.push(String(error)))
    player.start()
  },
  async publishClock() {
    const options = { source: 'camera', onFault: (error: unknown) => faults.push(String(error)) } as const
    video = await publishVideo(opened(), clockTrack(640, 360), options)
  },
  /** What this page looks like to who shares it: a time that stands still. */
  showStill(timeMs: number) {
    document.title = 'A still page'
    const canvas = document.createElement('canvas')
    canvas.style.cssText = 'position: fixed; inset: 0; width: 100%; height: 100%'
    Object.assign(canvas, { width: 1_280, height: 720 })
    document.body.append(canvas)
    const context = canvas.getContext('2d')
    if (context !== null) paintTime(context, timeMs)
  },
  /** Of what the browser is told to choose; how its sound was taken. */
  async publishScreen() {
    const stream = await openScreen()
    const [[pictures], [sound]] = [stream.getVideoTracks(), stream.getAudioTracks()]
    if (pictures === undefined) throw new Error('no screen')
    await publishVideo(opened(), pictures, { source: 'screen' })
    return sound?.getSettings()
  },
  async publishFile() {
    file = openFile(await clockFile())
    Object.assign(file.element, { loop: true, muted: true })
    await file.element.play()
    const [pictures] = file.stream.getVideoTracks()
    if (pictures === undefined) throw new Error('no pictures in the file')
    await publishVideo(opened(), pictures, { source: 'file' })
  },
  /** Whether the browser has let go of it. */
  async closeFile() {
    const url = file?.element.src ?? ''
    file?.close()
    return fetch(url).then(
      () => false,
      () => true,
    )
  },
  async publishMicrophone() {
    const [microphone] = (await openMicrophone()).getAudioTracks()
    if (microphone === undefined) throw new Error('no microphone')
    await publishAudio(opened(), microphone, { source: 'microphone' })
  },
  async publishDevices() {
    const [camera] = (await openCamera()).getVideoTracks()
    const [microphone] = (await openMicrophone()).getAudioTracks()
    if (camera === undefined || microphone === undefined) throw new Error('no devices')
    video = await publishVideo(opened(), camera, { source: 'camera' })
    await publishAudio(opened(), microphone, { source: 'microphone' })
  },
  /** Key frames of a screen that are no pictures. */
  publishNoise(bytes: readonly number[]) {
    const track = opened().publishTrack({
      ...{ kind: 'video', source: 'screen', codec: 'vp8', codedWidth: 320, codedHeight: 180 },
      ...{ framerate: 10, bitrate: 100_000, altGroup: 1 },
    })
    const data = Uint8Array.from(bytes)
    setInterval(() => track.send({ timestampUs: opened().nowUs(), isKey: true, data }), 100)
  },
  /** The largest sample of what is played now. */
  loudness() {
    const samples = new Float32Array(analyser?.fftSize ?? 0)
    analyser?.getFloatTimeDomainData(samples)
    return Math.max(0, ...samples)
  },
  isVideoPaused: () => video?.isPaused,
  muteVideo: (isMuted: boolean) => video?.mute(isMuted),
  useRate: (bitsPerS: number) => rates.splice(0).forEach((give) => give(bitsPerS)),
  /** Milliseconds since the time that stands in the first member's picture was painted; undefined while there is none. */
  ageOfPicture() {
    const canvas = pictureOf()
    const time = canvas && readTime(canvas)
    return time === undefined ? undefined : Date.now() - time
  },
  /** The screen of the first member that has one, and the time that stands on it. */
  screen() {
    const canvas = pictureOf('screen')
    return canvas && { width: canvas.width, height: canvas.height, timeMs: readTime(canvas) }
  },
  failures: () => [...(player?.report.members.values() ?? [])][0]?.decoderFailures,
  heightOfPicture: () => pictureOf()?.height,
  members: () => opened().members,
  report: () => [...(player?.report.members.values() ?? [])],
  limitRendition: (highest: number) => player?.limitRendition(highest),
  speaker: () => opened().members.find(({ id }) => id === player?.speaker)?.catalogue.name,
  counters: () => ({ ...opened().counters, video: video?.counters, faults }),
  async close() {
    player?.close()
    await session?.close()
    await client?.close()
  },
}

export type MediaDriver = typeof driver
Object.assign(globalThis, { driver })
