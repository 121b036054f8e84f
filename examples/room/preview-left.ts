/** Where the preview begins, in pixels from the beginning of the time line: its middle is at the pointer, except where it would leave the line. */
export function previewLeft(pointer: number, lineWidth: number, previewWidth: number): number {
  return Math.max(0, Math.min(lineWidth - previewWidth, pointer - previewWidth / 2))
}
