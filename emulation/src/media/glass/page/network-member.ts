/// <reference lib="dom" />
import { createClient, type ClientConfig } from '@runnel/client/browser'
import { openSession, publishAudio, publishVideo, SessionPlayer } from '@runnel/media/page'
import type { GlassMember } from './glass-member.ts'
import { codec, rendition } from './rendition.ts'
import type { Witness } from './witness.ts'

/** A member of a session of `@runnel/media`. */
export async function joinNetwork(
  config: ClientConfig,
  { streamId, name }: { readonly streamId: string; readonly name: string },
  { context, ear }: Witness,
): Promise<GlassMember> {
  const client = await createClient(config)
  const session = await openSession(streamId, { name, decodes: [codec] }, { client })
  const player = new SessionPlayer(session, context, ear)
  player.start()
  return {
    async publish({ pictures, sound }) {
      await publishVideo(session, pictures, { source: 'camera', renditions: [rendition], codecs: [codec] })
      await publishAudio(session, sound, { source: 'microphone' })
    },
    pictures: () =>
      session.members.map(({ id }) => player.canvasOf(id)).find((canvas) => canvas !== undefined),
    counters: () => {
      const members = [...player.report.members.values()]
      const shown = members.find(({ height }) => height !== undefined)
      if (shown === undefined) return Promise.resolve(undefined)
      const { frames, jitterMs, soundFrames } = shown
      return Promise.resolve({
        jitterMs,
        soundUnits: soundFrames.played + soundFrames.concealed,
        concealedUnits: soundFrames.concealed,
        pictureUnits: frames.lost + frames.decoded,
        lostUnits: frames.lost,
      })
    },
  }
}
