import { createOpusEncoder } from '@runnel/media'

const sampleRate = 48_000
const samplesPerFrame = 960
/** Syllables a second, and the part of a sentence's time that is spoken. */
const syllablesPerS = 4
const sentenceS = 2.5
const spokenShare = 0.8

/** Something like speech, as a real encoder encodes it: frames of Opus, 20 ms each. */
export async function encodeVoice(seconds: number): Promise<Uint8Array[]> {
  using encoder = await createOpusEncoder()
  const frames = Math.round((seconds * sampleRate) / samplesPerFrame)
  // The encoder's memory is its own.
  return Array.from({ length: frames }, (_, frame) => encoder.encode(voice(frame)).slice())
}

/** Harmonics of a voice that rises and falls, cut into syllables and sentences. */
function voice(frame: number): Float32Array {
  return Float32Array.from({ length: samplesPerFrame }, (_, i) => {
    const s = (frame * samplesPerFrame + i) / sampleRate
    if (s % sentenceS > spokenShare * sentenceS) return 0
    const phase = 2 * Math.PI * (120 * s - 3 * Math.cos(2 * Math.PI * s * 0.7))
    const opened = Math.sin(Math.PI * ((s * syllablesPerS) % 1)) ** 2
    const harmonics = [1, 2, 3, 4, 6, 9].reduce((sum, n) => sum + Math.sin(n * phase) / n, 0)
    return 0.25 * opened * harmonics
  })
}
