import { describe, expect, it } from 'vitest'
import { whyNoPrediction } from './why-no-prediction.ts'

const failure = new Error('busy')

describe('a prediction that is not there', () => {
  it('is being asked for only until there is an answer or a failure', () => {
    expect(whyNoPrediction({ value: undefined, failure: undefined })).toMatch(/^Asking/)
    expect(whyNoPrediction({ value: undefined, failure })).toBeUndefined()
    expect(whyNoPrediction({ value: { processingMs: 1, delays: null }, failure })).toMatch(/round-trip/)
  })

  it('is there where delays are', () => {
    const delays = { meanMs: 1, p99Ms: 2, edges: 1, measuredEdges: 1 }
    expect(whyNoPrediction({ value: { processingMs: 1, delays }, failure: undefined })).toBeUndefined()
  })
})
