import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { storageError } from './errors.ts'
import { StorageLog } from './storage-log.ts'
import { TestClock } from './storage.testkit.ts'

describe('StorageLog', () => {
  let lines: {
    readonly level: number
    readonly msg: string
    readonly code?: string
    readonly times?: number
  }[]
  let clock: TestClock
  let log: StorageLog

  beforeEach(() => {
    lines = []
    clock = new TestClock()
    const logger = pino(
      { level: 'info' },
      { write: (line: string) => void lines.push(JSON.parse(line) as never) },
    )
    log = new StorageLog({ location: 'messages.sqlite' }, { logger, clock })
  })

  it('says that the store works again only when all it is used for works', () => {
    log.storeFailed('appending', storageError('STORE_FULL'))
    // A small mark still fits on a full disk.
    for (let times = 0; times < 5; times++) log.storeWorked('marking')
    log.storeFailed('pruning', storageError('STORE_FULL'))
    log.storeFailed('appending', storageError('STORE_FULL'))
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
    log.storeFailed('appending', storageError('STORE_FULL'))
    log.storeFailed('appending', storageError('STORE_READ_ONLY'))
    expect(lines.map(({ code }) => code)).toEqual(['STORE_FULL', 'STORE_READ_ONLY'])
  })

  it('says once a minute why requests fail, and how often they did', () => {
    const fail = (times: number) => {
      for (let time = 0; time < times; time++) log.requestFailed(storageError('STORE_FAILED'))
    }
    fail(1000)
    clock.pass(59_999)
    fail(10)
    log.requestFailed(storageError('STORE_OVERLOADED'))
    clock.pass(1)
    fail(5)
    expect(lines.map(({ code, times }) => [code, times])).toEqual([
      ['STORE_FAILED', 1],
      ['STORE_OVERLOADED', 1],
      ['STORE_FAILED', 1010],
    ])
  })
})
