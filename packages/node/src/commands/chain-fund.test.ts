import { startAnvil } from '@runnel/contracts/anvil'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runRunnel } from '../cli.testkit.ts'

const run = (line: string) => runRunnel(line.split(' '))
const [a, b] = ['0x' + 'a1'.repeat(20), '0x' + 'b2'.repeat(20)]

describe('runnel chain fund', { timeout: 120_000 }, () => {
  let chain: Awaited<ReturnType<typeof startAnvil>>
  beforeAll(async () => {
    chain = await startAnvil()
  }, 120_000)
  afterAll(() => chain.stop())

  it('gives accounts what they need, as often as it is asked', async () => {
    const fund = `chain fund ${a} ${b} --rpc-url ${chain.url}`
    expect(await run(fund)).toMatchObject({
      ...{ code: 0, stderr: '' },
      stdout: `${a} has 10.0 ether\n${b} has 10.0 ether\n`,
    })
    expect(JSON.parse((await run(`${fund} --amount 0.5 --json`)).stdout)).toEqual({
      funded: [a, b].map((address) => ({ address, balance: '10.5' })),
    })
  })

  it('refuses other chains, bad amounts and what is no address', async () => {
    const other = await startAnvil({ chainId: 5 })
    const refused = await run(`chain fund ${a} --rpc-url ${other.url}`)
    await other.stop()
    expect(refused).toMatchObject({
      ...{ code: 78, stdout: '' },
      stderr: expect.stringContaining('its id is 5 (CHAIN_NOT_DEVELOPMENT). '),
    })
    expect(await run(`chain fund ${a} --amount -1 --rpc-url ${chain.url}`)).toMatchObject({ code: 64 })
    expect(await run(`chain fund bob --rpc-url ${chain.url}`)).toMatchObject({ code: 64 })
    expect(await run(`chain fund ${a}`)).toMatchObject({ code: 78 })
  })
})
