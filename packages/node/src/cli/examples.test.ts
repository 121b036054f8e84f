import { describe, expect, it } from 'vitest'
import { continued } from './examples.ts'

describe('a long example', () => {
  const command = `runnel publish 0xowner/lobby '{"hello": "world"}' --network .runnel/up/network.json`

  it('continues between words, as a shell continues a line', () => {
    const lines = continued(command, 52)
    expect(lines).toEqual([
      `runnel publish 0xowner/lobby '{"hello": "world"}' \\`,
      '  --network .runnel/up/network.json',
    ])
    expect(lines.join('\n').replace(/ \\\n +/g, ' ')).toBe(command)
  })

  it('stays on one line where it fits', () => {
    expect(continued(command, 110)).toEqual([command])
  })
})
