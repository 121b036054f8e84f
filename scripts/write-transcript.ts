/**
 * Writes `packages/protocol/vectors/transcripts/1.0.json`, what a node of wire 1.0 sends in a small network: run
 * `node --conditions=runnel-src scripts/write-transcript.ts` only while that version is not released. The tests play it to this version's nodes.
 */
import { writeFileSync } from 'node:fs'
import { recordTranscript } from '../sim/src/transcripts/transcript.ts'

const file = new URL('../packages/protocol/vectors/transcripts/1.0.json', import.meta.url)
writeFileSync(file, `${JSON.stringify(await recordTranscript(), null, 2)}\n`)
