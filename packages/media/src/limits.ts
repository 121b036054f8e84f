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
  /** A member without a catalogue for this long has gone. */
  memberTtlMs: 12_000,
  /** How often a member says that it is there. */
  catalogueEveryMs: 3_000,
  /** Bytes of one encoded frame with its header: what an urgent message holds (`framesTooLarge`). */
  maxObjectBytes: 255 * 1024,
  /** Audio frames that wait to be played: 2 s (`late`). */
  maxJitterFrames: 100,
  /** The most that audio is held back, however much the delay varies. */
  maxJitterDelayMs: 400,
  /** Missing audio frames in a row that are concealed; then the member is silent until another comes. */
  maxConcealedFrames: 5,
  /** Video frames waiting for an earlier one (`lost`). */
  maxWaitingFrames: 64,
  /** Decoded pictures that wait to be painted: each is some 350 KB in 360p. */
  maxPicturesQueued: 12,
  /** The longest that a picture waits for its sound. */
  maxLipSyncWaitMs: 500,
  /** Shortest time between key frames made on request, whoever asks. */
  keyRequestEveryMs: 1_000,
  /** Bytes of a packet of an Ogg file, put together from several pages; files with longer ones are refused. */
  maxOggPacketBytes: 64 * 1024,
  /** How often a recorder writes down where the key frames are. */
  noteEveryMs: 4_000,
  /** How often a recorder writes down who is there, though nobody came or went. */
  noteMembersEveryMs: 30_000,
  /** How far before the moment from which a recording is opened notes are read for who was there then: two notes that name members, as one may be missing. */
  earlierNotesMs: 68_000,
  /** Notes of that time that wait for a later one of the same recording: those of five recorders. Beyond it, the oldest are dropped. */
  maxEarlierNotes: 100,
  /** Recordings in one stream of which no note says that it is the last; beyond it, those without a note for the longest are taken for ended. */
  maxUnendedRecordings: 16,
  /** Key frames in one note; more are found by reading (`keysLeftOut`). */
  maxNoteKeys: 2_000,
  /** Key frames and times that a reader of a recording holds: those of three members in some eight hours; further key frames are found by reading. */
  maxTimeLineEntries: 100_000,
  /** Changes of the members present that a reader of a recording holds. */
  maxTimeLineChanges: 5_000,
  /** How far before a moment its key frame is sought if the recording's notes do not name it: a little more than between two key frames. */
  maxKeyDistanceMs: 5_000,
  /** How far ahead of playback a recording is read, times the rate. */
  readAheadMs: 2_000,
  /** Pictures of one track read but not decoded yet; beyond it, the newest are left out, up to the next key frame. */
  maxQueuedPictures: 1_000,
  /** Frames of one audio track read but not played yet; beyond it, the newest are left out. */
  maxQueuedSounds: 2_000,
  /** Thumbnails kept of a recording. */
  maxThumbnails: 120,
} as const
