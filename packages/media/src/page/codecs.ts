/// <reference lib="dom" />
/** Codecs that are tried, the preferred first: what costs little for what it shows, then what nearly everything has. */
const candidates = ['vp09.00.10.08', 'av01.0.01M.08', 'avc1.42e01f', 'vp8'] as const
/** Three temporal layers, each of which can be left out. */
const scalabilityMode = 'L1T3'

/** How large, and how many a second. */
export interface PictureFormat {
  readonly width: number
  readonly height: number
  readonly framerate: number
  readonly bitrate: number
}

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

/** The codecs that this browser encodes and decodes, the preferred first. */
export async function supportedCodecs(): Promise<{ encodes: string[]; decodes: string[] }> {
  const format = { width: 640, height: 360, framerate: 30, bitrate: 500_000 }
  const [encodes, decodes] = await Promise.all([
    those(async (codec) => (await encoderConfig(codec, format)) !== undefined),
    those(canDecode),
  ])
  return { encodes, decodes }
}

/** Whether this browser decodes a codec. */
export const canDecode = (codec: string): Promise<boolean> =>
  isSupported(() => VideoDecoder.isConfigSupported({ codec }))

async function those(has: (codec: string) => Promise<boolean>): Promise<string[]> {
  const found = await Promise.all(candidates.map(has))
  return candidates.filter((_, i) => found[i])
}

/** Where there is no WebCodecs at all, the call throws. */
async function isSupported(ask: () => Promise<{ readonly supported?: boolean }>): Promise<boolean> {
  try {
    return (await ask()).supported === true
  } catch {
    return false
  }
}
