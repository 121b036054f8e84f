import type { Track, VideoTrack } from '../catalogue/catalogue.ts'
import type { Member } from '../session/member.ts'

export const picture: VideoTrack = {
  ...{ id: 2, kind: 'video', partition: 1, source: 'camera', codec: 'vp8', state: 'live' },
  ...{ codedWidth: 320, codedHeight: 180, framerate: 15, altGroup: 0, bitrate: 120_000 },
}

/** A member with these tracks. */
export const memberOf = (id: string, tracks: readonly Track[], session = '0123456789abcdef'): Member => ({
  ...{ id, userId: '0xa' },
  catalogue: { version: 1, session, name: id, decodes: [], tracks },
})

export const ada: Member = memberOf('ada', [picture])
