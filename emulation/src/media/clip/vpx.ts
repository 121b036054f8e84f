import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { emulationError } from '../../errors.ts'
import type { PictureSize } from './test-picture.ts'

export interface EncodeOptions {
  readonly size: PictureSize
  readonly picturesPerS: number
  readonly kbitPerS: number
  /** Every so many pictures there is one that needs no other. */
  readonly picturesOfGroup: number
  /** Ends the encoder. */
  readonly signal?: AbortSignal | undefined
}

/** Encodes I420 pictures as VP8 in IVF with libvpx (`vpxenc`), as for a call: no picture waits for a later one. Throws PROCESS_FAILED, and the signal's reason. */
export async function encodeVp8(
  pictures: Iterable<Uint8Array>,
  { size, picturesPerS, kbitPerS, picturesOfGroup, signal }: EncodeOptions,
): Promise<Uint8Array> {
  const flags = {
    ...{ width: size.width, height: size.height, fps: `${picturesPerS}/1`, timebase: `1/${picturesPerS}` },
    ...{
      'target-bitrate': kbitPerS,
      'end-usage': 'cbr',
      'buf-sz': 400,
      'buf-initial-sz': 300,
      'buf-optimal-sz': 300,
    },
    ...{
      'kf-min-dist': picturesOfGroup,
      'kf-max-dist': picturesOfGroup,
      'lag-in-frames': 0,
      'auto-alt-ref': 0,
    },
    ...{
      'cpu-used': 6,
      'max-intra-rate': 400,
      'min-q': 4,
      'max-q': 56,
      'undershoot-pct': 95,
      'drop-frame': 0,
    },
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const chunks: Uint8Array[] = []
  const encode = ['--codec=vp8', '--rt', '--i420', '--ivf', '--quiet', ...args, '-o', '-', '-']
  await pipeThrough('vpxenc', encode, pictures, (chunk) => void chunks.push(chunk), signal)
  return Buffer.concat(chunks)
}

/** Decodes VP8 in IVF with libvpx (`vpxdec`); calls back with each picture, in I420, which is valid until it returns. Throws PROCESS_FAILED. */
export async function decodeVp8(
  ivf: Uint8Array,
  size: PictureSize,
  onPicture: (i420: Uint8Array) => void,
): Promise<void> {
  const picture = new Uint8Array((size.width * size.height * 3) / 2)
  let filled = 0
  await pipeThrough('vpxdec', ['--i420', '--keep-going', '-o', '-', '-'], [ivf], (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + picture.length - filled)
      picture.set(part, filled)
      at += part.length
      filled += part.length
      if (filled < picture.length) continue
      filled = 0
      onPicture(picture)
    }
  })
}

async function pipeThrough(
  program: 'vpxenc' | 'vpxdec',
  args: readonly string[],
  input: Iterable<Uint8Array>,
  onOutput: (chunk: Uint8Array) => void,
  signal?: AbortSignal,
): Promise<void> {
  const child = spawn(program, args, { stdio: 'pipe', ...(signal ? { signal } : {}) })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-500)))
  child.stdout.on('data', onOutput)
  // Whatever ends it early is told by how it ends.
  child.stdin.on('error', () => {})
  const closed = once(child, 'close').catch((error: unknown) => [String(error)])
  for (const chunk of input) {
    if (signal?.aborted === true) break
    if (!child.stdin.write(chunk)) await Promise.race([once(child.stdin, 'drain'), closed])
  }
  child.stdin.end()
  const [code] = (await closed) as unknown[]
  signal?.throwIfAborted()
  // What it says, with code 1, of pictures that build on others than those that it was given: it shows them all the same.
  const isDamage = code === 1 && / frames corrupted/.test(said)
  if (code !== 0 && !isDamage)
    throw emulationError('PROCESS_FAILED', `${program}: ${String(code)} ${said.trim()}`)
}
