/** Bounds of what others can make a member of a session hold or do. */
export const mediaLimits = {
  /** Members of a session that are shown; later ones are left out until others go (`membersRefused`). */
  maxMembers: 100,
  /** Tracks of one member; a catalogue with more is refused. */
  maxTracks: 16,
  /** Codecs that a member says it decodes. */
  maxCodecs: 16,
  /** Characters of a member's name. */
  maxNameLength: 40,
  /** Characters of other texts in a catalogue, such as the name of a codec. */
  maxTextLength: 64,
  /** Without a catalogue for so long a member has gone. */
  memberTtlMs: 12_000,
  /** A member says so often that it is there. */
  catalogueEveryMs: 3_000,
  /** Bytes of one encoded frame with its header: what an urgent message holds (`framesTooLarge`). */
  maxObjectBytes: 255 * 1024,
  /** Audio frames that wait to be played: 2 s (`late`). */
  maxJitterFrames: 100,
  /** The most that audio is held back, however much the delay varies. */
  maxJitterDelayMs: 400,
  /** Missing audio frames in a row that are concealed, before it is silent until there is another. */
  maxConcealedFrames: 5,
  /** Video frames that wait for one before them (`lost`). */
  maxWaitingFrames: 64,
  /** Decoded pictures that wait to be painted: each is some 350 KB in 360p. */
  maxPicturesQueued: 12,
  /** A picture waits for its sound so long at most. */
  maxLipSyncWaitMs: 500,
  /** A publisher makes a key frame on request so often at most, whoever asks. */
  keyRequestEveryMs: 1_000,
  /** Bytes of a packet of an Ogg file, which is put together from several pages; files with longer ones are refused. */
  maxOggPacketBytes: 64 * 1024,
  /** A recorder writes down so often where the key frames are. */
  noteEveryMs: 4_000,
  /** And who is there, though nobody came or went. */
  noteMembersEveryMs: 30_000,
  /** Key frames in one note; more are found by reading (`keysLeftOut`). */
  maxNoteKeys: 2_000,
  /** Key frames and times that a reader of a recording holds: those of three members in some eight hours; beyond, key frames are found by reading. */
  maxTimeLineEntries: 100_000,
  /** Changes of who is there that a reader of a recording holds. */
  maxTimeLineChanges: 5_000,
  /** How far before a moment its key frame is looked for, where the recording's notes do not name it: a little more than between two of them. */
  maxKeyDistanceMs: 5_000,
  /** A recording is read so far ahead of what is played, times the rate. */
  readAheadMs: 2_000,
  /** Pictures of one track that are read and not decoded yet; beyond, the newest are left out, up to the next key frame. */
  maxQueuedPictures: 1_000,
  /** Frames of one track of sound that are read and not played yet; beyond, the newest are left out. */
  maxQueuedSounds: 2_000,
  /** Thumbnails of a recording that are held. */
  maxThumbnails: 120,
} as const
