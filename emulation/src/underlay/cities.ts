import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { underlayError } from './errors.ts'

const positive = z.number().positive()

const citySchema = z.object({
  name: z.string().min(1),
  /** Of the table of latencies; null for the tracker's city, which is not in it. */
  region: z.string().nullable(),
  /** In degrees, north and east. */
  latitude: z.number(),
  longitude: z.number(),
  /** One way, between a host and its city's router. */
  hostLinkMs: positive,
})

const citiesSchema = z.object({
  source: z.string(),
  method: z.array(z.string()),
  /** Mean over all pairs of delay along the links by delay in the table; and the largest. */
  stretch: z.object({ mean: positive, max: positive }),
  /** Hosts are spread over them in turn; the last is the tracker's. */
  cities: z.array(citySchema),
  /** Between routers, by names of cities; one way, the same both ways. */
  links: z.array(z.object({ between: z.tuple([z.string(), z.string()]), oneWayMs: positive })),
})

export type City = z.output<typeof citySchema>
/** Routers in cities, and the links between them. */
export type Cities = z.output<typeof citiesSchema>

export const citiesFile = new URL('../../data/cities.json', import.meta.url)

/** Throws INVALID_CITIES. */
export function readCities(file: URL = citiesFile): Cities {
  try {
    return citiesSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    throw underlayError('INVALID_CITIES', cause instanceof Error ? cause.message : undefined, { cause })
  }
}
