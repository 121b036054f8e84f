/// <reference lib="dom" />
import type { FlowCounters } from '../glass-figures.ts'
import type { GlassMember } from './glass-member.ts'
import { JanusClient } from './janus-client.ts'
import { rendition } from './rendition.ts'
import type { Scene } from './scene.ts'
import type { Witness } from './witness.ts'

/** A member of a video room of Janus, by the WebRTC of the browser. One that finds somebody who publishes watches. */
export async function joinSfu(
  url: string,
  { room, name: display }: { readonly room: number; readonly name: string },
  witness: Witness,
): Promise<GlassMember> {
  const janus = await JanusClient.open(url)
  const ask = await janus.attach()
  const { data } = await ask({ request: 'join', ptype: 'publisher', room, display })
  const [feed] = data['publishers'] as readonly { readonly id: number }[]
  const connection = new RTCPeerConnection()
  const video = document.createElement('video')
  if (feed !== undefined) await watch(janus, { room, feed: feed.id }, { connection, video, witness })
  return {
    async publish(scene) {
      send(connection, scene)
      await connection.setLocalDescription()
      const { jsep } = await ask({ request: 'publish', videocodec: 'vp8' }, await gathered(connection))
      if (jsep === undefined) throw new Error('Janus took nothing')
      await connection.setRemoteDescription(jsep)
    },
    pictures: () => (video.videoWidth > 0 ? video : undefined),
    counters: async () => countersOf(await connection.getStats()),
  }
}

function send(connection: RTCPeerConnection, { pictures, sound }: Scene): void {
  connection.addTransceiver(sound, { direction: 'sendonly' })
  const sendEncodings = [{ maxBitrate: rendition.bitrate, maxFramerate: rendition.framerate }]
  connection.addTransceiver(pictures, { direction: 'sendonly', sendEncodings })
}

async function watch(
  janus: JanusClient,
  { room, feed }: { readonly room: number; readonly feed: number },
  to: { readonly connection: RTCPeerConnection; readonly video: HTMLVideoElement; readonly witness: Witness },
): Promise<void> {
  const { connection, video, witness } = to
  const ask = await janus.attach()
  connection.addEventListener('track', ({ track }) => {
    const stream = new MediaStream([track])
    // Remote sound comes to a context only where an element plays it, too.
    const element = track.kind === 'video' ? video : new Audio()
    Object.assign(element, { muted: true, srcObject: stream })
    void element.play()
    if (track.kind === 'audio') witness.context.createMediaStreamSource(stream).connect(witness.ear)
  })
  const { jsep } = await ask({ request: 'join', ptype: 'subscriber', room, streams: [{ feed }] })
  if (jsep === undefined) throw new Error('Janus offered nothing')
  await connection.setRemoteDescription(jsep)
  await connection.setLocalDescription()
  await ask({ request: 'start' }, await gathered(connection))
}

/** The local description with all addresses: none are told later. */
async function gathered(connection: RTCPeerConnection): Promise<RTCSessionDescriptionInit> {
  while (connection.iceGatheringState !== 'complete')
    await new Promise((resolve) =>
      connection.addEventListener('icegatheringstatechange', resolve, { once: true }),
    )
  const { type, sdp } = connection.localDescription ?? {}
  if (type === undefined || sdp === undefined) throw new Error('no description')
  return { type, sdp }
}

/** As the browser counts (W3C "Identifiers for WebRTC's Statistics API"). */
function countersOf(stats: RTCStatsReport): FlowCounters | undefined {
  const inbound = [...stats.values()].filter(
    (one): one is RTCInboundRtpStreamStats => (one as RTCStats).type === 'inbound-rtp',
  )
  const sound = inbound.find(({ kind }) => kind === 'audio')
  const pictures = inbound.find(({ kind }) => kind === 'video')
  if (sound === undefined || pictures === undefined) return undefined
  const { jitter = 0, concealedSamples = 0, totalSamplesReceived = 0 } = sound
  const { packetsLost = 0, packetsReceived = 0 } = pictures
  return {
    jitterMs: 1_000 * jitter,
    soundUnits: totalSamplesReceived,
    concealedUnits: concealedSamples,
    pictureUnits: packetsLost + packetsReceived,
    lostUnits: packetsLost,
  }
}
