import { describe, expect, it } from 'vitest'
import { EventGuard } from './event-guard.ts'

function guarded(onClose: (text: string) => void = () => {}) {
  const happened: string[] = []
  const guard = new EventGuard({
    close: () => happened.push('closed'),
    onClose: (text) => {
      happened.push(text)
      onClose(text)
    },
  })
  return { guard, happened }
}

describe('the guard of a peer connection', () => {
  it('ends the connection when a handler throws, and runs none after it', () => {
    const { guard, happened } = guarded()
    guard.run(() => {
      throw new Error('no')
    })
    guard.run(() => happened.push('late'))
    expect(happened).toEqual(['closed', 'an event handler threw: Error: no'])
  })

  it('closes once, and tells nobody of a close that was asked for', () => {
    const { guard, happened } = guarded()
    guard.close()
    guard.close()
    expect(happened).toEqual(['closed'])
  })

  it('lets nothing out, not even what the last handler throws', () => {
    const { guard, happened } = guarded(() => {
      throw new Error('still no')
    })
    expect(() => guard.fail('lost')).not.toThrow()
    expect(happened).toEqual(['closed', 'lost'])
  })
})
