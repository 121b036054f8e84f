import { execFileSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { shellWord } from '../../packages/node/src/cli/shell-word.ts'
import type { Stage, Step } from './dockerfile.ts'

/**
 * Makes the files of an image as its Dockerfile says, each stage in a copy of this machine that stands in for the base image, and
 * leaves those of the last stage in a folder. The context is the repository with what is installed and built in it: that part takes
 * minutes, and is tested by all else.
 */
export function buildImage(stages: readonly Stage[], repository: string, folder: string): void {
  const last = stages.at(-1)?.name ?? ''
  const script = [
    'set -euo pipefail',
    'all=$1.parts; mkdir "$all"; mount -t tmpfs tmpfs "$all"',
    ...stages.flatMap((stage) => scriptOf(stage, repository)),
    `rm -rf "$all/stage-${last}/written/tmp"; cp -a "$all/stage-${last}/written/." "$1"`,
  ].join('\n')
  // Those of this machine for npm; the newer Node comes first, as it does in the base image.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }
  const own = ['--mount', '--pid', '--fork', '--kill-child']
  execFileSync('unshare', [...own, 'bash', '-c', script, 'bash', folder], { env, stdio: 'pipe' })
}

function scriptOf({ name, steps }: Stage, repository: string): string[] {
  return [
    `stage="$all/stage-${name}"; root="$stage/root"; mkdir -p "$stage"/{written,work,root,context/written,context/work}`,
    'mount -t overlay overlay -o "lowerdir=/,upperdir=$stage/written,workdir=$stage/work" "$root"',
    'mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"',
    ...steps.flatMap((step) => scriptOfStep(step, repository)),
    'umount -R "$root/dev" "$root/proc"',
  ]
}

function scriptOfStep(step: Step, repository: string): string[] {
  switch (step.kind) {
    case 'context':
      return [
        `mkdir -p "$root${step.to}" "$stage/context/written/node_modules"`,
        // Other tests write these meanwhile; so overlayfs takes them for deleted.
        'for name in .cache .vitest-cache; do mknod "$stage/context/written/node_modules/$name" c 0 0; done',
        `mount -t overlay overlay -o "lowerdir=${repository},upperdir=$stage/context/written,workdir=$stage/context/work" "$root${step.to}"`,
      ]
    case 'copy':
      return [
        `mkdir -p "$root${step.to}"; cp -a "$all/stage-${step.stage}/root${step.from}/." "$root${step.to}"`,
      ]
    case 'run':
      return [`chroot "$root" env -C '${step.directory}' sh -ec ${shellWord(step.command)}`]
  }
}
