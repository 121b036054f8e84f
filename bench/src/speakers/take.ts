import type { MediaSession, Member, NewTrack } from '@runnel/media'

/** Which all browsers encode and decode. */
export const takeCodecs = ['vp8', 'vp09.00.10.08'] as const

/** A frame as its encoder gave it, with its time after the first. */
interface TakeFrame {
  readonly atUs: number
  readonly isKey?: boolean
  readonly temporalLayer?: number
  readonly level?: number
  readonly base64: string
}

export interface TakeTrack {
  readonly track: NewTrack
  readonly frames: readonly TakeFrame[]
}

/** What one member sent, from a key frame on: a voice, and small pictures. It survives JSON. */
export interface Take {
  readonly lengthUs: number
  readonly tracks: readonly TakeTrack[]
}

/** Records the only other member of a session for so long. */
export async function recordTake(session: MediaSession, seconds: number): Promise<Take> {
  const frames = new Map<number, TakeFrame[]>()
  const finished = Promise.withResolvers<Member>()
  let startUs: number | undefined
  const stop = session.on('object', (member, object) => {
    if (object.kind === 'video' && object.isKey) startUs ??= object.timestampUs
    if (startUs === undefined) {
      const video = member.catalogue.tracks.find(({ kind, partition }) => kind === 'video' && partition === 1)
      if (video !== undefined) session.requestKey(member.id, video.id)
      return
    }
    const atUs = object.timestampUs - startUs
    if (atUs > seconds * 1_000_000) return finished.resolve(member)
    const sameTrack = frames.get(object.track) ?? []
    frames.set(object.track, sameTrack)
    if (atUs < 0) return
    const base64 = Buffer.from(object.data).toString('base64')
    if (object.kind === 'audio') sameTrack.push({ atUs, level: object.level, base64 })
    else sameTrack.push({ atUs, isKey: object.isKey, temporalLayer: object.temporalLayer, base64 })
  })
  const { catalogue } = await finished.promise
  stop()
  // Its place and state are for the session that publishes it.
  const tracks = catalogue.tracks.flatMap(({ id, partition: _, state: __, ...track }) => {
    const ofTrack = frames.get(id) ?? []
    return ofTrack.length === 0 ? [] : [{ track, frames: ofTrack }]
  })
  return { lengthUs: seconds * 1_000_000, tracks }
}
