import { expect, it } from 'vitest'
import { requireMeasured } from './media-glass-command.ts'

it('takes rows with delays, and names arms that have none', () => {
  const row = { arm: 'relay', pictureP50Ms: 120, soundP50Ms: 130 }
  requireMeasured([row])
  expect(() => requireMeasured([row, { arm: 'overlay', pictureP50Ms: null, soundP50Ms: null }])).toThrow(
    expect.objectContaining({
      code: 'NOTHING_MEASURED',
      message: expect.stringContaining(
        'overlay: no picture was shown; overlay: no click was heard',
      ) as string,
    }),
  )
})
