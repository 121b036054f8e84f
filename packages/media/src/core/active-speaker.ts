/** Above it, in −dBov, somebody is silent. */
const silentLevel = 50
/** Who is to be shown instead has to be so much louder. */
const leadDb = 6
/** Somebody louder than the speaker is shown after this long. */
const leadMs = 400
/** Levels are smoothed over so many frames. */
const smoothedFrames = 10
/** Somebody who sends nothing for this long is silent. */
const quietMs = 500

interface Voice {
  level: number
  heardMs: number
  /** Since when it leads; undefined while it does not. */
  leadsSinceMs: number | undefined
}

/** Finds who speaks from the levels in audio objects. Stays with the last speaker, undistracted by a cough. */
export class ActiveSpeaker {
  readonly #voices = new Map<string, Voice>()
  #current: string | undefined

  /** The current speaker; undefined before anybody spoke. */
  get current(): string | undefined {
    return this.#current
  }

  heard(member: string, level: number, nowMs: number): void {
    const before = this.#voices.get(member)
    const voice = before ?? { level: 127, heardMs: nowMs, leadsSinceMs: undefined }
    voice.level += (level - voice.level) / smoothedFrames
    voice.heardMs = nowMs
    this.#voices.set(member, voice)
    this.#compare(member, voice, nowMs)
  }

  left(member: string): void {
    this.#voices.delete(member)
    if (this.#current === member) this.#current = undefined
  }

  #compare(member: string, voice: Voice, nowMs: number): void {
    if (member === this.#current || voice.level >= silentLevel || !this.#leads(voice, nowMs)) {
      voice.leadsSinceMs = undefined
      return
    }
    voice.leadsSinceMs ??= nowMs
    if (nowMs - voice.leadsSinceMs < leadMs) return
    voice.leadsSinceMs = undefined
    this.#current = member
  }

  #leads({ level }: Voice, nowMs: number): boolean {
    const current = this.#current === undefined ? undefined : this.#voices.get(this.#current)
    if (current === undefined || nowMs - current.heardMs > quietMs) return true
    return level <= current.level - leadDb
  }
}
