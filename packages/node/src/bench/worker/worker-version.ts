import { ownVersion } from '../../cli/own-version.ts'

/** Raised with each change of what a driver and its workers tell each other. */
const callsVersion = 2

/** What a driver and its workers have to have in common. */
export const workerVersion = (): string => `${ownVersion()} (calls ${callsVersion})`
