import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf, isIn } from '../pages/page.ts'
import { readDockerfile } from './dockerfile.ts'
import { buildImage } from './image.ts'
import { root, runOnMachine } from './machine.ts'

const file = 'deploy/compose.network.yaml'
const folder = mkdtempSync(join(tmpdir(), 'runnel-compose-'))
const image = join(folder, 'image')
afterAll(() => rmSync(folder, { recursive: true }))

// Of the last block there is no network here: its tracker and node are for a machine with a name.
const blocks = blocksOf(join(root, 'docs/operating.md')).filter(
  ({ section, text }) => section === '7. Docker instead' && !text.includes('deploy/compose.yaml'),
)

/** What the page and the files promise besides. */
const checks = `
refused() { if "$@"; then exit 1; fi; }
query() { curl -sf -G http://127.0.0.1:9090/api/v1/query --data-urlencode "query=$1"; }

: live messages go from node to node
export RUNNEL_NETWORK=lobby.json RUNNEL_KEY=guest.key
runnel subscribe $LOBBY --last 1 --count 2 > received.ndjson &
until [ -s received.ndjson ]; do sleep 0.2; done
runnel publish $LOBBY '{"hello":"again"}'
wait
grep -F '{"hello":"again"}' received.ndjson
unset RUNNEL_NETWORK RUNNEL_KEY

: nodes join streams that are made later
until curl -sf http://127.0.0.1:7181/metrics | grep -F 'runnel_streams{state="joined"} 2'; do sleep 0.2; done

: Prometheus has all that the dashboard shows
until query 'count(up == 1)' | grep -F '"5"]'; do sleep 0.2; done
until query 'runnel_links_open > 0' | grep -F node-1; do sleep 0.2; done
curl -sf http://127.0.0.1:9090/api/v1/rules | grep -F RunnelStorageUnhealthy > /dev/null
promtool check config deploy/prometheus/network.yaml

: keys belong to their user only, and processes may little
cd /var/lib/docker/volumes/network/network
[ "$(stat -c '%a %u' *.key | sort -u)" = '600 10001' ]
[ "$(stat -c %u *.key | wc -l)" = 6 ]
cd -
[ "$(ps -eo uid=,args= | grep -cE '^ *10001 .*/bin/runnel (tracker|node) ')" = 5 ]
refused docker compose -f ${file} run --rm --entrypoint touch node-3 /opt/runnel/file
refused docker compose -f ${file} run --rm --entrypoint touch node-1 network/file

: once made, the network stays as it is
docker compose -f ${file} run --rm --entrypoint sha256sum init network/owner.key > before
docker compose -f ${file} run --rm init
docker compose -f ${file} run --rm --entrypoint sha256sum init network/owner.key | cmp before
`

describe(file, () => {
  beforeAll(() => {
    mkdirSync(image)
    buildImage(readDockerfile(join(root, 'deploy/Dockerfile')), root, image)
  }, 600_000)

  it('is a network that this machine can use, as docs/operating.md says', { timeout: 600_000 }, async () => {
    const script = [
      'set -exo pipefail',
      `ln -s ${root}/packages/node/bin/runnel.js /usr/local/sbin/runnel`,
      `printf '#!/bin/sh\\nexec ${process.execPath} ${root}/scripts/operating/docker.ts ${root} "$@"\\n' > /usr/local/sbin/docker`,
      'chmod 755 /usr/local/sbin/docker',
      `cd ${root}`,
      ...blocks.filter(({ language }) => language === 'sh').map(({ text }) => text),
      checks,
      'echo; echo the page is done',
    ].join('\n')
    const output = await runOnMachine(script, folder, image)
    for (const { text } of blocks.filter(({ language }) => language === 'text'))
      expect(output).toSatisfy((all: string) => isIn(text.trimEnd().split('\n'), all))
    expect(output).toContain('\nthe page is done\n')
  })
})
