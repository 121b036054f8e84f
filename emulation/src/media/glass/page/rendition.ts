/** What every kind of member sends. */
export const codec = 'vp8'
export const rendition = { height: 360, framerate: 30, bitrate: 500_000, minBitsPerS: 100_000 }
