import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { pluginPath } from './invoke-plugins.ts';

/** Defines a test that needs root, nftables, iproute2 and the CNI plugins. It is skipped elsewhere, and fails in CI. */
export function withPlugins(title: string, run: () => Promise<void>): void {
  const missing = missingPrerequisite();
  test(title, async (context) => {
    if (missing === undefined) {
      await run();
      return;
    }
    assert(!process.env['CI'], `this test needs ${missing}`);
    context.diagnostic(`SKIPPED: needs ${missing}`);
  });
}

function missingPrerequisite(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux';
  for (const plugin of ['ptp', 'host-local']) if (!pluginPath(plugin)) return `the CNI plugin ${plugin}`;
  for (const [program = '', ...args] of [
    ['nft', '--version'],
    ['ip', '-V'],
    ['bridge', '-V'],
  ]) {
    try {
      execFileSync(program, args, { stdio: 'ignore' });
    } catch {
      return program;
    }
  }
  return undefined;
}
