// Writes emulation/data/cities.json from table 5.1 of the thesis:
//   node --conditions=runnel-src emulation/src/underlay/write-cities.ts && npx prettier --write emulation/data/cities.json
import { writeFileSync } from 'node:fs'
import { awsTable } from './aws-table.ts'
import { citiesFile } from './cities.ts'
import { cityPositions } from './city-positions.ts'
import { deriveCities } from './derive-cities.ts'

const { table, source } = awsTable()
writeFileSync(citiesFile, JSON.stringify(deriveCities(table, cityPositions, source)))
