import { expect, it } from 'vitest'
import { sessionsCsv, sessionsFigure, type ArmPoint } from './sessions-figure.ts'
import { sourceFinalTable, sourceHeldTable } from './source-003.ts'

const point: ArmPoint = {
  ...{ arm: 'headless', members: 5, sessions: 1, users: 5, joinMs: 900, completenessPercent: 99.5 },
  ...{ sentPercent: 98, kbitPerSOfUser: 400, cpuPercent: 70, memoryMiB: 2_000, busyPercent: 80 },
}

it('writes each point on a line, and draws a column for each size', () => {
  expect(sessionsCsv([point, { ...point, members: 2 }]).split('\n')).toEqual([
    'arm,members,sessions,users,joinMs,completenessPercent,sentPercent,kbitPerSOfUser,cpuPercent,memoryMiB,busyPercent',
    'headless,5,1,5,900,99.5,98,400,70,2000,80',
    'headless,2,1,5,900,99.5,98,400,70,2000,80',
    '',
  ])
  const drawn = JSON.stringify(sessionsFigure('sessions', [point, { ...point, members: 2 }]))
  expect(drawn).toContain('2 a session')
  expect(drawn.indexOf('2 a session')).toBeLessThan(drawn.indexOf('5 a session'))
})

it('has the tables of the source beside', () => {
  expect(sourceHeldTable([5])).toContain('12 (62)')
  expect(sourceFinalTable()).toMatch(/kms-webrtc +8 +3 +24 +122 +7 +0.06384/)
})
