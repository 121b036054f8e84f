import type { CityPositions } from './derive-cities.ts'

/** Of the regions' data centres, the city or the nearest that is known. The tracker of the thesis was in Helsinki. */
export const cityPositions: CityPositions = {
  Frankfurt: { region: 'eu-central-1', latitude: 50.11, longitude: 8.68 },
  Dublin: { region: 'eu-west-1', latitude: 53.35, longitude: -6.26 },
  London: { region: 'eu-west-2', latitude: 51.51, longitude: -0.13 },
  Paris: { region: 'eu-west-3', latitude: 48.86, longitude: 2.35 },
  Stockholm: { region: 'eu-north-1', latitude: 59.33, longitude: 18.07 },
  Ashburn: { region: 'us-east-1', latitude: 39.04, longitude: -77.49 },
  Columbus: { region: 'us-east-2', latitude: 39.96, longitude: -83.0 },
  'San Francisco': { region: 'us-west-1', latitude: 37.77, longitude: -122.42 },
  Portland: { region: 'us-west-2', latitude: 45.52, longitude: -122.68 },
  Montréal: { region: 'ca-central-1', latitude: 45.5, longitude: -73.57 },
  Mumbai: { region: 'ap-south-1', latitude: 19.08, longitude: 72.88 },
  Seoul: { region: 'ap-northeast-2', latitude: 37.57, longitude: 126.98 },
  Singapore: { region: 'ap-southeast-1', latitude: 1.35, longitude: 103.82 },
  Sydney: { region: 'ap-southeast-2', latitude: -33.87, longitude: 151.21 },
  Tokyo: { region: 'ap-northeast-1', latitude: 35.68, longitude: 139.69 },
  'São Paulo': { region: 'sa-east-1', latitude: -23.55, longitude: -46.63 },
  Helsinki: { region: null, latitude: 60.17, longitude: 24.94 },
}
