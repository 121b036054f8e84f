import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'

/** Where Debian's package puts it; `npm test` installs it when it is missing. */
export const chromiumPath = process.env['RUNNEL_CHROMIUM'] ?? '/usr/bin/chromium'

/** A camera whose picture moves, so many times a second, and a microphone that hears somebody speak without end. A context permits them; pages may play sound. */
export function fakeDevices(directory: string, framesPerS = 20): readonly string[] {
  const file = join(directory, 'voice.wav')
  writeFileSync(file, voice())
  return [
    `--use-fake-device-for-media-stream=fps=${framesPerS}`,
    `--use-file-for-fake-audio-capture=${file}`,
    '--autoplay-policy=no-user-gesture-required',
  ]
}

/** A WAV file of two seconds: the harmonics of a voice, four syllables a second. */
function voice(): Uint8Array {
  const rate = 48_000
  const samples = Int16Array.from({ length: 2 * rate }, (_, i) => {
    const s = i / rate
    const pitch = 2 * Math.PI * 140 * s + 3 * Math.sin(2 * Math.PI * s)
    const tone = [1, 2, 3, 4, 5, 7].reduce((sum, n) => sum + Math.sin(n * pitch) / n, 0)
    return 9_000 * tone * Math.abs(Math.sin(4 * Math.PI * s))
  })
  const file = Buffer.alloc(44 + samples.byteLength)
  file.write('RIFF')
  file.writeUInt32LE(36 + samples.byteLength, 4)
  file.write('WAVEfmt ', 8)
  // PCM, one channel of 16 bits.
  for (const [value, offset] of [
    [16, 16],
    [rate, 24],
    [2 * rate, 28],
    [samples.byteLength, 40],
  ] as const)
    file.writeUInt32LE(value, offset)
  for (const [value, offset] of [
    [1, 20],
    [1, 22],
    [2, 32],
    [16, 34],
  ] as const)
    file.writeUInt16LE(value, offset)
  file.write('data', 36)
  Buffer.from(samples.buffer).copy(file, 44)
  return file
}

export const devicePermissions: readonly string[] = ['camera', 'microphone']

/** A real Chromium without a window. Fails when there is none: nothing is skipped. */
export function launchChromium(
  args: readonly string[] = [],
  executablePath = chromiumPath,
): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  })
}
