import { EventEmitter } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { lookAtClock, tellOfClock, watchClock } from './watch-clock.ts'

describe('watchClock', () => {
  it('looks again when messages are refused for their times, and not with each of them', async () => {
    const node = new EventEmitter<{ dropped: [counter: string] }>()
    const clock = new VirtualClock()
    const chain = await chainAhead(-20 * 60_000)
    let said = Promise.withResolvers<string>()
    let lines = 0
    const error = ((_: object, text: string) => void (lines++, said.resolve(text))) as never
    watchClock(chain, { node: node as never, clock, logger: { error } })
    node.emit('dropped', 'data.tooOld')
    clock.advanceBy(5 * 60_000)
    node.emit('dropped', 'thin.refused')
    for (let i = 0; i < 10; i++) node.emit('dropped', 'data.timestampAhead')
    expect(await said.promise).toMatch(/20 min ahead/)
    said = Promise.withResolvers()
    clock.advanceBy(5 * 60_000)
    node.emit('dropped', 'data.tooOld')
    await said.promise
    expect(lines).toBe(2)
  })
})

describe('lookAtClock', () => {
  it.each([
    [3 * 60_000, [expect.stringMatching(/3 min behind.*timedatectl/)]],
    [-180 * 60_000, [expect.stringMatching(/180 min ahead/)]],
    [2_000, []],
  ])('a chain whose clock is ahead by %i ms', async (offsetMs, lines) => {
    const chain = await chainAhead(offsetMs)
    const said: string[] = []
    const error = ((_: object, text: string) => void said.push(text)) as never
    await lookAtClock(chain, { error })
    expect(said).toEqual(lines)
  })
})

describe('tellOfClock', () => {
  it('tells the person at the terminal, unless it is called off', async () => {
    const written: string[] = []
    const write = (text: string | Uint8Array) => written.push(String(text)) > 0
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(write)
    onTestFinished(() => stderr.mockRestore())
    const chain = await chainAhead(-8 * 60_000)
    await tellOfClock(chain).told
    expect(written).toEqual([expect.stringMatching(/^runnel: .* 8 min ahead \(CLOCK_WRONG\)\. Set it.*\n$/)])
    const calledOff = tellOfClock(chain)
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
      const accepted = tellOfClock(await chainAhead(minutes * 60_000)).requireAccepted()
      if (isAccepted) await accepted
      else await expect(accepted).rejects.toMatchObject({ code: 'CLOCK_WRONG' })
    },
  )
})

async function chainAhead(offsetMs: number) {
  const server = createServer((_, response) => {
    response.setHeader('date', new Date(Date.now() + offsetMs).toUTCString()).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = `0x${'1'.repeat(40)}`
  const registries = { trackerRegistry: address, streamRegistry: address, storageRegistry: address }
  const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { kind: 'chain' as const, rpcUrl, registries }
}
