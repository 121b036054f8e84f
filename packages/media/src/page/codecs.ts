/// <reference lib="dom" />
import type { PictureFormat } from './picture-format.ts'

/** Codecs that are tried, the preferred first: what costs little for what it shows, then what nearly everything has. */
const candidates = ['vp09.00.10.08', 'av01.0.01M.08', 'avc1.42e01f', 'vp8'] as const
/** Three temporal layers, each of which can be left out. */
const scalabilityMode = 'L1T3'

/** Of one encoder: with layers where it can, tuned for conversation. */
export async function encoderConfig(
  codec: string,
  format: PictureFormat,
): Promise<VideoEncoderConfig | undefined> {
  const config: VideoEncoderConfig = {
    ...{ codec, ...format, latencyMode: 'realtime', bitrateMode: 'variable' },
    // Parameters within key frames, so that a decoder needs nothing beside them.
    ...(codec.startsWith('avc1') ? { avc: { format: 'annexb' } } : {}),
  }
  for (const given of [{ ...config, scalabilityMode }, config])
    if (await isSupported(() => VideoEncoder.isConfigSupported(given))) return given
  return undefined
}

/** Those of the codecs that this browser encodes in every one of the formats. */
export async function encodable(
  codecs: readonly string[],
  formats: readonly PictureFormat[],
): Promise<readonly string[]> {
  return filter(codecs, async (codec) => {
    const found = await Promise.all(formats.map((format) => encoderConfig(codec, format)))
    return found.every((config) => config !== undefined)
  })
}

/** The codecs that this browser encodes and decodes, the preferred first. */
export async function supportedCodecs(): Promise<{ encodes: string[]; decodes: string[] }> {
  const format = { width: 640, height: 360, framerate: 30, bitrate: 500_000 }
  const [encodes, decodes] = await Promise.all([
    encodable(candidates, [format]),
    filter(candidates, canDecode),
  ])
  return { encodes: [...encodes], decodes: [...decodes] }
}

/** Whether this browser decodes a codec. */
export const canDecode = (codec: string): Promise<boolean> =>
  isSupported(() => VideoDecoder.isConfigSupported({ codec }))

async function filter(
  codecs: readonly string[],
  has: (codec: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const found = await Promise.all(codecs.map(has))
  return codecs.filter((_, i) => found[i])
}

/** Where there is no WebCodecs at all, the call throws. */
async function isSupported(ask: () => Promise<{ readonly supported?: boolean }>): Promise<boolean> {
  try {
    return (await ask()).supported === true
  } catch {
    return false
  }
}
