import type { PictureSize } from './test-picture.ts'

const block = 8
const stride = 4
const c1 = (0.01 * 255) ** 2
const c2 = (0.03 * 255) ** 2

/**
 * How alike the light of two pictures is, 1 for the same: structural similarity (Wang, Bovik, Sheikh, Simoncelli, 2004), the mean over blocks of 8 by 8
 * whose corners are 4 apart. Both are I420, or their light alone.
 */
export function ssim(a: Uint8Array, b: Uint8Array, { width, height }: PictureSize): number {
  let [sum, blocks] = [0, 0]
  for (let top = 0; top + block <= height; top += stride)
    for (let left = 0; left + block <= width; left += stride) {
      sum += ofBlock(a, b, top * width + left, width)
      blocks++
    }
  return sum / blocks
}

function ofBlock(a: Uint8Array, b: Uint8Array, offset: number, width: number): number {
  let [sumA, sumB, sumAA, sumBB, sumAB] = [0, 0, 0, 0, 0]
  for (let y = 0; y < block; y++)
    for (let at = offset + y * width, end = at + block; at < end; at++) {
      const [lightA, lightB] = [a[at] ?? 0, b[at] ?? 0]
      sumA += lightA
      sumB += lightB
      sumAA += lightA * lightA
      sumBB += lightB * lightB
      sumAB += lightA * lightB
    }
  const count = block * block
  const [meanA, meanB] = [sumA / count, sumB / count]
  const variances = sumAA / count - meanA * meanA + sumBB / count - meanB * meanB
  const covariance = sumAB / count - meanA * meanB
  const [light, structure] = [2 * meanA * meanB + c1, 2 * covariance + c2]
  return (light * structure) / ((meanA * meanA + meanB * meanB + c1) * (variances + c2))
}
