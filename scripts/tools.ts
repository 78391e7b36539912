import { spawnSync } from 'node:child_process';

/** A program that tests drive, and where it comes from. */
type Tool = { readonly command: string; readonly why: string; readonly debianPackage?: string };

const tools: readonly Tool[] = [
  { command: 'etcd', why: 'the etcd store driver', debianPackage: 'etcd-server' },
  { command: 'kubectl', why: 'everything a user types' },
];

function isThere(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
}

/**
 * Installs the programs the tests drive, where that is possible. Where it is not, tests that need one leave themselves
 * out and say so; in CI that is a failure.
 */
export async function prepareTools(_root: string): Promise<void> {
  const missing = tools.filter(({ command }) => !isThere(command));
  const installable = missing.flatMap(({ debianPackage }) => debianPackage ?? []);
  if (installable.length > 0 && isThere('apt-get') && process.getuid?.() === 0) {
    console.log(`\n── Installing ${installable.join(', ')}`);
    const quiet = {
      stdio: ['ignore', 'ignore', 'inherit'] as const,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    };
    spawnSync('apt-get', ['update', '-qq'], { ...quiet, stdio: ['ignore', 'ignore', 'inherit'] });
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...installable], {
      ...quiet,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  for (const { command, why } of tools) {
    if (isThere(command)) continue;
    console.error(`${command} is missing: tests of ${why} cannot run.`);
    if (process.env.CI) process.exit(1);
  }
}
