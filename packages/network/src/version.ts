/** The version of the packages, as in package.json: a page cannot read that. `scripts/release.mjs` raises both. */
export const softwareVersion = '0.1.0'
