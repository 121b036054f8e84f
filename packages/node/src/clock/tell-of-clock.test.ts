import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { chainAhead } from './chain-ahead.testkit.ts'
import { tellOfClock } from './tell-of-clock.ts'

describe('tellOfClock', () => {
  it('tells the person at the terminal, unless it is called off', async () => {
    const written: string[] = []
    const write = (text: string | Uint8Array) => written.push(String(text)) > 0
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(write)
    onTestFinished(() => stderr.mockRestore())
    const { network } = await chainAhead(-8 * 60_000)
    await tellOfClock(network).told
    expect(written).toEqual([
      expect.stringMatching(/^runnel: .* 8 min ahead, so that other nodes .* \(CLOCK_WRONG\)\. Set it.*\n$/),
    ])
    const calledOff = tellOfClock(network)
    calledOff.stop()
    await calledOff.told
    expect(written).toHaveLength(1)
  })

  it.each([
    [4, true],
    [-4, true],
    [9, true],
    [11, false],
    [-6, false],
  ])(
    'whether others take messages of a clock that is behind by %i minutes: %s',
    async (minutes, isAccepted) => {
      const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
      onTestFinished(() => stderr.mockRestore())
      const { network } = await chainAhead(minutes * 60_000)
      const accepted = tellOfClock(network).requireAccepted()
      if (isAccepted) await accepted
      else await expect(accepted).rejects.toMatchObject({ code: 'CLOCK_WRONG' })
    },
  )
})
