/** So many times slower does time go for processes on emulated links, and has since then. */
export interface Dilation {
  readonly factor: number
  /** Unix time in milliseconds. */
  readonly sinceMs: number
}

const program = new URL('./slow-clocks.ts', import.meta.url)

/** Unix time in milliseconds for these processes. */
export function dilatedMs(realMs: number, { factor, sinceMs }: Dilation): number {
  return sinceMs + (realMs - sinceMs) / factor
}

/** The environment of a Node process for which time goes slower. */
export function dilatedEnvironment({ factor, sinceMs }: Dilation): Readonly<Record<string, string>> {
  if (factor === 1) return {}
  return {
    NODE_OPTIONS: `--import=${program.href}?${new URLSearchParams({ factor: `${factor}`, sinceMs: `${sinceMs}` })}`,
  }
}

/** What `dilatedEnvironment` says. */
export function dilationIn(url: string): Dilation {
  const { searchParams } = new URL(url)
  return { factor: Number(searchParams.get('factor')), sinceMs: Number(searchParams.get('sinceMs')) }
}
