/** How large, and how many a second. */
export interface PictureFormat {
  readonly width: number
  readonly height: number
  readonly framerate: number
  readonly bitrate: number
}

/** Wider pictures have fewer lines, so that they take no more than what one of this shape takes. */
const widest = 16 / 9

/** As large as the lines of a rendition are for, in the shape of a picture of this size, with sides that encoders take. */
export function formatOf(
  { height: lines, framerate, bitrate }: Omit<PictureFormat, 'width'>,
  picture: { readonly width: number; readonly height: number },
): PictureFormat {
  // Browsers do not know the size of every track before its first picture.
  const isKnown = picture.width > 0 && picture.height > 0
  const ratio = isKnown ? picture.width / picture.height : widest
  const height = ratio > widest ? (lines * widest) / ratio : lines
  return { width: even(height * ratio), height: even(height), framerate, bitrate }
}

const even = (pixels: number): number => Math.max(2, 2 * Math.round(pixels / 2))
