import { readFileSync } from 'node:fs'
import { mean, percentile, round } from '@runnel/sim/statistics'
import { clipFrames } from '../clip/ivf-file.ts'
import { playoutMs, type LinkOptions } from './link-plan.ts'
import type { LinkPicture, PeerRecord } from './peer-record.ts'
import { picturesOfGroup, picturesPerS, type Renditions } from './renditions.ts'
import { damagedPictures, shownPictures } from './shown-pictures.ts'

export interface LinkMeasurements extends LinkOptions {
  readonly sender: PeerRecord
  readonly receiver: PeerRecord
  /** Of the receiver of the other media flow. */
  readonly other: PeerRecord | undefined
}

/** The rate is back when a second has so much of what came before the line fell. */
const backShare = 0.9
const freezeMs = 1_000 / picturesPerS + 150

/** What came of a run. */
export async function linkFigures(run: LinkMeasurements, renditions: Renditions) {
  const { arm, beside, oneWayMs, line, seconds, sender, receiver, other } = run
  const { startUs } = sender
  const bytesOf = pictureBytes(renditions)
  const rates = (pictures: readonly LinkPicture[]): number[] =>
    bySecond(
      pictures.map((picture) => ({ atUs: picture.atUs, bytes: bytesOf(picture) })),
      startUs,
      seconds,
    )
  const came = rates(receiver.pictures)
  const sentUs = new Map(sender.pictures.map(({ number, atUs }) => [number, atUs]))
  const waitedMs = receiver.pictures.map(
    ({ number, atUs }) => (atUs - (sentUs.get(number) ?? NaN)) / 1_000 - oneWayMs,
  )
  const count = seconds * picturesPerS
  const withinMs = oneWayMs + playoutMs
  const showing = { startUs, count, picturesPerS, picturesOfGroup, withinMs }
  const shown = shownPictures(receiver.pictures, showing)
  const damaged = damagedPictures(receiver.pictures, showing)
  const [fallsS = 0, returnsS = 0] = line.slice(1).map(({ fromS }) => fromS)
  // Once the control has had ten seconds to find the lower rate.
  const whileHalf = came.slice(fallsS + 10, returnsS)
  const besideRates = bySecond(receiver.beside, startUs, seconds)
  const otherRates = other === undefined ? undefined : rates(other.pictures)
  const of = (values: readonly number[]): number => round(mean(values) ?? 0)
  return {
    ...{ arm, beside, oneWayMs, returnsS, seconds },
    ssim: round3(await renditions.ssimOf(shown, 0, count)),
    ssimDamaged: round3(await renditions.ssimOf(damaged, 0, count)),
    ssimWhileHalf: round3(await renditions.ssimOf(shown, fallsS * picturesPerS, returnsS * picturesPerS)),
    ...{ kbitPerS: of(came), kbitPerSWhileHalf: whileHalf.length === 0 ? null : of(whileHalf) },
    backAfterS: backAfter(came, fallsS, returnsS),
    waitedP50Ms: round(percentile(waitedMs, 0.5) ?? NaN),
    waitedP95Ms: round(percentile(waitedMs, 0.95) ?? NaN),
    sent: sender.pictures.filter(({ number }) => number < count).length,
    ...{ shown: shown.length, of: count },
    freezesPerMinute: round(
      (freezes(
        shown.map(({ number }) => number),
        count,
      ) *
        60) /
        seconds,
    ),
    besideKbitPerS: of(otherRates ?? besideRates),
    cameKbitPerS: came.map(Math.round),
    lineKbitPerS: came.map((_, second) => line.findLast(({ fromS }) => fromS <= second)?.kbitPerS ?? null),
  }
}

function pictureBytes({ clips, pictures }: Renditions): (picture: LinkPicture) => number {
  const sizes = clips.map(({ file }) => clipFrames(readFileSync(file)).map(({ data }) => data.length))
  return ({ number, rendition }) => sizes[rendition]?.[number % pictures] ?? 0
}

/** In kbit/s. */
function bySecond(
  came: readonly { readonly atUs: number; readonly bytes: number }[],
  startUs: number,
  seconds: number,
): number[] {
  const rates = Array.from({ length: seconds }, () => 0)
  for (const { atUs, bytes } of came) {
    const second = Math.floor((atUs - startUs) / 1_000_000)
    if (second >= 0 && second < seconds) rates[second] = (rates[second] ?? 0) + (bytes * 8) / 1_000
  }
  return rates
}

/** Seconds after the line returned; null when it is not back at the end, or there was none before. */
function backAfter(came: readonly number[], fallsS: number, returnsS: number): number | null {
  const before = mean(came.slice(Math.floor(fallsS / 3), fallsS)) ?? 0
  const back = came.slice(returnsS).findIndex((rate) => rate >= backShare * before)
  return back < 0 || before === 0 ? null : back + 1
}

/** Of what is shown at its time. */
function freezes(shown: readonly number[], count: number): number {
  const numbers = [...shown, count]
  return numbers.filter((number, i) => ((number - (numbers[i - 1] ?? 0)) * 1_000) / picturesPerS >= freezeMs)
    .length
}

const round3 = (value: number): number => Math.round(value * 1_000) / 1_000
