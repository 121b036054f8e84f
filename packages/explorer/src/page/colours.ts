/** What is drawn by the canvases and shown by their legends, for both themes. */
export interface Palette {
  /** Round-trip times, from short to long. */
  readonly rtt: readonly [string, string, string]
  readonly unmeasured: string
  readonly websocket: string
  readonly webrtc: string
  /** WebRTC over a TURN server. */
  readonly turn: string
  readonly tcp: string
  readonly circuit: string
  readonly node: string
  readonly storage: string
  readonly self: string
  readonly tracker: string
  readonly ink: string
  readonly halo: string
  readonly land: string
}

export type Theme = 'light' | 'dark'

/** Told apart with any kind of colour vision: the ends differ in lightness, too. */
export const palettes: Readonly<Record<Theme, Palette>> = {
  light: {
    ...{ rtt: ['#0b8f7f', '#d08700', '#a3154f'], unmeasured: '#aab1bd' },
    ...{ websocket: '#2563c9', webrtc: '#d0651b', turn: '#8c3a10', tcp: '#14855c', circuit: '#a021a8' },
    ...{ node: '#38465c', storage: '#7a3fc4', self: '#c2186b', tracker: '#111827' },
    ...{ ink: '#1b2430', halo: '#f5f7fa', land: '#e3e7ee' },
  },
  dark: {
    ...{ rtt: ['#35d6bd', '#f5b83d', '#ff6a97'], unmeasured: '#5c6778' },
    ...{ websocket: '#6ea8ff', webrtc: '#ff9d5c', turn: '#ffd9a8', tcp: '#43d493', circuit: '#e58bf0' },
    ...{ node: '#b9c6d9', storage: '#bf95ff', self: '#ff6fb1', tracker: '#f2f5fa' },
    ...{ ink: '#e6ebf2', halo: '#0c1118', land: '#222b38' },
  },
}

/** Colours a scale of round-trip times is drawn in. */
export const rttSteps = 8

/** The two ends of the scale: up to the first everything looks alike, and from the second on. */
export interface RttScale {
  readonly shortMs: number
  readonly longMs: number
}

/** A scale that fits what was measured: from the 5th to the 95th percentile, at least a factor of four apart. */
export function rttScale(rttsMs: readonly number[]): RttScale {
  const sorted = rttsMs.filter((ms) => ms > 0).toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 1
  const shortMs = Math.max(0.1, at(0.05))
  return { shortMs, longMs: Math.max(at(0.95), 4 * shortMs) }
}

/** The step of a time on its scale, 0 to `rttSteps` − 1; steps are equal factors. */
export function rttStep(rttMs: number, { shortMs, longMs }: RttScale): number {
  const share = Math.log(Math.max(rttMs, shortMs) / shortMs) / Math.log(longMs / shortMs)
  return Math.min(rttSteps - 1, Math.floor(share * rttSteps))
}

/** All steps, from short to long. */
export function rttColours({ rtt: [short, middle, long] }: Palette): string[] {
  return Array.from({ length: rttSteps }, (_, step) => {
    const share = (2 * step) / (rttSteps - 1)
    return share <= 1 ? mixed(short, middle, share) : mixed(middle, long, share - 1)
  })
}

/** A colour between two, both as `#rrggbb`. */
export function mixed(from: string, to: string, share: number): string {
  const channels = [1, 3, 5].map((at) => {
    const [a, b] = [from, to].map((colour) => Number.parseInt(colour.slice(at, at + 2), 16))
    return Math.round((a ?? 0) + share * ((b ?? 0) - (a ?? 0)))
  })
  return `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}
