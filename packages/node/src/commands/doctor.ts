import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { configOfFlags, settingOptions } from '../cli/setting-options.ts'
import { examine } from '../doctor/examine.ts'
import { failureOf, findingLine, type Finding } from '../doctor/finding.ts'

export const doctor = defineCommand({
  name: 'doctor',
  describe: 'Check what a node needs: clock, ports, NAT, disk, key, network, chain, trackers, storage',
  options: settingOptions,
  examples: [
    ['doctor', 'Uses runnel.json; prints a line for each check, with what to do'],
    ['doctor --config node.json --json', 'For programs'],
  ],
  epilogue: 'Takes the same flags as runnel node. Changes nothing. Exits with 1 if a check found an error.',
  run: async (args) => {
    const findings = await findingsOf(args)
    printResult(findings, args.json, findings.map(findingLine))
    if (findings.some(({ state }) => state === 'error')) process.exitCode = 1
  },
})

async function findingsOf(args: Readonly<Record<string, unknown>>): Promise<Finding[]> {
  try {
    return await examine(configOfFlags(args), process.env)
  } catch (error) {
    return [failureOf('configuration', error)]
  }
}
