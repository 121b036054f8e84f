import { glassFigures } from './glass-figures.ts'
import { linkFigures } from './link-figures.ts'
import { roomFigures } from './room-figures.ts'

/** What draws the rows of an experiment with media; `name` begins the names of the files. */
export const mediaFigures = {
  media: roomFigures,
  'media-glass': glassFigures,
  'media-link': linkFigures,
} as const
