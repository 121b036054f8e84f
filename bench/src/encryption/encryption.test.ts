import { expect, it } from 'vitest'
import { encryptionBench } from './encryption-bench.ts'

it('sets encryption beside the same in the clear', { timeout: 160_000 }, async () => {
  const size = { messages: 16_384, readers: 200, grants: 1, revocations: 1, ratePerS: 20 }
  const { seal, readers, grant, revocation, page } = await encryptionBench(size)
  for (const { batchesOf64, batchesOf4, alone } of [seal.node, seal.pageCiphersInNode]) {
    for (const { ratio, sealCpuUs, openCpuUs, clear } of [batchesOf64, batchesOf4, alone])
      expect(Math.min(ratio, sealCpuUs, openCpuUs, clear.allCpuUs)).toBeGreaterThan(0)
    // A content type, and a tag of 16 bytes and what names the epoch.
    expect(alone.addedBytes).toBeLessThanOrEqual(28)
    expect(batchesOf64.addedBytes).toBeLessThanOrEqual(12)
  }
  // In batches; of 10,000 in cohorts it is as much: 14 MB.
  expect(readers.once.batchBytes).toBeLessThanOrEqual(1_400 * size.readers)
  expect(readers.revoked.worstBytes).toBeLessThanOrEqual(10_000)
  expect(grant.unread).toBe(0)
  expect(grant.firstLineMs.max).toBeGreaterThanOrEqual(grant.p50Ms.alone)
  expect(revocation.unreadByOthers).toBe(0)
  expect(revocation.blindMs.max).toBeGreaterThan(0)
  expect(page.atFirst).toBeGreaterThan(page.forEncryption)
  const { sealUs, openUs, cipherAloneUs } = page.chromium
  expect(Math.min(sealUs, openUs, cipherAloneUs)).toBeGreaterThan(0)
})
