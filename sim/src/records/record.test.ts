import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { publishedRecord } from '../published/thesis.ts'
import { reportRecords } from '../report/records-report.ts'
import { parseRecord, readRecord } from './record.ts'
import { makeRecord, writeRecord } from './write-record.ts'

const head = { experiment: 'propagation', parameters: { seed: '1', nodes: 64, repeats: null } }
const row = { nodes: 64, overlay: 'random', latency: 'aws', meanMs: 160.5, rdp: 2.3, connected: true }

const code = (wanted: string): unknown => expect.objectContaining({ code: wanted })

describe('a record', () => {
  it('is read as it was written', () => {
    const folder = mkdtempSync(join(tmpdir(), 'records-'))
    try {
      const path = writeRecord(join(folder, 'new'), { rows: [row, { nodes: 128, list: [1, 2] }] }, head)
      expect(path).toBe(join(folder, 'new', 'propagation.json'))
      const record = readRecord(path)
      expect(record).toMatchObject({ ...head, source: 'sim', rows: [row, { nodes: 128, list: [1, 2] }] })
      expect(record.environment['cpus']).toBeGreaterThan(0)
      expect(() => readRecord(join(folder, 'other.json'))).toThrow(code('UNREADABLE_RECORD'))
      writeFileSync(path, '{"format": "runnel-record"')
      expect(() => readRecord(path)).toThrow(code('INVALID_RECORD'))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('has a report without rows as its row, and null for what is no number', () => {
    expect(makeRecord({ ...row, p99Ms: NaN }, head).rows).toEqual([{ ...row, p99Ms: null }])
  })

  it('leaves out what it does not know', () => {
    const record = makeRecord(row, head)
    expect(parseRecord(JSON.stringify({ ...record, comment: 'new' }))).toEqual(record)
  })

  it.each([
    ['null', null],
    ['a list', []],
    ['another format', { format: 'other' }],
    ['a later version', { version: 2 }],
    ['no experiment', { experiment: '' }],
    ['a strange source', { source: 'dream' }],
    ['nested parameters', { parameters: { seed: { a: 1 } } }],
    ['no environment', { environment: undefined }],
    ['no rows', { rows: [] }],
    ['rows that are no objects', { rows: [1] }],
    ['too many rows', { rows: Array.from({ length: 10_001 }, () => ({})) }],
  ])('is refused with %s', (_, wrong) => {
    const whole = wrong === null || Array.isArray(wrong) ? wrong : { ...makeRecord(row, head), ...wrong }
    expect(() => parseRecord(JSON.stringify(whole))).toThrow(code('INVALID_RECORD'))
  })
})

describe('reportRecords', () => {
  it('draws the mean of repeats, and a band around it', () => {
    const lost = { links: 'webrtc', lossPercent: 1, p99Ms: 9 }
    const rows = [
      { ...lost, meanMs: 10 },
      { ...lost, meanMs: 30 },
      { ...lost, lossPercent: 2, meanMs: 40 },
    ]
    const record = makeRecord({ rows }, { ...head, experiment: 'loss' })
    const { figures } = reportRecords([{ name: 'mine', record }])
    const figure = JSON.stringify(figures.find(({ name }) => name === 'report-loss-meanMs')?.spec)
    expect(figure).toContain('{"x":1,"y":20,"series":"mine, webrtc","low":10,"high":30}')
    expect(figure).toContain('{"x":2,"y":40,"series":"mine, webrtc"}')
  })

  it('puts records and the thesis side by side, and draws a line for each kind of overlay', () => {
    const aware = { ...row, overlay: 'topology-aware', meanMs: 80.25 }
    const thesis = publishedRecord('propagation')
    if (thesis === undefined) throw new Error('the thesis has propagation')
    const { text, figures, undrawn } = reportRecords([
      { name: 'mine', record: makeRecord({ rows: [row, aware] }, head) },
      { name: 'thesis', record: thesis },
    ])
    expect(text).toMatch(/mine +64 +random +aws +160.5/)
    expect(text).toMatch(/mine +64 +topology-aware +aws +80.25/)
    expect(text).toMatch(/thesis +2048 +random +AWS +288 +287/)
    expect(figures.map(({ name }) => name)).toContain('report-propagation-meanMs')
    expect(undrawn).toEqual([])
    const drawn = JSON.stringify(figures[0]?.spec)
    for (const series of ['mine, random, aws', 'mine, topology-aware, aws', 'thesis, random, AWS'])
      expect(drawn).toContain(`"${series}"`)
  })

  it('tabulates what it has no view of, and says that nothing is drawn of it', () => {
    const record = makeRecord({ rows: [{ size: 3, fine: true, list: [1] }] }, { ...head, experiment: 'new' })
    const { text, figures, undrawn } = reportRecords([{ name: 'mine', record }])
    expect(undrawn).toEqual(['new'])
    expect(text).toMatch(/^new\nrecord {2}size {2}fine\n {2}mine {5}3 {2}true$/)
    expect(figures).toEqual([])
  })

  it('draws media by arm, and by record where two have the same run', () => {
    const rows = [{ arm: 'overlay', watching: 2, lossPercent: 0, freezesPerMinute: 1 }]
    const media = makeRecord({ rows }, { ...head, experiment: 'media-glass' })
    const drawn = (names: readonly string[]) =>
      JSON.stringify(reportRecords(names.map((name) => ({ name, record: media }))).figures)
    expect(drawn(['mine'])).toContain('"name":"report-media-glass-freezes"')
    expect(drawn(['mine'])).toContain('"series":"overlay"')
    expect(drawn(['mine', 'yours'])).toContain('"series":"yours, overlay"')
    const lossy = makeRecord(
      { rows: [{ ...rows[0], lossPercent: 3 }] },
      { ...head, experiment: 'media-glass' },
    )
    const both = reportRecords([
      { name: 'mine', record: media },
      { name: 'yours', record: lossy },
    ])
    expect(JSON.stringify(both.figures)).not.toContain('yours')
  })
})
