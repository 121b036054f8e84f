import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { nodeError } from '../../errors.ts'
import { StorageLog } from './storage-log.ts'

describe('StorageLog', () => {
  let lines: {
    readonly level: number
    readonly msg: string
    readonly code?: string
    readonly times?: number
  }[]
  let log: StorageLog

  beforeEach(() => {
    lines = []
    const logger = pino(
      { level: 'info' },
      { write: (line: string) => void lines.push(JSON.parse(line) as never) },
    )
    log = new StorageLog({ logger, location: 'messages.sqlite' })
  })

  it('says that the store works again only when all it is used for works', () => {
    log.storeFailed('appending', nodeError('STORE_FULL'))
    // A small mark still fits on a full disk.
    for (let times = 0; times < 5; times++) log.storeWorked('marking')
    log.storeFailed('pruning', nodeError('STORE_FULL'))
    log.storeFailed('appending', nodeError('STORE_FULL'))
    expect(log.isStoreFailing).toBe(true)
    expect(lines.map(({ code }) => code)).toEqual(['STORE_FULL'])
    log.storeWorked('appending')
    expect(log.isStoreFailing).toBe(true)
    log.storeWorked('pruning')
    expect(log.isStoreFailing).toBe(false)
    log.storeWorked('appending')
    expect(lines.slice(1).map(({ msg }) => msg)).toEqual(['the store works again'])
  })

  it('says aloud when the store fails in another way', () => {
    log.storeFailed('appending', nodeError('STORE_FULL'))
    log.storeFailed('appending', nodeError('STORE_READ_ONLY'))
    expect(lines.map(({ code }) => code)).toEqual(['STORE_FULL', 'STORE_READ_ONLY'])
  })
})
