import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { anvilCommand } from '../../contracts/src/anvil-binary.ts'
import { blocksOf, isIn } from '../pages/page.ts'
import { root, runOnMachine } from './machine.ts'

const folder = mkdtempSync(join(tmpdir(), 'runnel-operating-'))
afterAll(() => rmSync(folder, { recursive: true }))

const names = ['tracker.example', 'node.example']

/** Certificates of a CA made for this test, where the page has them. */
function certificates(): string {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test CA', '-days', '2')
  for (const name of names) {
    mkdirSync(join(folder, name))
    const [keyFile, certificate] = [join(name, 'privkey.pem'), join(name, 'fullchain.pem')]
    openssl(
      ...[
        'req',
        '-x509',
        ...key,
        '-keyout',
        keyFile,
        '-out',
        certificate,
        '-subj',
        `/CN=${name}`,
        '-days',
        '2',
      ],
      ...['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', `subjectAltName=DNS:${name}`],
    )
  }
  return ['mkdir -p /etc/letsencrypt', `cp -r ${folder} /etc/letsencrypt/live`].join('\n')
}

/** What needs Docker is in compose.test.ts. */
const blocks = blocksOf(join(root, 'docs/operating.md')).filter(
  ({ section }) => section !== '7. Docker instead',
)

/** The page as one script: what it puts into files is put there, its commands are run as they stand. */
function script(): string {
  const steps = blocks.map(({ language, text }) => {
    if (language === 'nginx') return `cat > /etc/nginx/conf.d/runnel.conf <<'EOF'\n${text}EOF\n`
    return language === 'sh' ? text : ''
  })
  return [
    'set -exo pipefail',
    'chmod 755 /etc/letsencrypt /etc/letsencrypt/live 2>/dev/null || true',
    certificates(),
    'chmod 755 /etc/letsencrypt/live; export NODE_EXTRA_CA_CERTS=/etc/letsencrypt/live/ca.pem',
    `${anvilCommand().join(' ')} --host 127.0.0.1 --port 8545 --silent &`,
    ...steps,
    'curl -sf --retry 30 --retry-all-errors --retry-delay 1 http://127.0.0.1:7171/ready',
    'curl -sf https://tracker.example/ready --cacert $NODE_EXTRA_CA_CERTS',
    'echo; echo the page is done',
  ]
    .join('\n')
    .replaceAll('https://rpc.example', 'http://127.0.0.1:8545')
}

describe('docs/operating.md', () => {
  it('leads from an empty machine to a network behind TLS', { timeout: 600_000 }, async () => {
    const output = await runOnMachine(script(), folder)
    const said = blocks.filter(({ language }) => language === 'text')
    for (const { text } of said)
      expect(output).toSatisfy((all: string) => isIn(text.trimEnd().split('\n'), all))
    expect(output).toContain('\nthe page is done\n')
  })
})
