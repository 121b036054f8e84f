import type { Message } from '@runnel/client'
import { z } from 'zod'
import { mediaLimits } from '../limits.ts'
import { firstMistake } from './mistakes.ts'

const text = z.string().max(mediaLimits.maxTextLength)
/** Printable: decoders throw at an empty one, and control characters take six bytes each in JSON. */
const codecName = z.string().regex(new RegExp(`^[\\x21-\\x7e]{1,${mediaLimits.maxTextLength}}$`))
const partition = z.number().int().min(0).max(99)
/** As many as a stream has at most. */
const partitions = z.array(partition).max(100)
const positive = z.number().int().positive().max(1_000_000_000)
const common = {
  /** The track's number in its objects. */
  id: z.number().int().min(0).max(255),
  /** The partition of the stream where its objects are. */
  partition,
  source: z.enum(['microphone', 'camera', 'screen', 'file']),
  /** A codec string of WebCodecs (W3C "WebCodecs Codec Registry"). */
  codec: codecName,
  /** The most that the track takes, in bits a second. */
  bitrate: positive.optional(),
  /** 'muted' by its publisher; 'paused' because the network has no room for it, its computer no time, or nobody reads it. */
  state: z.enum(['live', 'muted', 'paused']),
}
const audioTrack = z.object({
  ...common,
  kind: z.literal('audio'),
  sampleRate: positive,
  numberOfChannels: z.number().int().min(1).max(8),
  /** Milliseconds of each object: what Opus has (RFC 6716, section 3.1), as its decoder throws at anything between. */
  frameMs: z.number().min(2.5).max(120).multipleOf(2.5),
})
const videoTrack = z.object({
  ...common,
  kind: z.literal('video'),
  codedWidth: positive.max(16_384),
  codedHeight: positive.max(16_384),
  framerate: z.number().positive().max(240),
  /** Tracks of one group show the same: a reader takes one of them. */
  altGroup: z.number().int().min(0).max(255),
})
const trackSchema = z.discriminatedUnion('kind', [audioTrack, videoTrack])
/** Samples a second that Opus has (RFC 6716, section 2). */
const opusRates = [8_000, 12_000, 16_000, 24_000, 48_000] as const
const sessionId = z.string().regex(/^[0-9a-f]{16}$/)
const catalogueSchema = z.object({
  /** The version of this format. */
  version: z.literal(1),
  /** Tells sessions of one user apart: random. */
  session: sessionId,
  name: z.string().max(mediaLimits.maxNameLength),
  /** An earlier session of the same user that is over: its page was reloaded, or came down. */
  replaces: sessionId.optional(),
  /** Whether its computer has more to do than it can: tracks that pause then do not pause for the network. */
  isBusy: z.boolean().optional(),
  /** Codecs of pictures that the member decodes. */
  decodes: z.array(codecName).max(mediaLimits.maxCodecs),
  tracks: z.array(trackSchema).max(mediaLimits.maxTracks),
  /** The partitions that the member reads: see `Readers`. */
  reads: partitions.optional(),
})

export type AudioTrack = Readonly<z.infer<typeof audioTrack>>
export type VideoTrack = Readonly<z.infer<typeof videoTrack>>
export type Track = AudioTrack | VideoTrack
/**
 * A member's description of itself and its tracks: a reliable message. Tracks have the fields of decoder configurations of WebCodecs, as in
 * hang's catalogue, and `altGroup` of the MoQ catalogue format; layers are in the objects.
 */
export interface Catalogue extends Readonly<
  Omit<z.infer<typeof catalogueSchema>, 'tracks' | 'decodes' | 'reads'>
> {
  readonly decodes: readonly string[]
  readonly reads?: readonly number[] | undefined
  readonly tracks: readonly Track[]
}

const controlSchema = z.union([
  z.object({ media: z.object({ catalogue: catalogueSchema }) }),
  z.object({ media: z.object({ leave: z.literal(true), session: sessionId.optional() }) }),
  z.object({ media: z.object({ reads: partitions }) }),
  z.object({ media: z.object({ key: z.object({ session: text, track: z.number().int() }) }) }),
])

/** What members tell each other, beside objects. */
export type Control =
  | { readonly catalogue: Catalogue }
  | { readonly leave: true; readonly session?: string | undefined }
  /** Somebody who is no member, such as a recorder, reads these partitions for as long as members are taken to be there without a word. */
  | { readonly reads: readonly number[] }
  /** Asks a member for a key frame of a track. */
  | { readonly key: { readonly session: string; readonly track: number } }

/** Undefined for content that is something else, such as what an application says in the same stream, or that is not as it must be. */
export function parseControl(content: unknown): Control | undefined {
  const parsed = controlSchema.safeParse(content)
  if (!parsed.success) return undefined
  const { media } = parsed.data
  if (
    'catalogue' in media &&
    new Set(media.catalogue.tracks.map(({ id }) => id)).size < media.catalogue.tracks.length
  )
    return undefined
  return media
}

/** As `parseControl`, of a message. A catalogue counts only in an ordinary one: what is urgent may come late. */
export function controlIn({ content, urgent }: Pick<Message, 'content' | 'urgent'>): Control | undefined {
  const control = parseControl(content)
  return urgent !== undefined && control !== undefined && 'catalogue' in control ? undefined : control
}

/** What others play, and no field that they do not know; theirs may have more than this version does. */
const ownTrackSchema = z.discriminatedUnion('kind', [
  audioTrack.extend({ codec: z.literal('opus'), sampleRate: z.literal(opusRates) }).strict(),
  videoTrack.strict(),
])

/** What is wrong with a track, whose whole catalogue others would refuse; undefined where nothing is. */
export const mistakeInTrack = (track: Track): string | undefined =>
  firstMistake(track, ownTrackSchema.safeParse(track))

const chosenBySession = ['id', 'partition', 'state']
const publishingSchema = z.object({
  minBitsPerS: z.number().min(0).optional(),
  rendition: z.number().int().min(0).optional(),
})

/** As `mistakeInTrack`, of how a new track is to be published. */
export function mistakeInPublishing(newTrack: unknown): string | undefined {
  if (typeof newTrack !== 'object' || newTrack === null)
    return `it must be an object; it is ${typeof newTrack}`
  const given = Object.entries(newTrack).find(
    ([field, value]) => value !== undefined && chosenBySession.includes(field),
  )
  if (given !== undefined) return `${given[0]} must be left out: the session chooses it`
  return firstMistake(newTrack, publishingSchema.safeParse(newTrack))
}

/** A longer name is cut. */
const memberSchema = catalogueSchema.pick({ replaces: true, decodes: true }).extend({ name: z.string() })

/** As `mistakeInTrack`, of what a member says of itself. */
export const mistakeInMember = (
  member: Pick<Catalogue, 'name' | 'replaces' | 'decodes'>,
): string | undefined => firstMistake(member, memberSchema.safeParse(member))

/** The content of a message. */
export const controlContent = (media: Control): unknown => ({ media })
