/**
 * The probability that a standard normal variable is above `z`: Abramowitz and Stegun, "Handbook of Mathematical
 * Functions", 26.2.17; the error is below 7.5e-8.
 */
export function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z)
  const t = 1 / (1 + 0.2316419 * z)
  const coefficients = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153]
  const polynomial = coefficients.reduce((sum, coefficient) => (sum + coefficient) * t, 0)
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial
}
