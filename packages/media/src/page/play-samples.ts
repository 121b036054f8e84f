/// <reference lib="dom" />
import { opusDefaults } from '../opus/opus.ts'

export interface SoundOutput {
  readonly context: AudioContext
  /** Where the sound goes; its gain is the volume. */
  readonly output: AudioNode
}

/** Has samples of one channel heard from `atS` on, by the clock of the context. */
export function playSamples(
  { context, output }: SoundOutput,
  samples: Float32Array,
  atS: number,
): AudioBufferSourceNode {
  const buffer = context.createBuffer(1, samples.length, opusDefaults.sampleRate)
  buffer.getChannelData(0).set(samples)
  const source = context.createBufferSource()
  source.buffer = buffer
  source.connect(output)
  source.start(atS)
  return source
}
