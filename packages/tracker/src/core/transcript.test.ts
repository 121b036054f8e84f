import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { playTranscript } from './transcript.testkit.ts'

const folder = new URL('./transcripts/', import.meta.url)

describe('the transcripts', () => {
  for (const name of readdirSync(folder)) {
    it(name, () => {
      const text = readFileSync(new URL(name, folder), 'utf8')
      expect(text).toContain('\n< ')
      expect(playTranscript(text)).toBe(text)
    })
  }
})
