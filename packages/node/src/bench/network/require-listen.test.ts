import { expect, it } from 'vitest'
import { requireListen } from './require-listen.ts'

it('takes addresses of this machine', async () => {
  await requireListen('127.0.0.1')
  await requireListen('0.0.0.0')
})

it.each(['nonsense.invalid', '192.0.2.1', '127.0.0.1:80'])('refuses %s', async (host) => {
  await expect(requireListen(host)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`--listen ${host}`),
  })
})
