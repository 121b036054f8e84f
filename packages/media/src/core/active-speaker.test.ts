import { describe, expect, it } from 'vitest'
import { ActiveSpeaker } from './active-speaker.ts'
import { audioLevel } from './audio-level.ts'

/** Frames of 20 ms with these levels, from `fromMs` on. */
function speak(
  speaker: ActiveSpeaker,
  levels: Readonly<Record<string, number>>,
  fromMs: number,
  forMs: number,
) {
  for (let ms = fromMs; ms < fromMs + forMs; ms += 20)
    for (const [member, level] of Object.entries(levels)) speaker.heard(member, level, ms)
}

describe('the active speaker', () => {
  it('is who speaks, and stays it while nobody else does', () => {
    const speaker = new ActiveSpeaker()
    speak(speaker, { ada: 60, ben: 70 }, 0, 2_000)
    expect(speaker.current).toBeUndefined()
    speak(speaker, { ada: 25, ben: 70 }, 2_000, 1_500)
    expect(speaker.current).toBe('ada')
    speak(speaker, { ada: 70, ben: 70 }, 3_500, 5_000)
    expect(speaker.current).toBe('ada')
  })

  it('changes to who is clearly louder for a while, and not with a cough', () => {
    const speaker = new ActiveSpeaker()
    speak(speaker, { ada: 25, ben: 80 }, 0, 2_000)
    speak(speaker, { ada: 25, ben: 10 }, 2_000, 200)
    speak(speaker, { ada: 25, ben: 80 }, 2_200, 1_000)
    expect(speaker.current).toBe('ada')
    speak(speaker, { ada: 80, ben: 25 }, 3_200, 2_000)
    expect(speaker.current).toBe('ben')
  })

  it('gives way to anybody who speaks when the other is muted, and forgets who left', () => {
    const speaker = new ActiveSpeaker()
    speak(speaker, { ada: 10 }, 0, 2_000)
    speak(speaker, { ben: 40 }, 3_000, 3_000)
    expect(speaker.current).toBe('ben')
    speaker.left('ben')
    expect(speaker.current).toBeUndefined()
  })
})

describe('an audio level', () => {
  it('is the loudness in -dBov', () => {
    expect(audioLevel(new Float32Array(960))).toBe(127)
    expect(audioLevel(new Float32Array(960).fill(1))).toBe(0)
    expect(audioLevel(new Float32Array(960).fill(0.1))).toBe(20)
    expect(audioLevel(new Float32Array(960).fill(1e-9))).toBe(127)
  })
})
