/// <reference lib="dom" />
import { mediaError } from '../errors.ts'
import { checkOptions } from '../options.ts'
import type { MediaSession } from '../session/media-session.ts'
import { encodable, supportedCodecs } from './codecs.ts'
import {
  publishVideoOptions,
  renditionOptions,
  renditionsOf,
  type PublishedVideo,
  type PublishVideoOptions,
} from './video-options.ts'
import { VideoPublication } from './video-publication.ts'
import { VideoRendition } from './video-rendition.ts'

/** Publishes the pictures of a track in its renditions, until it or the session ends, in a codec that all members decode if there is one. Throws NO_CODEC and OPTIONS_INVALID. */
export async function publishVideo(
  session: MediaSession,
  track: MediaStreamTrack,
  options: PublishVideoOptions,
): Promise<PublishedVideo> {
  checkOptions('publishVideo', options, publishVideoOptions)
  for (const rendition of options.renditions ?? []) checkOptions('a rendition', rendition, renditionOptions)
  const { onFault = () => {}, codecs: wanted = (await supportedCodecs()).encodes } = options
  const { width = 0, height = 0 } = track.getSettings()
  const renditions = renditionsOf(options).map((one) => new VideoRendition(one, { width, height }, onFault))
  const formats = renditions.map(({ format }) => format)
  const codecs = await encodable(wanted, formats)
  if (codecs.length === 0) throw mediaError('NO_CODEC', noneOf(wanted))
  const published = new VideoPublication(session, track, { ...options, codecs, renditions })
  try {
    await published.start()
  } catch (error) {
    published.close()
    throw error
  }
  return published
}

const noneOf = (codecs: readonly string[]): string =>
  codecs.length === 0 ? 'it has no video encoder' : `it has none for ${codecs.join(', ')} in these renditions`
