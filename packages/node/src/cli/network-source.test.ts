import { describe, expect, it } from 'vitest'
import { closedDirectory } from './network-source.ts'

describe('closedDirectory', () => {
  it.each<[readonly string[], string | undefined]>([
    [['/home/alice', '/home/alice/up'], '/home/alice'],
    [['/home/alice/up'], '/home/alice/up'],
    [[], undefined],
  ])('of those closed: %j', (closed, found) => {
    const isOpen = (directory: string) => !closed.includes(directory)
    expect(closedDirectory('/home/alice/up/network.json', isOpen)).toBe(found)
  })
})
