import { expect, it } from 'vitest'
import { requireNode } from './create-client.ts'

it('says that Node is too old', () => {
  for (const version of ['20.20.2', '22.12.0'])
    expect(() => requireNode(version)).toThrow(expect.objectContaining({ code: 'NODE_TOO_OLD' }) as Error)
  for (const version of ['22.13.0', '24.1.0', '100.0.0-nightly']) requireNode(version)
})
