/** How loud samples from −1 to 1 are, as in `AudioObject`: the root of their mean square in −dBov, from 0 to 127 (RFC 6465, appendix A). */
export function audioLevel(samples: Float32Array): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  if (sum === 0) return 127
  const dbov = 10 * Math.log10(sum / samples.length)
  return Math.min(127, Math.max(0, Math.round(-dbov)))
}
